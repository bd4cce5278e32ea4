"""One log, as far as a reader may see it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from api.ports import LogReading
from api.visible.counting import newest_seen
from api.visible.facts import VisibleFactPages, VisibleFacts, VisibleGangs
from api.visible.record import gap_of, log_of, stream_of, unread_of
from api.visible.sight import NODES, Sight
from recorder.coverage.hole import Gap
from recorder.coverage.ports import Archived, ClockJump, Log, Stream
from recorder.model.reference import ObjectIdentity
from recorder.model.window import Window
from recorder.questions.ports import (
    CustomKind,
    Heartbeats,
    Incarnation,
    Line,
    OnDay,
    Part,
    Place,
    Places,
    Selection,
    Version,
)

__all__ = ["VisibleReading"]

LOOKED_AT = 1000
"""Names of nodes that are looked through for a text."""

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
        self.facts = VisibleFacts(reading.facts, self.sight)
        self.gangs = VisibleGangs(reading.gangs, self.sight)
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

    async def nodes_before(
        self, names: Collection[str], at: datetime
    ) -> Mapping[str, Version]:
        """Return the newest version of each Node before a time, by name."""
        seen = await self.sight.nodes(names)
        return await self._reading.nodes_before(seen, at)

    async def known_nodes(self, names: Collection[str]) -> Collection[str]:
        """Return those nodes that any entry concerns."""
        # Also of names that are not there, which must take as long.
        seen = await self.sight.nodes(names)
        known = await self._reading.known_nodes(names)
        return {name for name in known if name in seen}

    async def node_names(self) -> Sequence[str]:
        """Return the nodes that entries concern, as far as it is useful."""
        found = await self._reading.node_names()
        seen = await self.sight.nodes(found)
        return [name for name in found if name in seen]

    async def search_nodes(
        self, text: str, *, limit: int, anywhere: bool = True
    ) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning.

        As many are looked at, whatever the text: who sees no name must not
        learn that there is one from the time that it takes.
        """
        if await self.sight.holds(NODES):
            return await self._reading.search_nodes(
                text, limit=limit, anywhere=anywhere
            )
        names = await self._reading.node_names()
        found = [name for name in names if name.startswith(text)]
        begun = {*found}
        if anywhere:
            found += [n for n in names if text in n and n not in begun]
        others = [*dict.fromkeys([*found, *names])]
        seen = await self.sight.nodes(others[:LOOKED_AT])
        return [name for name in found if name in seen][:limit]

    async def search_objects(
        self, text: str, *, kind: str | None, limit: int, within: Places = None
    ) -> Sequence[ObjectIdentity]:
        """Return objects with a text in their names, each once, of a kind."""
        places = await self.sight.places(await self._reading.kinds())
        if within is not None:
            places = [one for one in places if one in within]
        return await self._reading.search_objects(
            text, kind=kind, limit=limit, within=places
        )

    async def kinds(self) -> Collection[tuple[str, str]]:
        """Return group and name of every kind."""
        return await self._reading.kinds()

    async def custom_kinds(self) -> Sequence[CustomKind]:
        """Return the kinds that the cluster's definitions define."""
        return await self._reading.custom_kinds()

    async def incarnations(
        self,
        kinds: Collection[tuple[str, str]],
        *,
        namespace: str | None,
        name: str,
    ) -> Sequence[Incarnation]:
        """Return the objects of a name; in any namespace where it is None."""
        # What may be seen is looked up before it is known what there is.
        if namespace is None:
            places = await self.sight.places(kinds)
        else:
            asked = [(*kind, namespace) for kind in kinds]
            seen = await self.sight.objects(
                ObjectIdentity(*place, name, None) for place in asked
            )
            places = {
                Place(one.group, one.kind, namespace)
                for one in seen
                if one is not None
            }
        if not places:
            return []
        found = await self._reading.incarnations(
            kinds, namespace=namespace, name=name
        )
        return [one for one in found if _is_in(one.identity, places)]

    async def object_names(
        self, kinds: Collection[tuple[str, str]]
    ) -> Sequence[tuple[str, str]]:
        """Return namespace and name of objects, as far as it is useful."""
        found = await self._reading.object_names(kinds)
        named = {
            place: [
                ObjectIdentity(group, kind, *place, None)
                for group, kind in kinds
            ]
            for place in found
        }
        seen = await self.sight.objects(
            one for identities in named.values() for one in identities
        )
        return [
            place for place in found if all(o in seen for o in named[place])
        ]

    async def heartbeats(
        self, objects: Collection[int]
    ) -> Mapping[int, Heartbeats]:
        """Return what was counted of live objects, by number."""
        return await self._reading.heartbeats(objects)

    async def words(self, wanted: str) -> Sequence[str]:
        """Return no words to compare with: they may be another's."""
        del wanted
        return ()


def _is_in(identity: ObjectIdentity, places: Collection[Place]) -> bool:
    place = Place(identity.group, identity.kind, identity.namespace)
    return place in places or place._replace(namespace=None) in places
