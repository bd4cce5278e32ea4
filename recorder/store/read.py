"""Reading: one log as it stood at one moment, in the port of the answers.

What a log holds up to a size never changes, so the size, the derivation and
what each stream vouched for are read together, once, and everything after
that is asked up to that size. An answer and its coverage speak of the same
log, however long the answer takes, and no transaction is kept open for it.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recorder.coverage.hole import Gap
from recorder.coverage.ports import Archived, ClockJump, Log, Stream
from recorder.coverage.unproven import dropped
from recorder.errors import NotFoundError
from recorder.model.reference import ObjectIdentity
from recorder.model.window import Window
from recorder.questions.ports import (
    CustomKind,
    Heartbeats,
    Incarnation,
    Line,
    OnDay,
    Part,
    Places,
    Selection,
    Version,
)
from recorder.store.engine import Elsewhere, Engine
from recorder.store.read_archived import went_early
from recorder.store.read_concerned import find_concerned
from recorder.store.read_cut import CutReader
from recorder.store.read_definitions import read_custom_kinds
from recorder.store.read_entries import EntryReader
from recorder.store.read_fact_pages import FactPages
from recorder.store.read_facts import FactReader
from recorder.store.read_gangs import GangReader
from recorder.store.read_gaps import GapReader
from recorder.store.read_like import LikeReader
from recorder.store.read_logs import (
    Standing,
    read_logs,
    read_observed,
    read_standing,
)
from recorder.store.read_nodes import NodeReader
from recorder.store.read_objects import NameReader
from recorder.store.stored_facts import FactNames

__all__ = ["LogReading", "list_logs"]


async def list_logs(engine: Engine) -> Sequence[Log]:
    """Return every log of the database, oldest first."""
    return await read_logs(engine)


class LogReading:
    """One log, as it stood; satisfies the port `Reading`."""

    def __init__(self, engine: Engine, standing: Standing) -> None:
        self.log = log = standing.log
        self.streams = standing.streams
        self._engine = engine
        self._standing = standing
        self._names = NameReader(engine, log.id)
        self._like = LikeReader(engine, log.id)
        self._entries = EntryReader(engine, log.id, log.size)
        self._gaps = GapReader(engine, log.id, log.size)
        self._nodes = NodeReader(engine, log.id, log.size)
        names = FactNames(log.id, engine)
        self.facts = FactReader(engine, standing.extent, names)
        self.gangs = GangReader(engine, standing.extent, names)
        self.fact_pages = FactPages(engine, standing.extent)

    @classmethod
    async def at_present(cls, engine: Engine, number: int) -> "LogReading":
        """Read where a log stands now.

        Raises:
            NotFoundError: there is no such log.
        """
        found = await read_standing(engine, number)
        if found is None:
            msg = f"there is no log {number}"
            raise NotFoundError(msg)
        return cls(engine, found)

    def elsewhere(self, engine: Elsewhere) -> "LogReading":
        """Return the same log, of which something else holds a part."""
        return LogReading(engine, self._standing)

    async def again(self) -> "LogReading":
        """Read where the same log stands now."""
        return await LogReading.at_present(self._engine, self.log.id)

    def as_of(self, position: int) -> "LogReading":
        """Return the log as it was when it ended at a position.

        What its streams vouch for stays as it is now.
        """
        size = min(position, self.log.size)
        standing = replace(
            self._standing,
            log=replace(self.log, size=size),
            extent=replace(self._standing.extent, size=size),
        )
        return LogReading(self._engine, standing)

    async def pinned(self, position: int) -> "LogReading":
        """Return the log as if nothing had come behind a position.

        Its record ends there, so that the same is answered at any time.
        """
        log = self.as_of(position).log
        at = await read_observed(self._engine, log)
        standing = replace(
            self._standing,
            log=replace(log, observed_at=at, pinned=True),
            streams=[_ended(one, log.size, at) for one in self.streams],
            extent=replace(self._standing.extent, size=log.size),
        )
        return LogReading(self._engine, standing)

    @property
    def derivation(self) -> int | None:
        """Return which derivation its facts are of, if it has any."""
        return self._standing.extent.derivation

    @property
    def is_thinned(self) -> bool:
        """Return whether entries went out of days that are here."""
        return bool(self._standing.thinned)

    async def went_early(self, position: int) -> bool:
        """Return whether an entry was removed from a thinned day."""
        return await went_early(self._engine, self.log.id, position)

    @property
    def facts_to(self) -> int:
        """Return the position up to which every entry has its facts."""
        return self._standing.extent.facts_to

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare nothing: it is all here, or in no place that is known."""

    async def archived(self, window: Window) -> Archived:
        """Return what of a window lies in days that were dropped."""
        kept_since = self.log.kept_since
        hole = kept_since and dropped(kept_since, window)
        return Archived(
            holes=[hole] if hole else [], thinned=self._standing.thinned
        )

    async def first_position(self) -> int:
        """Return the place of the oldest entry that is kept."""
        return await self._entries.first_position()

    def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        return self._gaps.gaps(since)

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        return self._gaps.clock_jumps()

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest ``count`` lines lie."""
        return await self._entries.skip_to_newest(
            selection, count, on_day=on_day
        )

    def lines(
        self,
        selection: Selection,
        *,
        after: int,
        parts: Part = Part.LISTED,
        limit: int | None = None,
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield lines in log order, page by page, in bounded memory."""
        return self._entries.lines(
            selection, after=after, parts=parts, limit=limit
        )

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Line | None:
        """Return the newest line of a selection, with its document."""
        return await self._entries.newest(selection, before=before)

    async def nodes_before(
        self, names: Collection[str], at: datetime
    ) -> Mapping[str, Version]:
        """Return the newest version of each Node before a time, by name."""
        return await self._nodes.before(names, at)

    async def known_nodes(self, names: Collection[str]) -> Collection[str]:
        """Return those nodes that any entry concerns."""
        return await self._names.known_nodes(names)

    async def node_names(self) -> Sequence[str]:
        """Return the nodes of entries, where known."""
        return await self._names.node_names()

    async def search_nodes(
        self, text: str, *, limit: int, anywhere: bool = True
    ) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning."""
        return await self._like.nodes(text, limit=limit, anywhere=anywhere)

    async def search_objects(
        self, text: str, *, kind: str | None, limit: int, within: Places = None
    ) -> Sequence[ObjectIdentity]:
        """Return objects with a text in their names, each once, of a kind."""
        return await self._like.objects(
            text, kind=kind, limit=limit, within=within
        )

    async def kinds(self) -> Collection[tuple[str, str]]:
        """Return group and name of every kind."""
        return await self._names.kinds()

    async def custom_kinds(self) -> Sequence[CustomKind]:
        """Return the kinds that the cluster's definitions define."""
        return await read_custom_kinds(
            self._engine, self.log.id, self.log.size
        )

    async def incarnations(
        self,
        kinds: Collection[tuple[str, str]],
        *,
        namespace: str | None,
        name: str,
    ) -> Sequence[Incarnation]:
        """Return the objects of a name; in any namespace where it is None."""
        return await self._names.incarnations(
            kinds, namespace=namespace, name=name
        )

    async def object_names(
        self, kinds: Collection[tuple[str, str]]
    ) -> Sequence[tuple[str, str]]:
        """Return namespace and name of objects, as far as it is useful."""
        return await self._names.object_names(kinds)

    async def heartbeats(
        self, objects: Collection[int]
    ) -> Mapping[int, Heartbeats]:
        """Return the folded heartbeats of live objects, by number."""
        return await self._names.heartbeats(objects)

    async def past(self, nodes: Collection[str], window: Window) -> CutReader:
        """Return the log as a tape of a window is cut out of it.

        With nodes only what concerns them, else everything.
        """
        number, size = self.log.id, self.log.size
        kept = None
        if nodes:
            kept = await find_concerned(
                self._engine,
                number,
                size,
                nodes,
                since=window.since,
                until=window.until,
            )
        return CutReader(self._engine, number, size, kept)

    async def words(self, wanted: str) -> Sequence[str]:
        """Return reasons and actors to compare with one; none if known."""
        return await self._names.words(wanted)


def _ended(stream: Stream, position: int, at: datetime | None) -> Stream:
    """Return until when a stream was confirmed when its log ended."""
    gap, vouched = stream.gap, stream.vouched_until
    if gap is not None and gap.opened.position > position:
        gap = None
    if vouched is not None and at is not None:
        vouched = min(vouched, at)
    return replace(stream, gap=gap, vouched_until=vouched)
