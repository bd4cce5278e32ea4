"""Ports of notifications: the stored outbox, and the HTTP client."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from recorder.model.errors import Transient
from recorder.notification.message import Message, Reported
from recorder.notification.rules import Rule


class State(StrEnum):
    """The state of a message in the outbox."""

    WAITING = "waiting"
    POSTED = "posted"
    FAILED = "failed"


class Begun(NamedTuple):
    """Since when a rule is applied to a log, and until when it was judged."""

    since: datetime
    judged_until: datetime


class Known(NamedTuple):
    """What was reported about a log, at the time of the query."""

    newest: int
    """The number of the newest message about the log."""

    reported: Mapping[str, Sequence[Reported]]
    """The newest message about each subject, by rule."""


class Claimed(NamedTuple):
    """A message that only one process may post until its claim expires."""

    number: int
    attempt: int
    """Counts the claims of the message, from 1."""

    message: Message
    give_up_at: datetime


class Tally(NamedTuple):
    """Messages of one rule in the outbox, counted."""

    rule: str
    waiting: int
    failed: int
    oldest_waiting: datetime | None
    last_posted: datetime | None


class Answer(NamedTuple):
    """The HTTP response of a receiver."""

    status: int
    retry_after: timedelta | None
    says: str
    """The beginning of its body, without secrets."""


class PostError(Transient):
    """No response; the message has the reason, without the address."""

    code = "notify.post"


class Outbox(Protocol):
    """Messages that are waiting, posted or failed."""

    async def begin(
        self, log: int, rules: Collection[str], since: datetime
    ) -> Mapping[str, Begun]:
        """Return the state of each rule; a new rule starts at ``since``.

        Raises:
            LogError: the database does not answer.
        """

    async def known(self, log: int) -> Known:
        """Return the newest messages about a log."""

    async def put(
        self,
        log: int,
        messages: Sequence[tuple[Message, timedelta]],
        *,
        known: Known,
        position: int,
    ) -> int | None:
        """Store new messages, all or none; return how many.

        None, and nothing is stored, if another process has put messages
        about the log since ``known`` was read.

        Args:
            log: the number of the log.
            messages: each with the duration after which to give up.
            known: what was reported before.
            position: up to where the log was judged.
        """

    async def judged(
        self, log: int, rules: Collection[str], until: datetime
    ) -> None:
        """Store until when a log was judged by rules."""

    async def due(self, rules: Collection[str]) -> Collection[str]:
        """Return the rules that have a message to post now.

        Also marks messages as failed whose time to give up has come.
        """

    async def claim(self, rule: str, lease: timedelta) -> Claimed | None:
        """Claim the next message of a rule; None where none is due.

        Messages about one subject are claimed in order.
        """

    async def posted(self, claimed: Claimed) -> None:
        """Mark a message as accepted by its receiver."""

    async def again(
        self, claimed: Claimed, *, why: str, after: timedelta
    ) -> None:
        """Schedule the next attempt to post a message."""

    async def failed(self, claimed: Claimed, *, why: str) -> None:
        """Mark a message as failed; it is not posted again."""

    async def tallies(self) -> Sequence[Tally]:
        """Return the counts of each rule."""


class Poster(Protocol):
    """Posts messages over HTTP."""

    async def post(
        self, rule: Rule, *, key: str, body: bytes, content_type: str
    ) -> Answer:
        """Post once.

        Raises:
            PostError: there was no response in time.
            NotifyError: a file that the rule names cannot be used.
        """
