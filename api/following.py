"""Following a log: read once for everybody, handed to each who listens.

One task a log reads what was committed and puts it into the queue of each
subscriber that it concerns. A queue is bounded; who does not keep up is cut
off and told the cursor to go on from, so that nobody's slowness costs the
server memory or the others time. Everything in a queue lies behind everything
that its subscriber read from the log itself, so nothing is lost or told twice.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from api.cursors import INDEX_MAX, Cursor, check_kept
from api.errors import BusyError, SlowReaderError, StoppingError
from api.types.coverage import Coverage
from api.types.facts import Fact, FactBatch
from recorder.errors import RecorderError
from recorder.model.fact import FactKind, StoredFact
from recorder.report.coverage import cover
from recorder.report.ports import Selection
from recorder.report.window import Window
from recorder.wiring.reading import LogReading, Logs

__all__ = ["Following", "Wanted"]

log = logging.getLogger("recorder.api")

QUEUE_MAX = 5000
"""Facts that wait for one subscriber, about 2 MB; a minute of a storm."""

BATCH_MAX = 500
"""Facts of one event, so that each stays small enough to be shown."""

SUBSCRIBERS_MAX = 2000

QUIET_MAX = timedelta(seconds=10)
"""How long a subscriber hears nothing of how far the log is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which facts somebody subscribes to."""

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
        """Tell whether a fact is wanted."""
        fact = stored.fact
        return (self.node is None or fact.node == self.node) and (
            self.kinds is None or fact.kind in self.kinds
        )


@dataclass(slots=True)
class _Subscriber:
    """Who listens, and what waits for them."""

    wanted: Wanted
    behind: int
    """The position up to which it has read the log itself."""

    batches: deque[FactBatch] = field(default_factory=deque)
    waiting: int = 0
    cut: bool = False
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    def wants(self, stored: StoredFact) -> bool:
        """Tell whether a fact is wanted, and new to it."""
        return stored.entry.position > self.behind and self.wanted.has(stored)

    def tell(self, batch: FactBatch) -> None:
        """Put something into the queue, or cut who does not empty it."""
        if self.cut:
            return
        self.waiting += len(batch.facts)
        if self.waiting > QUEUE_MAX:
            self.cut = True
            self.batches.clear()
        else:
            self.batches.append(batch)
        self.rung.set()

    async def next(self) -> FactBatch | None:
        """Wait for something; None for who was cut off."""
        while not self.batches and not self.cut:
            self.rung.clear()
            await self.rung.wait()
        if self.cut:
            return None
        batch = self.batches.popleft()
        self.waiting -= len(batch.facts)
        return batch


class _Source:
    """One log that is followed, and who listens to it."""

    def __init__(self, reading: LogReading) -> None:
        self.reading = reading
        self.failed: RecorderError | None = None
        self._told_at = datetime.now(UTC)
        self._all: set[int] = set()
        self._by_node: dict[str, set[int]] = {}
        self._subscribers: dict[int, _Subscriber] = {}

    @property
    def seen(self) -> int:
        """The position up to which everybody has been told."""
        return self.reading.log.size

    def __len__(self) -> int:
        return len(self._subscribers)

    @asynccontextmanager
    async def listening(self, one: _Subscriber) -> AsyncIterator[None]:
        """Tell a subscriber, from now on until left."""
        node = one.wanted.node
        group = (
            self._all
            if node is None
            else self._by_node.setdefault(node, set())
        )
        group.add(id(one))
        self._subscribers[id(one)] = one
        try:
            yield
        finally:
            group.discard(id(one))
            del self._subscribers[id(one)]
            if node is not None and not group:
                self._by_node.pop(node, None)

    def end(self, error: RecorderError) -> None:
        """Let everybody go, and say why."""
        self.failed = error
        for one in self._subscribers.values():
            one.cut = True
            one.rung.set()

    async def advance(self) -> None:
        """Read what was committed since, and tell it."""
        later = await self.reading.again()
        if later.log.size == self.seen:
            if datetime.now(UTC) - self._told_at > QUIET_MAX:
                self._tell((), later)
            self.reading = later
            return
        pages = later.fact_pages.pages(Selection(), after=self.seen)
        found = [stored async for page in pages for stored in page]
        self.reading = later
        self._tell(found, later)

    def _tell(self, found: Sequence[StoredFact], later: LogReading) -> None:
        self._told_at = datetime.now(UTC)
        coverage = coverage_of(later)
        end = str(Cursor(later.log.id, later.log.size))
        told: dict[int, list[Fact]] = {}
        if not found:
            told = {number: [] for number in self._subscribers}
        for stored in found:
            fact = None
            near = self._by_node.get(stored.fact.node or "", ())
            for number in (*self._all, *near):
                if self._subscribers[number].wants(stored):
                    fact = fact or Fact.of(stored)
                    told.setdefault(number, []).append(fact)
        for number, facts in told.items():
            self._subscribers[number].tell(
                FactBatch(facts=facts, cursor=end, coverage=coverage)
            )


def coverage_of(reading: LogReading) -> Coverage:
    """Say what the streams vouch for now, without asking the log."""
    now = datetime.now(UTC)
    found = cover(reading.log, reading.streams, Window(), now=now)
    return Coverage.of(found)


class Following:
    """All logs that somebody follows."""

    def __init__(self, logs: Logs, stop: asyncio.Event) -> None:
        self._logs = logs
        self._stop = stop
        self._group: asyncio.TaskGroup | None = None
        self._sources: dict[int, _Source] = {}
        self._known: dict[tuple[str | None, int | None], int] = {}
        """Logs by how they were asked for."""

        self._lock = asyncio.Lock()
        """So that of many who come at once only the first opens a log."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow while entered."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            stopping = group.create_task(self._end())
            try:
                yield
            finally:
                stopping.cancel()
                self._release()

    async def _end(self) -> None:
        await self._stop.wait()
        self._release()

    def _release(self) -> None:
        """Let everybody go: what is served ends."""
        self._stop.set()
        for source in self._sources.values():
            source.end(StoppingError("the server is stopping: come again"))

    async def follow(
        self,
        place: tuple[str | None, int | None],
        wanted: Wanted,
        after: str | None,
    ) -> AsyncIterator[FactBatch]:
        """Give facts behind a cursor, then as they are committed.

        Raises:
            CursorError: it is of another log.
            SlowReaderError: whoever reads does not keep up.
        """
        reading = await self._reading(place)
        cursor = Cursor(reading.log.id, reading.log.size)
        if after is not None:
            cursor = Cursor.parse(
                after, log=reading.log.id, size=reading.log.size
            )
            await check_kept(reading, cursor)
            # What is old is read before there is a queue that could fill.
            async for batch in caught_up(reading, wanted, cursor):
                yield batch
            cursor = Cursor(reading.log.id, reading.log.size)
        source = self._source(reading)
        if sum(map(len, self._sources.values())) >= SUBSCRIBERS_MAX:
            msg = "too many subscriptions are open: try again later"
            raise BusyError(msg)
        one = _Subscriber(wanted, cursor.position)
        async with source.listening(one):
            between = source.reading
            one.behind = max(one.behind, between.log.size)
            async for batch in caught_up(between, wanted, cursor):
                yield batch
            last = str(Cursor(between.log.id, one.behind))
            yield FactBatch(
                facts=[], cursor=last, coverage=coverage_of(between)
            )
            while (told := await one.next()) is not None:
                yield told
                last = told.cursor
        raise source.failed or SlowReaderError(last)

    async def _reading(
        self, place: tuple[str | None, int | None]
    ) -> LogReading:
        """Open a log, or take it as those who follow it have it.

        Hundreds may come at once, when a server is back.
        """
        async with self._lock:
            source = self._sources.get(self._known.get(place, 0))
            if source is not None:
                return source.reading
            cluster, number = place
            reading = await self._logs.read(number, cluster=cluster)
            self._known[place] = reading.log.id
            return reading

    def _source(self, reading: LogReading) -> _Source:
        source = self._sources.get(reading.log.id)
        if source is None:
            assert self._group is not None, "entered before it is asked"
            source = self._sources[reading.log.id] = _Source(reading)
            self._group.create_task(self._attend(source))
        return source

    async def _attend(self, source: _Source) -> None:
        """Tell what is committed, as long as anybody listens."""
        number = source.reading.log.id
        try:
            async with self._logs.bell(source.reading) as bell:
                while not self._stop.is_set():
                    try:
                        await source.advance()
                    except RecorderError as exc:
                        # The database may come back; nothing is skipped.
                        log.warning("cannot follow log %s: %s", number, exc)
                    await bell.wait()
                    if not source:
                        return
        finally:
            del self._sources[number]


async def caught_up(
    reading: LogReading, wanted: Wanted, cursor: Cursor
) -> AsyncIterator[FactBatch]:
    """Give what lies behind a cursor, up to where a log stood."""
    selection = Selection(
        node=wanted.node,
        kinds=None if wanted.kinds is None else tuple(wanted.kinds),
    )
    start = cursor.position - (cursor.index < INDEX_MAX)
    coverage = coverage_of(reading)
    async for page in reading.fact_pages.pages(selection, after=start):
        found = [
            stored
            for stored in page
            if (stored.entry.position, stored.index)
            > (cursor.position, cursor.index)
        ]
        for begin in range(0, len(found), BATCH_MAX):
            part = found[begin : begin + BATCH_MAX]
            last = part[-1]
            place = Cursor(reading.log.id, last.entry.position, last.index)
            yield FactBatch(
                facts=[Fact.of(stored) for stored in part],
                cursor=str(place),
                coverage=coverage,
            )
