"""One log, as far as a reader may see it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar, cast

from api.ports import LogReading
from api.visible.counting import newest_seen
from api.visible.facts import VisibleFactPages
from api.visible.record import gap_of, log_of, stream_of, unread_of
from api.visible.sight import NODES, Sight
from recorder.coverage.hole import Gap
from recorder.coverage.ports import Archived, ClockJump, FactsEnd, Log, Stream
from recorder.model.fact import StoredFact
from recorder.model.reference import ObjectIdentity
from recorder.model.window import Window
from recorder.questions.nouns import Incarnation, Line, Part, Place, Selection
from recorder.questions.ports import OnDay
from recorder.questions.queries import (
    ActiveNodes,
    ActiveNodesNear,
    CustomKinds,
    FactQuery,
    HeartbeatsOf,
    Incarnations,
    Kinds,
    NameQuery,
    NodeNames,
    NodesBefore,
    NodesLike,
    ObjectNames,
    ObjectsLike,
    PodsOn,
    PreemptedPods,
    StateQuery,
    Tenants,
)

__all__ = ["VisibleReading"]

LOOKED_AT = 1000
"""Names of nodes that are looked through for a text."""

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")

DECIDING = Part.OBJECT | Part.RESOURCE


class VisibleReading:
    """Satisfies the port `LogReading`."""

    def __init__(
        self, reading: LogReading, sight: Sight, *, whole: bool
    ) -> None:
        """Take a reading, and whether all Nodes and Pods may be got."""
        self._reading = reading
        self._whole = whole
        self.sight = sight
        self.fact_pages = VisibleFactPages(reading.fact_pages, self.sight)

    @property
    def log(self) -> Log:
        """Which log, and how large it was."""
        log = self._reading.log
        return log if self._whole else log_of(log)

    @property
    def streams(self) -> Sequence[Stream]:
        """What was known of each source and resource."""
        streams = self._reading.streams
        return streams if self._whole else [stream_of(one) for one in streams]

    @property
    def derivation(self) -> int | None:
        """Which derivation its facts are of, if it has any."""
        return self._reading.derivation

    @property
    def facts_to(self) -> int:
        """The position up to which every entry has its facts."""
        return self._reading.facts_to

    async def first_position(self) -> int:
        """Return the place of the oldest entry that is kept."""
        return await self._reading.first_position()

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare to be asked about a time, which may lie in the archive."""
        await self._reading.reach(since, until)

    def as_of(self, position: int) -> "VisibleReading":
        """Return the log as it was when it ended at a position."""
        return self._of(self._reading.as_of(position))

    async def pinned(self, position: int) -> "VisibleReading":
        """Return the log as if nothing had come behind a position."""
        # What is pinned of a log can do all that the log can.
        pinned = await self._reading.pinned(position)
        return self._of(pinned)  # type: ignore[arg-type]

    async def again(self) -> "VisibleReading":
        """Read where the same log stands now, with the rights of now.

        Raises:
            ForbiddenError: the reader has none by now.
        """
        reading = await self._reading.again()
        sight = await self.sight.afresh(reading)
        return VisibleReading(reading, sight, whole=await sight.is_whole())

    def _of(self, reading: LogReading) -> "VisibleReading":
        return VisibleReading(reading, self.sight, whole=self._whole)

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        async for gap in self._reading.gaps(since):
            yield gap if self._whole else gap_of(gap)

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        return self._reading.clock_jumps()

    async def archived(self, window: Window) -> Archived:
        """Return what of a window lies in days that were dropped."""
        found = await self._reading.archived(window)
        return found if self._whole else unread_of(found)

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest ``count`` lines lie.

        Of those that may be seen: hidden ones are neither counted nor told.
        """
        if self._whole:
            return await self._reading.skip_to_newest(
                selection, count, on_day=on_day
            )
        return await newest_seen(
            lambda n: self._reading.skip_to_newest(
                selection, n, on_day=on_day
            ),
            lambda after: self.lines(selection, after=after, parts=Part(0)),
            count,
        )

    async def lines(
        self,
        selection: Selection,
        *,
        after: int,
        parts: Part = Part.LISTED,
        limit: int | None = None,
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield lines in log order, page by page; no page is empty.

        Also with the parts by which it is decided who may see them.
        """
        parts |= DECIDING if self._whole else DECIDING | Part.TOLD
        async for page in self._reading.lines(
            selection, after=after, parts=parts, limit=limit
        ):
            if seen := await self.sight.lines(page):
                yield seen

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Line | None:
        """Return the newest line of a selection, with its document."""
        while True:
            line = await self._reading.newest(selection, before=before)
            if line is None or await self.sight.lines([line]):
                return line
            before = line.entry.position

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None where every entry has its own."""
        return await self._reading.facts_end()

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the facts for a purpose, in the order of the log."""
        return await self.sight.facts(await self._reading.facts(query))

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once.

        All UIDs of Pods: they lead to nothing but facts. And all kinds.
        """
        found: object
        match query:
            case Incarnations():
                found = await self._incarnations(query)
            case ObjectNames():
                found = await self._object_names(query)
            case ObjectsLike():
                found = await self._objects_like(query)
            case NodesLike():
                found = await self._nodes_like(query)
            case NodeNames() | ActiveNodes() | ActiveNodesNear():
                found = await self._nodes(query)
            case PodsOn() | PreemptedPods() | Kinds() | CustomKinds():
                whole = cast("NameQuery[Item]", query)
                found = await self._reading.names(whole)
            case _:
                # Words that are near another may be of others.
                found = ()
        return cast("Sequence[Item]", found)

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return what the log knows of each of some things, where it does."""
        if isinstance(query, NodesBefore | Tenants):
            names = await self.sight.nodes(query.names)
            query = cast("StateQuery[Key, Found]", replace(query, names=names))
        found = await self._reading.states(query)
        if isinstance(query, HeartbeatsOf):
            return found
        if isinstance(query, Tenants):
            own: object = await self.sight.tenants(
                cast("Mapping[str, Collection[str]]", found)
            )
            return cast("Mapping[Key, Found]", own)
        seen: Collection[object] = await self.sight.nodes(map(str, found))
        return {name: had for name, had in found.items() if name in seen}

    async def _nodes(
        self, query: NodeNames | ActiveNodes | ActiveNodesNear
    ) -> Sequence[str]:
        if isinstance(query, NodeNames) and query.names is not None:
            # Also of names that are not there, which must take as long.
            await self.sight.nodes(query.names)
        found = await self._reading.names(query)
        seen = await self.sight.nodes(found)
        return [name for name in found if name in seen]

    async def _nodes_like(self, query: NodesLike) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning.

        As many are looked at, whatever the text: who sees no name must not
        learn that there is one from the time that it takes.
        """
        if await self.sight.holds(NODES):
            return await self._reading.names(query)
        text = query.text
        names = await self._reading.names(NodeNames())
        found = [name for name in names if name.startswith(text)]
        begun = {*found}
        if query.anywhere:
            found += [n for n in names if text in n and n not in begun]
        others = [*dict.fromkeys([*found, *names])]
        seen = await self.sight.nodes(others[:LOOKED_AT])
        return [name for name in found if name in seen][: query.limit]

    async def _objects_like(
        self, query: ObjectsLike
    ) -> Sequence[ObjectIdentity]:
        kinds = await self._reading.names(Kinds())
        places = await self.sight.places(kinds)
        if query.within is not None:
            places = [one for one in places if one in query.within]
        return await self._reading.names(replace(query, within=places))

    async def _incarnations(
        self, query: Incarnations
    ) -> Sequence[Incarnation]:
        # What may be seen is looked up before it is known what there is.
        namespace = query.namespace
        if namespace is None:
            places = await self.sight.places(query.kinds)
        else:
            asked = [(*kind, namespace) for kind in query.kinds]
            seen = await self.sight.objects(
                ObjectIdentity(*place, query.name, None) for place in asked
            )
            places = {
                Place(one.group, one.kind, namespace)
                for one in seen
                if one is not None
            }
        if not places:
            return []
        found = await self._reading.names(query)
        return [one for one in found if _is_in(one.identity, places)]

    async def _object_names(
        self, query: ObjectNames
    ) -> Sequence[tuple[str, str]]:
        found = await self._reading.names(query)
        named = {
            place: [
                ObjectIdentity(group, kind, *place, None)
                for group, kind in query.kinds
            ]
            for place in found
        }
        seen = await self.sight.objects(
            one for identities in named.values() for one in identities
        )
        return [
            place for place in found if all(o in seen for o in named[place])
        ]


def _is_in(identity: ObjectIdentity, places: Collection[Place]) -> bool:
    place = Place(identity.group, identity.kind, identity.namespace)
    return place in places or place._replace(namespace=None) in places
