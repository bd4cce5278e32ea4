"""The signs nearest to a window in which nothing happened."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Purpose
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared
from recorder.model.window import Window

SPANS = (
    timedelta(hours=1),
    timedelta(days=1),
    timedelta(days=7),
    timedelta(days=30),
)
"""How far to search: each in turn until something is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest signs before and after; None if there is none near."""

    before: StoredFact | None
    after: StoredFact | None


async def ask_nearest(
    reading: Reading, window: Window, *, node: str | None = None
) -> Nearest:
    """Return the nearest signs before and after a window."""
    before = after = None
    if window.since is not None:
        async for found in _before(reading, window.since):
            before = max(_signs(found, node), key=_at, default=None)
            if before is not None:
                break
    if window.until is not None:
        async for found in _after(reading, window.until):
            after = min(_signs(found, node), key=_at, default=None)
            if after is not None:
                break
    return Nearest(before=before, after=after)


async def _before(
    reading: Reading, end: datetime
) -> AsyncIterator[Sequence[StoredFact]]:
    for span in SPANS:
        yield await reading.facts(_signs_of(end - span, end))


async def _after(
    reading: Reading, begin: datetime
) -> AsyncIterator[Sequence[StoredFact]]:
    for span in SPANS:
        yield await reading.facts(_signs_of(begin, begin + span))


def _signs_of(since: datetime, until: datetime) -> FactQuery:
    return FactQuery(purpose=Purpose.SIGNS, since=since, until=until)


def _signs(found: Sequence[StoredFact], node: str | None) -> list[StoredFact]:
    """Return signs about nodes, without those that a node merely exists."""
    return [
        stored
        for stored in found
        if stored.fact.node is not None
        and (node is None or stored.fact.node == node)
        and not (
            isinstance(stored.fact.detail, Appeared)
            and not stored.fact.detail.created
        )
    ]


def _at(stored: StoredFact) -> datetime:
    return stored.at
