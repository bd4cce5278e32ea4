"""One log that is partly in the archive, as one reading.

The archive is opened only when a query needs it, by time or by the position of
an entry: queries of the database alone cost no more. Opened days remain open,
and from then on both halves are queried.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Self, TypeVar, cast

from recorder.answers.nouns import Selection
from recorder.answers.ports import Beside, OnDay, Reading
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

LOOKBACK = timedelta(days=1)
"""Read before a window: causes may come before their effects."""

RELATED = {Purpose.FAMILY, Purpose.FAMILIES}

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")


class SpanningReading:
    """A `Reading` of the database (hot) and the archive (cold)."""

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
        """The position in the archive at which this reading ends, if any."""

        self._last = archive.last_position
        self._known: tuple[Reading, Reading] | None = None

    @classmethod
    async def opened(cls, hot: Reading, archive: Archive) -> Self:
        """Open both; without entries in the database, end as the archive."""
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
        """Return the open days, up to the end of this reading."""
        opened = self._archive.opened
        if opened is None:
            return None
        if self._known is None or self._known[0] is not opened:
            self._known = opened, opened.as_of(self.log.size)
        return self._known[1]

    def _whole(self) -> Reading | None:
        """Return the open days unless all of them are only thinned."""
        return self._cold() if self._archive.holds_days else None

    async def _place(self) -> None:
        """Open the day of the entry at which this reading ends."""
        if self._at is not None:
            await self._archive.reach_position(self._at)

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the days of a span, and of the day before it."""
        begin = None if since is None else shifted(since, -LOOKBACK)
        await self._archive.reach(begin, until)
        await self._archive.reach_thinned(since, until)

    async def archived(self, window: Window) -> Archived:
        """Return which days of a window were read from the archive."""
        hot = await self._hot.archived(window)
        return self._archive.archived(window, hot.thinned)

    def as_of(self, position: int) -> "SpanningReading":
        """Return the log up to a position."""
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
        """Return the log as if it ended at a position, with its coverage."""
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
        """Return the same log as it is now."""
        return await SpanningReading.opened(
            await self._hot.again(), self._archive
        )

    async def beside(self) -> Beside:
        """Return the logs of other clusters as they are now."""
        return await self._hot.beside()

    async def first_position(self) -> int:
        """Return the position of the oldest entry in the database."""
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
        """Yield items after a position in pages, in bounded memory."""
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
        """Return the position after which the newest ``count`` items are."""
        after = await self._hot.skip_to_newest(query, count, on_day=on_day)
        if (cold := self._cold()) is None or after >= self._last:
            return after
        # After the later of both there are enough, and at most twice as many.
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
            # An object that did not change on the open days changed earlier.
            if not await self._archive.reach_back():
                break
        return hot

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None if all entries have theirs."""
        return await self._hot.facts_end()

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return facts for a purpose, in log order."""
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
        """Return the names in both halves, each once."""
        cold = await self._opened(query)
        hot = await self._hot.names(query)
        if cold is None:
            return hot
        return query.both(await cold.names(query), hot)

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return the states that both halves have, by key."""
        cold = await self._opened(query)
        hot = await self._hot.states(query)
        if cold is None or isinstance(query, HeartbeatsOf):
            return hot
        if isinstance(query, NodesBefore) and query.at > self._archive.until:
            # The database has the newest versions of dropped days.
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
        """Open the days that a query needs; return the open days."""
        if query.span is not None:
            await self._archive.reach(*query.span)
        return self._whole() if query.of_whole_days else self._cold()

    def _halves(self) -> Sequence[Reading]:
        """Return the halves that are open, the older first."""
        cold = self._cold()
        return [self._hot] if cold is None else [cold, self._hot]
