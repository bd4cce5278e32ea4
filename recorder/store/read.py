"""Reads one log as of one moment, as the port of the answers requires.

A log up to a size never changes. So the size, the derivation and the state of
each stream are read once, together, and everything else is read up to that
size. An answer and its coverage refer to the same log, however long the answer
takes, and no transaction is kept open.
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, cast

from recorder.answers.nouns import Selection
from recorder.answers.ports import Beside, OnDay
from recorder.answers.queries import (
    ActiveNodes,
    ActiveNodesNear,
    CustomKinds,
    DisplacedPods,
    EntryQuery,
    FactQuery,
    HeartbeatsOf,
    Incarnations,
    Kinds,
    LastSign,
    ListQuery,
    NameQuery,
    NodeLabels,
    NodeNames,
    NodePlaces,
    NodesBefore,
    NodesLike,
    ObjectNames,
    ObjectsBefore,
    ObjectsLike,
    PodsOn,
    Purpose,
    StateQuery,
    Tenants,
    WordsNear,
    WorkloadLives,
)
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import (
    Archived,
    ClockJump,
    FactsEnd,
    Log,
    Stream,
)
from recorder.facts.coverage.unproven import dropped
from recorder.model.entry import Entry
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.window import Window
from recorder.store.engine import Connection, Engine
from recorder.store.read_archived import was_removed
from recorder.store.read_concerned import find_concerned
from recorder.store.read_cut import CutReader
from recorder.store.read_entries import EntryReader
from recorder.store.read_fact_pages import FactPages
from recorder.store.read_facts import FactReader
from recorder.store.read_gangs import PodReader
from recorder.store.read_gaps import GapReader
from recorder.store.read_logs import (
    Standing,
    read_logs,
    read_observed,
    read_standing,
)
from recorder.store.read_nodes import NodeReader
from recorder.store.read_objects import (
    DefinitionReader,
    LikeReader,
    NameReader,
)
from recorder.store.read_workloads import LifeReader

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")
Ask = Callable[[Any], Awaitable[Any]]
"""Answers one kind of query."""


async def list_logs(engine: Engine) -> Sequence[Log]:
    """Return every log of the database, oldest first."""
    return await read_logs(engine)


BESIDE_MAX = 64
"""Logs of one database that a question reads besides its own."""


class LogReading:
    """One log as of one moment; satisfies the port `Reading`."""

    def __init__(self, engine: Engine, standing: Standing) -> None:
        self.log = log = standing.log
        self.streams = standing.streams
        self._engine = engine
        self._standing = standing
        self._entries = EntryReader(engine, log.id, log.size)
        self._gaps = GapReader(engine, log.id, log.size)
        self._facts = FactReader(engine, standing.extent)
        self._fact_pages = FactPages(engine, standing.extent)
        self._asked = {**self._of_facts(), **self._of_names()}
        self.others: Callable[[], Awaitable[Beside]] | None = None
        """What returns the logs of other clusters, if not this database."""

    def _of_facts(self) -> Mapping[type, Ask]:
        facts = self._facts
        pods = PodReader(self._engine, self._standing.extent)
        lives = LifeReader(self._engine, self._standing.extent)
        return {
            ActiveNodes: facts.active_nodes,
            ActiveNodesNear: facts.active_nodes_near,
            LastSign: facts.last_sign,
            NodeLabels: facts.labels,
            NodePlaces: facts.places,
            PodsOn: pods.pods_on,
            DisplacedPods: pods.displaced,
            Tenants: pods.tenants,
            WorkloadLives: lives.lives,
        }

    def _of_names(self) -> Mapping[type, Ask]:
        engine, log = self._engine, self.log
        names, like = NameReader(engine, log.id), LikeReader(engine, log.id)
        nodes = NodeReader(engine, log.id, log.size)
        return {
            CustomKinds: DefinitionReader(engine, log.id, log.size).kinds,
            HeartbeatsOf: names.heartbeats,
            Incarnations: names.incarnations,
            Kinds: names.kinds,
            NodeNames: names.nodes,
            NodesBefore: nodes.before,
            NodesLike: like.nodes,
            ObjectNames: names.object_names,
            ObjectsBefore: nodes.objects_before,
            ObjectsLike: like.objects,
            WordsNear: names.words,
        }

    @classmethod
    async def at_present(cls, engine: Engine, number: int) -> "LogReading":
        """Return a log as of now.

        Raises:
            NotFoundError: the log does not exist.
        """
        found = await read_standing(engine, number)
        if found is None:
            msg = f"there is no log {number}"
            raise NotFoundError(msg)
        return cls(engine, found)

    def elsewhere(self, engine: Connection) -> "LogReading":
        """Return the same log, read by another engine."""
        return LogReading(engine, self._standing)

    async def again(self) -> "LogReading":
        """Return the same log as of now."""
        found = await LogReading.at_present(self._engine, self.log.id)
        found.others = self.others
        return found

    async def beside(self) -> Beside:
        """Return the logs of other clusters as they are now."""
        if self.others is not None:
            return await self.others()
        known = await list_logs(self._engine)
        others = [log.id for log in known if log.id != self.log.id]
        return Beside(
            [
                await LogReading.at_present(self._engine, number)
                for number in others[:BESIDE_MAX]
            ]
        )

    def as_of(self, position: int) -> "LogReading":
        """Return the log as it was when it ended at a position.

        The state of its streams remains that of now.
        """
        size = min(position, self.log.size)
        standing = replace(
            self._standing,
            log=replace(self.log, size=size),
            extent=replace(self._standing.extent, size=size),
        )
        return LogReading(self._engine, standing)

    async def pinned(self, position: int) -> "LogReading":
        """Return the log as if a position were its last.

        Its record ends there, so that answers are the same at any time.
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
    def is_thinned(self) -> bool:
        """Return whether entries were removed from days that are here."""
        return bool(self._standing.thinned)

    async def was_removed(self, position: int) -> bool:
        """Return whether an entry was removed from a thinned day."""
        return await was_removed(self._engine, self.log.id, position)

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Do nothing: an archive is opened elsewhere."""

    async def archived(self, window: Window) -> Archived:
        """Return the part of a window that is in dropped days."""
        kept_since = self.log.kept_since
        hole = kept_since and dropped(kept_since, window)
        return Archived(
            holes=[hole] if hole else [], thinned=self._standing.thinned
        )

    async def first_position(self) -> int:
        """Return the position of the oldest entry."""
        return await self._entries.first_position()

    def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        return self._gaps.gaps(since)

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        return self._gaps.clock_jumps()

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None if all entries have theirs."""
        return await self._facts.end()

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the facts for a purpose, in the order of the log."""
        if query.purpose is Purpose.ENTRIES:
            return await self._fact_pages.of_entries(query.entries or {})
        return await self._facts.facts(query)

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names without duplicates."""
        found: Sequence[Item] = await self._asked[type(query)](query)
        return found

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return what the log knows, by key; unknown keys are left out."""
        found: Mapping[Key, Found] = await self._asked[type(query)](query)
        return found

    def pages(
        self, query: ListQuery[Item], *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[Item]]:
        """Yield pages of entries or facts after a position, in order."""
        pages: object
        if isinstance(query, EntryQuery):
            pages = self._entries.lines(
                query.selection, after=after, parts=query.parts, limit=limit
            )
        else:
            pages = self._fact_pages.pages(
                query.selection, after=after, limit=limit
            )
        return cast("AsyncIterator[Sequence[Item]]", pages)

    async def skip_to_newest(
        self,
        query: ListQuery[Item],
        count: int,
        *,
        on_day: OnDay | None = None,
    ) -> int:
        """Return the position after which the newest ``count`` items are."""
        is_of_entries = isinstance(query, EntryQuery)
        reader = self._entries if is_of_entries else self._fact_pages
        selection = query.selection
        return await reader.skip_to_newest(selection, count, on_day=on_day)

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Entry | None:
        """Return the newest entry of a selection, with its document."""
        return await self._entries.newest(selection, before=before)

    async def past(self, nodes: Collection[str], window: Window) -> CutReader:
        """Return the reader that cuts a tape of a window out of the log.

        With nodes it reads only what concerns them.
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


def _ended(stream: Stream, position: int, at: datetime | None) -> Stream:
    """Return the state of a stream as if the log ended at a position."""
    gap, vouched = stream.gap, stream.vouched_until
    if gap is not None and gap.opened.position > position:
        gap = None
    if vouched is not None and at is not None:
        vouched = min(vouched, at)
    return replace(stream, gap=gap, vouched_until=vouched)
