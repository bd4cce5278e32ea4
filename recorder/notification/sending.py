"""Sending: post messages from the outbox to their receivers, with retries.

Each rule has its own sender, so that a receiver that hangs delays no other.
A message is claimed, posted, and then marked as posted: after a crash in
between it is posted once more, with the same key. A test of a rule posts one
message that says so, and stores nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, NamedTuple

from recorder.model.errors import RecorderError, Transient
from recorder.notification.loading import NotifyError
from recorder.notification.message import Kind, Message, Subject
from recorder.notification.ports import (
    Answer,
    Claimed,
    Outbox,
    Poster,
    PostError,
    Tally,
)
from recorder.notification.rules import Rule
from recorder.notification.shapes import CONTENT_TYPES, body_of

log = logging.getLogger("recorder.notify")

LEASE: Final = timedelta(seconds=60)
"""Twice the longest timeout of a post."""

POLL_INTERVAL: Final = timedelta(seconds=1)
FIRST_PAUSE: Final = timedelta(seconds=1)
PAUSE_MAX: Final = timedelta(minutes=5)
RETRY_AFTER_MAX: Final = timedelta(hours=1)
ATTEMPTS_MAX: Final = 1000
REMEMBER_TRIES: Final = 10

AGAIN: Final = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""Statuses of rejections that are retried."""


class Outcome(NamedTuple):
    """The result of an attempt."""

    posted: bool
    after: timedelta | None
    """How long to wait before the next attempt; None if there is none."""

    why: str


class Counters(NamedTuple):
    """Messages posted and failed, and retries, by rule."""

    posted: dict[str, int]
    failed: dict[str, int]
    retried: dict[str, int]

    @classmethod
    def of(cls, rules: Mapping[str, Rule]) -> "Counters":
        """Return zero for each rule, so that metrics show all of them."""
        return cls(*(dict.fromkeys(rules, 0) for _ in cls._fields))


@dataclass(slots=True)
class NotifyProgress:
    """State that a process of `recorder notify` shares with its probes."""

    counters: Counters
    rules: Sequence[str] = ()
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """Counts of the outbox, by rule."""

    judged_at: dict[int, datetime] = field(default_factory=dict)
    """When each log was judged last."""

    waiting_for: str = ""
    """What it waits for before it can start; empty once it has."""

    def judged(self, log: int, at: datetime) -> None:
        """Note that a log was judged."""
        self.judged_at[log] = at

    def ready(self) -> tuple[str, bool]:
        """Return the state in words, and whether it is ready."""
        if self.waiting_for:
            return f"waiting: {self.waiting_for}", False
        return "notifying", True


def outcome_of(answer: Answer, attempt: int, luck: float) -> Outcome:
    """Return the outcome of an attempt with this response.

    Args:
        answer: the response of the receiver.
        attempt: its number, from 1.
        luck: random, from 0 to 1: jitter of the pause.
    """
    status = answer.status
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Outcome(posted=True, after=None, why="")
    why = f"the receiver answered {status}"
    if answer.says:
        why += f": {answer.says}"
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        why = (
            f"the receiver answered {status}, which leads elsewhere:"
            " give the address that it leads to"
        )
        return Outcome(posted=False, after=None, why=why)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in AGAIN:
        return Outcome(posted=False, after=None, why=why)
    return _later(why, attempt, luck, answer.retry_after)


def _later(
    why: str, attempt: int, luck: float, asked: timedelta | None = None
) -> Outcome:
    if attempt >= ATTEMPTS_MAX:
        why = f"given up after {attempt} attempts: {why}"
        return Outcome(posted=False, after=None, why=why)
    pause = min(FIRST_PAUSE * 2 ** min(attempt - 1, 20), PAUSE_MAX)
    after = pause * (0.5 + luck / 2)
    if asked is not None:
        after = max(after, min(asked, RETRY_AFTER_MAX))
    return Outcome(posted=False, after=after, why=why)


class Sending:
    """The senders of all rules."""

    def __init__(
        self,
        rules: Mapping[str, Rule],
        outbox: Outbox,
        poster: Poster,
        *,
        luck: Callable[[], float],
    ) -> None:
        """Take the rules, the outbox and a source of jitter, 0 to 1."""
        self._rules = rules
        self._outbox = outbox
        self._poster = poster
        self._luck = luck
        self._kicked = asyncio.Event()
        self._busy: set[str] = set()
        self.counters = Counters.of(rules)

    def kick(self) -> None:
        """Check the outbox now: it has new messages."""
        self._kicked.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Post due messages until ``stop`` is set; finish those in flight."""
        async with asyncio.TaskGroup() as group:
            while not stop.is_set():
                try:
                    due = await self._outbox.due(self._rules.keys())
                    for name in sorted({*due} - self._busy):
                        self._busy.add(name)
                        rule = self._rules[name]
                        group.create_task(self._attend(rule, stop))
                except RecorderError as exc:
                    log.warning("cannot read which messages are due: %s", exc)
                await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(POLL_INTERVAL.total_seconds()):
                await self._kicked.wait()
        except TimeoutError:
            pass
        self._kicked.clear()

    async def _attend(self, rule: Rule, stop: asyncio.Event) -> None:
        """Post the due messages of one rule."""
        try:
            while not stop.is_set() and await self.send_next(rule):
                pass
        except RecorderError as exc:
            log.warning("cannot post for rule %s: %s", rule.name, exc)
        finally:
            self._busy.discard(rule.name)

    async def send_next(self, rule: Rule) -> bool:
        """Post one due message; return whether there was one.

        Raises:
            LogError: the database does not answer.
        """
        claimed = await self._outbox.claim(rule.name, LEASE)
        if claimed is None:
            return False
        outcome = await self._attempt(rule, claimed)
        await self._remember(rule, claimed, outcome)
        return True

    async def _attempt(self, rule: Rule, claimed: Claimed) -> Outcome:
        message = claimed.message
        try:
            answer = await self._poster.post(
                rule,
                key=message.key,
                body=body_of(message, rule),
                content_type=CONTENT_TYPES[rule.post.shape],
            )
        except (PostError, NotifyError) as exc:
            return _later(str(exc), claimed.attempt, self._luck())
        except Exception as exc:  # noqa: BLE001 - the other messages are still posted
            why = f"internal error: {type(exc).__name__}"
            return _later(why, claimed.attempt, self._luck())
        return outcome_of(answer, claimed.attempt, self._luck())

    async def _remember(
        self, rule: Rule, claimed: Claimed, outcome: Outcome
    ) -> None:
        """Store the outcome of an attempt, with retries.

        If the database is unavailable and a success is not stored, the
        message is posted twice.
        """
        for left in reversed(range(REMEMBER_TRIES)):
            try:
                await self._write(rule, claimed, outcome)
            except Transient:
                if not left:
                    raise
                await asyncio.sleep(POLL_INTERVAL.total_seconds())
            else:
                return

    async def _write(
        self, rule: Rule, claimed: Claimed, outcome: Outcome
    ) -> None:
        name = claimed.message.name
        if outcome.posted:
            await self._outbox.posted(claimed)
            self.counters.posted[rule.name] += 1
        elif outcome.after is None:
            await self._outbox.failed(claimed, why=outcome.why)
            self.counters.failed[rule.name] += 1
            log.error("not posted: %s by %s: %s", name, rule.name, outcome.why)
        else:
            await self._outbox.again(
                claimed, why=outcome.why, after=outcome.after
            )
            self.counters.retried[rule.name] += 1


class Tried(NamedTuple):
    """The result of a test message."""

    rule: str
    why: str
    """Why it was not accepted; empty if it was."""


async def try_rule(rule: Rule, poster: Poster, now: datetime) -> Tried:
    """Post a test message of a rule once; store nothing."""
    name = f"test-{now:%Y%m%dT%H%M%S%f}"
    subject = Subject(
        kind=Kind.INCIDENT,
        id=name,
        ids=[name],
        cluster="test",
        cluster_uid="test",
        log=0,
        node="test",
        nodes=["test"],
        node_count=1,
        happened="test",
        cause="test",
        confidence="test",
        sentence=f"This is a test of the rule {rule.name}: nothing happened.",
        at=now,
        began_at=now,
        over_at=now,
    )
    message = Message(
        rule=rule.name,
        name=name,
        number=1,
        now=subject,
        was=None,
        first_at=now,
    )
    try:
        answer = await poster.post(
            rule,
            key=message.key,
            body=body_of(message, rule),
            content_type=CONTENT_TYPES[rule.post.shape],
        )
    except (PostError, NotifyError) as exc:
        return Tried(rule.name, str(exc))
    return Tried(rule.name, outcome_of(answer, 1, 0.0).why)
