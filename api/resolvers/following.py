"""Following a log: read once, delivered to every subscriber.

A subscriber with a cursor first reads what follows it from the log itself, as
of one moment. Then one task for each log reads what was committed and puts it
into the queue of each subscriber that wants it. A queue
is bounded: a subscriber that does not keep up is disconnected, with the
cursor to resume from, so that it costs the server no memory and the others no
time. Everything in a queue lies behind everything that its subscriber read
from the log, so nothing is lost or delivered twice.

Facts are delivered for whole entries, by the derivation that was current when
they were read, and no further than that had come. So the cursor of a batch
outlives a derivation, unless the batch splits an entry.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from api.errors import (
    BusyError,
    CursorError,
    ExpiredCursorError,
    SlowReaderError,
    StoppingError,
)
from api.ports import Logs
from api.resolvers.cursors import (
    INDEX_MAX,
    Cursor,
    Order,
    Spot,
    check_kept,
    read_to,
)
from api.resolvers.types.coverage import Coverage
from api.resolvers.types.facts import FactBatch
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery
from recorder.facts.coverage.account import Account
from recorder.facts.coverage.coverage import cover
from recorder.model.errors import RecorderError
from recorder.model.fact import FactKind, StoredFact
from recorder.model.window import Window

log = logging.getLogger("recorder.api")

QUEUE_MAX = 5000
"""Facts queued for one subscriber, about 2 MB; a minute of a storm."""

SUBSCRIBERS_MAX = 2000

STILL_SECONDS = 10.0
"""How long a stream is silent before its reader's rights are checked again."""

QUIET_SECONDS = 10.0
"""How long a subscriber gets no new cursor and coverage."""


BATCH_MAX = 500
"""Facts of one event, so that clients can show each event at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The facts of a subscription."""

    node: str | None = None
    kinds: frozenset[FactKind] | None = None

    @classmethod
    def of(
        cls, node: str | None, kinds: Collection[FactKind] | None
    ) -> "Wanted":
        """Return the facts that the arguments select."""
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
    """Return what the streams vouch for now, and where facts end."""
    now = datetime.now(UTC)
    account = Account(
        log=reading.log,
        streams=reading.streams,
        window=Window(),
        now=now,
        facts_end=await reading.facts_end(),
    )
    return cover(account)


@dataclass(slots=True)
class _Subscriber:
    """A subscriber and its queue."""

    wanted: Wanted
    behind: int
    """The position up to which it read the log itself."""

    batches: deque[FactBatch] = field(default_factory=deque)
    waiting: int = 0
    cut: bool = False
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    def wants(self, stored: StoredFact) -> bool:
        """Return whether a fact is wanted and new to the subscriber."""
        return stored.entry.position > self.behind and self.wanted.has(stored)

    def put(self, batch: FactBatch) -> None:
        """Queue a batch, or cut off a slow subscriber."""
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
        """Wait for a batch; None after being cut off."""
        while not self.batches and not self.cut:
            self.rung.clear()
            await self.rung.wait()
        if self.cut:
            return None
        batch = self.batches.popleft()
        self.waiting -= len(batch.facts)
        return batch


async def _coming(
    one: _Subscriber, still: Callable[[], Awaitable[None]] | None
) -> AsyncIterator[FactBatch]:
    """Yield the batches of a subscriber until it is cut off."""
    while True:
        try:
            async with asyncio.timeout(STILL_SECONDS if still else None):
                batch = await one.next()
        except TimeoutError:
            if still is not None:
                await still()
            continue
        if batch is None:
            return
        yield batch


class _Source:
    """One followed log, and its subscribers."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.failed: RecorderError | None = None
        self._published_at = time.monotonic()
        self._all: set[int] = set()
        self._by_node: dict[str, set[int]] = {}
        self._subscribers: dict[int, _Subscriber] = {}

    @property
    def seen(self) -> int:
        """The position up to which facts were delivered."""
        return self.reading.log.facts_to

    def __len__(self) -> int:
        return len(self._subscribers)

    @asynccontextmanager
    async def listening(self, one: _Subscriber) -> AsyncIterator[None]:
        """Notify a subscriber, from now on until left."""
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
        """Disconnect all subscribers, with the reason."""
        self.failed = error
        for one in self._subscribers.values():
            one.cut = True
            one.rung.set()

    async def advance(self) -> None:
        """Read what was committed since, and publish it."""
        later = await self.reading.again()
        if later.log.facts_to <= self.seen:
            if time.monotonic() - self._published_at > QUIET_SECONDS:
                self._publish((), later, await coverage_of(later))
            self.reading = later
            return
        pages = later.pages(FactListQuery(Selection()), after=self.seen)
        found = [stored async for page in pages for stored in page]
        coverage = await coverage_of(later)
        self.reading = later
        self._publish(found, later, coverage)

    def _publish(
        self,
        found: Sequence[StoredFact],
        later: Reading,
        coverage: Coverage,
    ) -> None:
        self._published_at = time.monotonic()
        end = str(Cursor.behind(later.log.id, later.log.facts_to))
        batches: dict[int, list[StoredFact]] = {}
        if not found:
            batches = {number: [] for number in self._subscribers}
        for stored in found:
            near = self._by_node.get(stored.fact.node or "", ())
            for number in (*self._all, *near):
                if self._subscribers[number].wants(stored):
                    batches.setdefault(number, []).append(stored)
        for number, facts in batches.items():
            one, cursor = self._subscribers[number], end
            if one.behind > later.log.facts_to:
                # It started where entries did not have facts yet.
                cursor = str(Cursor.behind(later.log.id, one.behind))
            one.put(FactBatch(facts=facts, cursor=cursor, coverage=coverage))


class Following:
    """All logs that have subscribers."""

    def __init__(self, logs: Logs, stop: asyncio.Event) -> None:
        self._logs = logs
        self._stop = stop
        self._group: asyncio.TaskGroup | None = None
        self._sources: dict[int, _Source] = {}
        self._known: dict[tuple[str | None, int | None], int] = {}
        """Logs by the cluster and number that were requested."""

        self._lock = asyncio.Lock()
        """Ensures that concurrent subscribers open a log only once."""

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
        """Disconnect all subscribers: the server stops."""
        self._stop.set()
        for source in self._sources.values():
            source.end(StoppingError("the server is stopping: reconnect"))

    async def follow(
        self,
        place: tuple[str | None, int | None],
        wanted: Wanted,
        after: str | None,
        still: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncIterator[FactBatch]:
        """Yield facts after a cursor, then as they are committed.

        ``still`` is awaited while nothing comes, and raises once the
        subscriber may no longer read.

        Raises:
            CursorError: it is of another log.
            ExpiredCursorError: what follows it was pruned, or it is within an
                entry whose facts were derived again.
            SlowReaderError: the subscriber does not keep up.
        """
        reading = await self._reading(place)
        self._logs.note_delivery(reading.log.id)
        spot = reading.log.size, INDEX_MAX
        if after is not None:
            reading, spot = await begun(reading, after)
            # Old facts are read before there is a queue that could fill.
            async for batch in caught_up(reading, wanted, spot):
                yield batch
            spot = max(spot[0], reading.log.facts_to), INDEX_MAX
        source = self._source(reading)
        if sum(map(len, self._sources.values())) >= SUBSCRIBERS_MAX:
            msg = "too many subscriptions are open: try again later"
            raise BusyError(msg)
        one = _Subscriber(wanted, spot[0])
        async with source.listening(one):
            between = source.reading
            one.behind = max(one.behind, between.log.facts_to)
            async for batch in caught_up(between, wanted, spot):
                yield batch
            last = str(Cursor.behind(between.log.id, one.behind))
            yield FactBatch(
                facts=[], cursor=last, coverage=await coverage_of(between)
            )
            async for batch in _coming(one, still):
                yield batch
                last = batch.cursor
        raise source.failed or SlowReaderError(last)

    async def _reading(self, place: tuple[str | None, int | None]) -> Reading:
        """Open a log, or reuse the one already followed.

        Hundreds may come at once when a server is back.
        """
        async with self._lock:
            source = self._sources.get(self._known.get(place, 0))
            if source is not None:
                return source.reading
            cluster, number = place
            reading = await self._logs.read(number, cluster=cluster)
            self._known[place] = reading.log.id
            return reading

    def _source(self, reading: Reading) -> _Source:
        source = self._sources.get(reading.log.id)
        if source is None:
            assert self._group is not None, "entered before it is asked"
            source = self._sources[reading.log.id] = _Source(reading)
            self._group.create_task(self._attend(source))
        return source

    async def _attend(self, source: _Source) -> None:
        """Publish what is committed while there are subscribers."""
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


async def begun(reading: Reading, after: str) -> tuple[Reading, Spot]:
    """Return where a subscriber resumes, and a reading that reaches it.

    Raises:
        CursorError: the log did not issue it.
        ExpiredCursorError: what follows it was pruned, or it is within an
            entry whose facts were derived again.
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
    """Yield the facts after a spot, up to the end of a reading."""
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
