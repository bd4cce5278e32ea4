"""Catching up: what a subscriber reads from the log itself, before it listens.

It reads what lies behind its cursor as the log stood at one moment. Where the
batches of that part an entry, their cursors are of the derivation that was
current then.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from api.cursors import Cursor, Order, Spot, check_kept, read_to
from api.errors import CursorError, ExpiredCursorError
from api.types.coverage import Coverage
from api.types.facts import FactBatch
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery
from recorder.coverage.account import Account
from recorder.coverage.coverage import cover
from recorder.model.fact import FactKind, StoredFact
from recorder.model.window import Window

__all__ = ["Wanted", "begun", "caught_up", "coverage_of"]

BATCH_MAX = 500
"""Facts of one event, so that each stays small enough to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The facts of a subscription."""

    node: str | None = None
    kinds: frozenset[FactKind] | None = None

    @classmethod
    def of(
        cls, node: str | None, kinds: Collection[FactKind] | None
    ) -> "Wanted":
        """Take the arguments."""
        return cls(
            node=node, kinds=None if kinds is None else frozenset(kinds)
        )

    def has(self, stored: StoredFact) -> bool:
        """Return whether a fact is wanted."""
        fact = stored.fact
        return (self.node is None or fact.node == self.node) and (
            self.kinds is None or fact.kind in self.kinds
        )


async def coverage_of(reading: Reading) -> Coverage:
    """Say what the streams vouch for now, and where facts end."""
    now = datetime.now(UTC)
    account = Account(
        log=reading.log,
        streams=reading.streams,
        window=Window(),
        now=now,
        facts_end=await reading.facts_end(),
    )
    return cover(account)


async def begun(reading: Reading, after: str) -> tuple[Reading, Spot]:
    """Return where a subscriber resumes, and a reading up to there.

    Raises:
        CursorError: the log never gave it.
        ExpiredCursorError: what lies behind it was pruned, or it parts an
            entry whose facts were derived anew.
    """
    cursor = Cursor.parse(after, Order.ENTRIES)
    try:
        cursor.check(reading)
    except (CursorError, ExpiredCursorError):
        # The log may have grown since it was read here.
        reading = await reading.again()
        cursor.check(reading)
    spot = cursor.spots[cursor.log]
    await check_kept(reading, spot)
    return reading, spot


async def caught_up(
    reading: Reading, wanted: Wanted, spot: Spot
) -> AsyncIterator[FactBatch]:
    """Yield the facts behind a spot, up to where a log ended."""
    selection = Selection(
        node=wanted.node,
        kinds=None if wanted.kinds is None else tuple(wanted.kinds),
    )
    name, derivation = str(reading.log.id), reading.log.derivation
    coverage = await coverage_of(reading)
    pages = reading.pages(FactListQuery(selection), after=read_to(spot))
    async for page in pages:
        found = [
            stored
            for stored in page
            if (stored.entry.position, stored.index) > spot
        ]
        for begin in range(0, len(found), BATCH_MAX):
            part = found[begin : begin + BATCH_MAX]
            last = part[-1].entry.position, part[-1].index
            place = Cursor(Order.ENTRIES, name, {name: last}, derivation)
            yield FactBatch(facts=part, cursor=str(place), coverage=coverage)
