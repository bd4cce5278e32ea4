"""One log, of which some of it lies in the archive, as one reading.

The archive is opened when a question reaches into it, by time or by the
position of an entry, and not before: what is hot costs what it did. What it
was opened for stays open, and from then on both halves are asked.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Self, TypeVar, cast

from recorder.answers.nouns import Selection
from recorder.answers.ports import OnDay, Reading
from recorder.answers.queries import (
    FactQuery,
    HeartbeatsOf,
    ListQuery,
    NameQuery,
    NodesBefore,
    Purpose,
    StateQuery,
)
from recorder.answers.spanning.merging import (
    each_once,
    merged,
    related,
    union,
)
from recorder.answers.spanning.ports import Archive
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import (
    Archived,
    ClockJump,
    FactsEnd,
    Log,
    Stream,
)
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.moment import shifted
from recorder.model.window import Window

__all__ = ["SpanningReading"]

LOOKBACK = timedelta(days=1)
"""Before a window; what broke or was decided may tell what happened in it."""

RELATED = {Purpose.FAMILY, Purpose.FAMILIES}

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")


class SpanningReading:
    """Satisfies the port `Reading`."""

    def __init__(
        self,
        hot: Reading,
        archive: Archive,
        *,
        log: Log | None = None,
        streams: Sequence[Stream] | None = None,
    ) -> None:
        self.log = log or hot.log
        self.streams = hot.streams if streams is None else streams
        self._hot = hot
        self._archive = archive
        self._at: int | None = None
        """An entry of the archive that this reading ends with."""

        self._last = archive.last_position
        self._known: tuple[Reading, Reading] | None = None

    @classmethod
    async def opened(cls, hot: Reading, archive: Archive) -> Self:
        """Open both; where nothing is hot, the archive says how it ended."""
        log = hot.log
        if log.observed_at is not None or not log.size:
            return cls(hot, archive)
        await archive.reach_position(min(log.size, archive.dropped_position))
        if (cold := archive.opened) is None:
            return cls(hot, archive)
        ended = await cold.pinned(log.size)
        return cls(
            hot, archive, log=replace(log, observed_at=ended.log.observed_at)
        )

    def _cold(self) -> Reading | None:
        """Return the days that are open, up to where this reading ends."""
        opened = self._archive.opened
        if opened is None:
            return None
        if self._known is None or self._known[0] is not opened:
            self._known = opened, opened.as_of(self.log.size)
        return self._known[1]

    def _whole(self) -> Reading | None:
        """Return them unless all of them are thinned days."""
        return self._cold() if self._archive.holds_days else None

    async def _place(self) -> None:
        """Open the day of the entry that this reading ends with."""
        if self._at is not None:
            await self._archive.reach_position(self._at)

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare to be asked about a time, and what came before it."""
        begin = None if since is None else shifted(since, -LOOKBACK)
        await self._archive.reach(begin, until)
        await self._archive.reach_thinned(since, until)

    async def archived(self, window: Window) -> Archived:
        """Return what of a window is not here, and what was read of it."""
        hot = await self._hot.archived(window)
        return self._archive.archived(window, hot.thinned)

    def as_of(self, position: int) -> "SpanningReading":
        """Return the log as it was when it ended at a position."""
        log = replace(self.log, size=min(position, self.log.size))
        made = SpanningReading(
            self._hot.as_of(position),
            self._archive,
            log=log,
            streams=self.streams,
        )
        made._at = position if position <= self._last else None
        return made

    async def pinned(self, position: int) -> "SpanningReading":
        """Return the log as if nothing had come behind a position."""
        hot = await self._hot.pinned(position)
        log, streams = hot.log, hot.streams
        if log.observed_at is None:
            last = min(log.size, self._archive.dropped_position)
            await self._archive.reach_position(last)
            if cold := self._archive.opened:
                ended = await cold.pinned(position)
                log, streams = ended.log, ended.streams
        return SpanningReading(
            self._hot.as_of(position), self._archive, log=log, streams=streams
        )

    async def again(self) -> "SpanningReading":
        """Read where the same log stands now."""
        return await SpanningReading.opened(
            await self._hot.again(), self._archive
        )

    async def first_position(self) -> int:
        """Return the place of the oldest entry that is kept."""
        return await self._hot.first_position()

    def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        halves = (half.gaps(since) for half in self._halves())
        return each_once(halves, attrgetter("opened"))

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        halves = (half.clock_jumps() for half in self._halves())
        return each_once(halves, attrgetter("entry"))

    async def pages(
        self, query: ListQuery[Item], *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[Item]]:
        """Yield what lies behind a position, in bounded memory."""
        if after < self._last:
            await self._place()
        pages = self._hot.pages(query, after=after, limit=limit)
        cold = self._cold()
        if cold is not None and after < self._last:
            older = cold.pages(query, after=after, limit=limit)
            pages = merged(pages, older, query.place)
        async for page in pages:
            yield page

    async def skip_to_newest(
        self,
        query: ListQuery[Item],
        count: int,
        *,
        on_day: OnDay | None = None,
    ) -> int:
        """Return the position after which the newest ``count`` items lie."""
        after = await self._hot.skip_to_newest(query, count, on_day=on_day)
        if (cold := self._cold()) is None or after >= self._last:
            return after
        # Behind the later of both lie enough, and at most twice as many.
        old = await cold.skip_to_newest(query, count, on_day=on_day)
        after = max(after, old)
        pages = self.pages(query.counted(), after=after)
        begin = await query.newest(pages, count)
        return after if begin is None else begin

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Entry | None:
        """Return the newest line of a selection, with its document."""
        await self._place()
        hot = await self._hot.newest(selection, before=before)
        is_newest = selection.until is None and before is None
        is_here = hot is not None and (
            is_newest or hot.entry.position > self._archive.dropped_position
        )
        while cold := self._cold():
            old = await cold.newest(selection, before=before)
            if old is not None or is_here:
                return max(filter(None, (hot, old)), key=attrgetter("entry"))
            # What did not change on the days that are open did before.
            if not await self._archive.reach_back():
                break
        return hot

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None where every entry has its own."""
        return await self._hot.facts_end()

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the facts for a purpose, in the order of the log."""
        cold = await self._opened(query)
        if cold is None:
            return await self._hot.facts(query)
        if query.purpose in RELATED:
            return await related(query, self._hot.facts, cold.facts)
        hot = await self._hot.facts(query)
        if query.entries is not None:
            entries = query.entries.items()
            old = {n: at for n, at in entries if n <= self._last}
            query = replace(query, entries=old)
        return union(hot, await cold.facts(query))

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once: of both halves."""
        cold = await self._opened(query)
        hot = await self._hot.names(query)
        if cold is None:
            return hot
        return query.both(await cold.names(query), hot)

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return what both halves know of each of some things."""
        cold = await self._opened(query)
        hot = await self._hot.states(query)
        if cold is None or isinstance(query, HeartbeatsOf):
            return hot
        if isinstance(query, NodesBefore) and query.at > self._archive.until:
            # Of what was dropped, the newest versions and some others are hot.
            rest = [name for name in query.names if name not in hot]
            query = cast("StateQuery[Key, Found]", replace(query, names=rest))
        old = await cold.states(query)
        keys = old.keys() & hot.keys()
        both = {key: query.both(old[key], hot[key]) for key in keys}
        return {**old, **hot, **both}

    async def _opened(
        self,
        query: FactQuery | NameQuery[Item] | StateQuery[Key, Found],
    ) -> Reading | None:
        """Open the days that a query is about; return what is open of them."""
        if query.span is not None:
            await self._archive.reach(*query.span)
        return self._whole() if query.of_whole_days else self._cold()

    def _halves(self) -> Sequence[Reading]:
        """Return what is open, oldest first."""
        cold = self._cold()
        return [self._hot] if cold is None else [cold, self._hot]
