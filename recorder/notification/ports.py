"""What telling needs: an outbox that is kept, and who posts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from recorder.model.errors import Transient
from recorder.notification.message import Message, Told
from recorder.notification.rules import Rule

__all__ = [
    "Answer",
    "Begun",
    "Claimed",
    "Known",
    "Outbox",
    "PostError",
    "Poster",
    "State",
    "Tally",
]


class State(StrEnum):
    """How far a message is."""

    WAITING = "waiting"
    POSTED = "posted"
    FAILED = "failed"


class Begun(NamedTuple):
    """Since when a rule tells of a log, and up to where it was judged."""

    since: datetime
    judged_until: datetime


class Known(NamedTuple):
    """What was told of a log, when it was asked."""

    newest: int
    """The newest message that there is of it."""

    told: Mapping[str, Sequence[Told]]
    """By rule, the newest message of each subject."""


class Claimed(NamedTuple):
    """A message that one process posts, for as long as its claim lasts."""

    number: int
    attempt: int
    """From 1; it also tells one claim from a later one."""

    message: Message
    give_up_at: datetime


class Tally(NamedTuple):
    """What the outbox holds of one rule."""

    rule: str
    waiting: int
    failed: int
    oldest_waiting: datetime | None
    last_posted: datetime | None


class Answer(NamedTuple):
    """What a receiver answered."""

    status: int
    retry_after: timedelta | None
    says: str
    """The beginning of its body."""


class PostError(Transient):
    """There is no answer; why, without the address."""

    code = "notify.post"


class Outbox(Protocol):
    """Messages on their way, and those that were posted."""

    async def begin(
        self, log: int, rules: Collection[str], since: datetime
    ) -> Mapping[str, Begun]:
        """Return since when rules tell of a log: from now on, if they are new.

        Raises:
            LogError: the database does not answer.
        """

    async def known(self, log: int) -> Known:
        """Return what was told of a log."""

    async def put(
        self,
        log: int,
        messages: Sequence[tuple[Message, timedelta]],
        *,
        known: Known,
        position: int,
    ) -> int | None:
        """Take messages that are new, all or none; return how many are.

        None, and nothing is taken, where somebody told something since it
        was asked what is known.

        Args:
            log: which log.
            messages: each with the time after which it is given up.
            known: what was told before.
            position: up to where the log was judged.
        """

    async def judged(
        self, log: int, rules: Collection[str], until: datetime
    ) -> None:
        """Remember up to where a log was judged for rules."""

    async def due(self, rules: Collection[str]) -> Collection[str]:
        """Return those of some rules of which a message is to be posted.

        Messages that are given up are failed by this.
        """

    async def claim(self, rule: str, lease: timedelta) -> Claimed | None:
        """Claim the next message of a rule; None where none is due.

        Messages of one subject are claimed in their order.
        """

    async def posted(self, claimed: Claimed) -> None:
        """Remember that a message was taken."""

    async def again(
        self, claimed: Claimed, *, why: str, after: timedelta
    ) -> None:
        """Post a message again later."""

    async def failed(self, claimed: Claimed, *, why: str) -> None:
        """Remember that a message was refused, and post it no more."""

    async def tallies(self) -> Sequence[Tally]:
        """Return what is waiting, failed and posted, by rule."""


class Poster(Protocol):
    """Posts over HTTP."""

    async def post(
        self, rule: Rule, *, key: str, body: bytes, content_type: str
    ) -> Answer:
        """Post once.

        Raises:
            PostError: there was no answer in time.
            NotifyError: a file that the rule names cannot be used.
        """
