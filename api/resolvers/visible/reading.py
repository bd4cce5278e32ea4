"""One log, as far as a reader may see it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeVar, cast

from api.resolvers.visible.names import VisibleNames
from api.resolvers.visible.record import gap_of, log_of, stream_of, unread_of
from api.resolvers.visible.sight import FLEET, Sight
from recorder.answers.nouns import Part, Selection, Version
from recorder.answers.ports import Beside, OnDay, Reading
from recorder.answers.queries import (
    EntryQuery,
    FactListQuery,
    FactQuery,
    HeartbeatsOf,
    ListQuery,
    NameQuery,
    NodesBefore,
    ObjectsBefore,
    StateQuery,
    Tenants,
)
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
from recorder.model.window import Window

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")

DECIDING = Part.OBJECT | Part.RESOURCE


class VisibleReading:
    """Satisfies the port `Reading`."""

    def __init__(self, reading: Reading, sight: Sight, *, whole: bool) -> None:
        """Take a reading, and whether all Nodes and Pods are visible."""
        self._reading = reading
        self._whole = whole
        self.sight = sight
        self._names = VisibleNames(reading, sight)

    @property
    def log(self) -> Log:
        """The log, and its size when it was read."""
        log = self._reading.log
        return log if self._whole else log_of(log)

    @property
    def streams(self) -> Sequence[Stream]:
        """The state of each stream."""
        streams = self._reading.streams
        return streams if self._whole else [stream_of(one) for one in streams]

    async def beside(self) -> Beside:
        """Return no other log: what is visible in it is not known here."""
        return Beside(())

    async def first_position(self) -> int:
        """Return the position of the oldest entry that is kept."""
        return await self._reading.first_position()

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare to read a time, which may be in the archive."""
        await self._reading.reach(since, until)

    def as_of(self, position: int) -> "VisibleReading":
        """Return the log as it was when it ended at a position."""
        return self._of(self._reading.as_of(position))

    async def pinned(self, position: int) -> "VisibleReading":
        """Return the log as if nothing had come after a position."""
        return self._of(await self._reading.pinned(position))

    async def again(self) -> "VisibleReading":
        """Read the current state of the same log, with the current rights.

        Raises:
            ForbiddenError: the reader no longer has any right.
        """
        reading = await self._reading.again()
        sight = await self.sight.afresh(reading)
        return VisibleReading(reading, sight, whole=await sight.is_whole())

    def _of(self, reading: Reading) -> "VisibleReading":
        return VisibleReading(reading, self.sight, whole=self._whole)

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        async for gap in self._reading.gaps(since):
            yield gap if self._whole else gap_of(gap)

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        return self._reading.clock_jumps()

    async def archived(self, window: Window) -> Archived:
        """Return what of a window is in days that were dropped."""
        found = await self._reading.archived(window)
        return found if self._whole else unread_of(found)

    async def pages(
        self, query: ListQuery[Item], *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[Item]]:
        """Yield what may be seen after a position; no page is empty.

        Entries include the parts on which visibility depends.
        """
        seen: object
        if isinstance(query, EntryQuery):
            needed = DECIDING if self._whole else DECIDING | Part.SUMMARY
            asked = replace(query, parts=query.parts | needed)
            async for lines in self._reading.pages(
                asked, after=after, limit=limit
            ):
                if seen := await self.sight.lines(lines):
                    yield cast("Sequence[Item]", seen)
        elif isinstance(query, FactListQuery):
            async for facts in self._reading.pages(
                query, after=after, limit=limit
            ):
                if seen := await self.sight.facts(facts):
                    yield cast("Sequence[Item]", seen)

    async def skip_to_newest(
        self,
        query: ListQuery[Item],
        count: int,
        *,
        on_day: OnDay | None = None,
    ) -> int:
        """Return a position with the newest ``count`` visible items after it.

        If hidden items were counted, a filter by actor, reason or time with a
        small limit would reveal how many there are.
        """
        newest_of = partial(self._reading.skip_to_newest, on_day=on_day)
        if (
            self._whole
            and isinstance(query, EntryQuery)
            and await self.sight.holds(FLEET)
        ):
            return await newest_of(query, count)
        wanted = count + 1
        while True:
            after = await newest_of(query, wanted)
            pages = self.pages(query.counted(), after=after)
            begin = await query.newest(pages, count)
            if begin is not None or not after:
                return begin or 0
            wanted *= 2

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Entry | None:
        """Return the newest visible entry of a selection, with document."""
        while True:
            line = await self._reading.newest(selection, before=before)
            if line is None or await self.sight.lines([line]):
                return line
            before = line.entry.position

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None if every entry has its facts."""
        return await self._reading.facts_end()

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the visible facts of a query, in the order of the log."""
        return await self.sight.facts(await self._reading.facts(query))

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return visible names, each once."""
        return await self._names.names(query)

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return the known states of those that may be seen."""
        if isinstance(query, NodesBefore | Tenants):
            names = await self.sight.nodes(query.names)
            query = cast("StateQuery[Key, Found]", replace(query, names=names))
        found = await self._reading.states(query)
        if isinstance(query, HeartbeatsOf):
            return found
        if isinstance(query, ObjectsBefore):
            versions = cast("Mapping[tuple[str, str], Version]", found)
            return cast(
                "Mapping[Key, Found]", await self.sight.versions(versions)
            )
        if isinstance(query, Tenants):
            own: object = await self.sight.tenants(
                cast("Mapping[str, Collection[str]]", found)
            )
            return cast("Mapping[Key, Found]", own)
        seen: Collection[object] = await self.sight.nodes(map(str, found))
        return {name: had for name, had in found.items() if name in seen}
