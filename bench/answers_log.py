"""A log of days of a fleet, made in minutes, for benchmarks of queries.

Entries and facts are what intake makes of documents of a fleet and of the
incidents of the corpus, under other names and times. Three hours of daily life
are made once and put again and again (`blocks`), the incidents between them
one by one. They bypass the writer and go into the tables, since no clock runs
ten days for a benchmark; documents of daily life, which no query opens, are
left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import NamedTuple

import asyncpg
import msgspec

from bench.blocks import Block, BlockBatch
from bench.daily_life import Again, call, daily_life
from bench.fleet import Fleet
from bench.struck import (
    beside_struck,
    incident,
    rack_of,
    struck_nodes,
)
from bench.tapes import frame
from recorder.facts import Bearing, KnownStates
from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch, Recovered
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.observation import Observation
from recorder.store.details import DetailEncoder
from recorder.store.dimension import Dimensions
from recorder.store.encoding import Encoder
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_rows,
    name_facts,
)
from recorder.store.names import Names, Numbers
from recorder.store.rows import ENTRY_COLUMNS, entry_rows, name_entries
from recorder.store.shipped import shipped_dictionaries
from recorder.store.timestamps import take_ticks

__all__ = [
    "BEGAN",
    "ENDED",
    "STATES_MAX",
    "Filled",
    "Nothing",
    "Struck",
    "batches",
    "fill",
    "filled",
    "list_struck",
]

BEGAN = datetime(2026, 11, 11, tzinfo=UTC)
DAYS = 10
ENDED = BEGAN + timedelta(days=DAYS)
SLOT = timedelta(hours=3)
SLOTS = DAYS * 8
FULL = 0.85
"""Of a slot that changes are spread over; the last lives end in the rest."""

FLEET = 5_000
INCIDENTS_COUNT = FLEET * DAYS * 5 // 1000
"""Five of a thousand nodes on each day."""

BEGINNING = 0.8
"""Of a slot, in which incidents begin, so that they end in it."""

BATCH = 1_000
LATE = timedelta(milliseconds=100)
"""From the last that a batch holds to its commit."""

STUB = b'{"metadata":{"annotations":{"left-out":"daily life"}}}'
STATES_MAX = 1 << 20

PUT_BATCH = """
    insert into recorder.batch values (1, $1, $2, $3, 1, $4, $5, $6)
"""
INDICES = """
    select indexname, replace(indexdef, ' ON ONLY ', ' ON ') as made
    from pg_indexes
    where schemaname = 'recorder' and tablename in ('entry', 'fact')
"""
SESSION = """
    set synchronous_commit = off;
    set maintenance_work_mem = '1GB';
    set max_parallel_maintenance_workers = 2
"""
WIDEN = """
    update recorder.partition p
    set observed_min = b.least, observed_max = b.most
    from (select date_trunc('day', recorded_at, 'UTC') as day,
        min(observed_min) as least, max(observed_max) as most
      from recorder.batch group by 1) b
    where p.lower = b.day
"""
STREAM = """
    insert into recorder.resume_point (log_id, source, resource_id, state,
      completed, began_at, began_version, vouched_until)
    select 1, 'watch', resource_id, 'live', '1', $1, '1', $2
    from recorder.resource where name like '%/%'
    on conflict do nothing
"""
SIZE = """
    update recorder.log_head set size = $1, batches = $2, recorded_at = $3
    where log_id = 1
"""


class Struck(NamedTuple):
    """A node with an incident of the corpus."""

    node: str
    rack: str
    """Its rack, with seven healthy nodes."""

    around: datetime
    """When the part of the day began in which it happened."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What the log holds."""

    entries: int
    struck: Sequence[Struck]


class Filler:
    """Appends blocks of entries and their facts."""

    def __init__(
        self, connection: asyncpg.Connection, details: DetailEncoder
    ) -> None:
        self._connection = connection
        self._details = {"recorder": details, "block": DetailEncoder({})}
        self._dimensions = Dimensions(1)
        self.size = 0
        self.batches = 0

    async def put(self, batch: Batch, at: datetime) -> None:
        """Put a batch with its facts, recorded at a time."""
        _moved(batch, self.size)
        await self.write(batch, at, "recorder")
        observed = [draft.observed_at for _, draft in batch.drafts]
        self.batches += 1
        await self._connection.execute(
            PUT_BATCH, self.batches, self.size + 1, len(batch), at,
            min(observed), max(observed),
        )  # fmt: skip
        self.size += len(batch)

    async def write(self, batch: Batch, at: datetime, schema: str) -> None:
        """Write the rows of a batch, into the log or beside it."""
        connection, numbers = self._connection, await self._numbers(batch)
        encoder = Encoder({}, keyframe_bytes_max=0)
        rows = entry_rows(batch, numbers, encoder, log=1, recorded_at=at)
        await connection.copy_records_to_table(
            "entry", schema_name=schema, columns=ENTRY_COLUMNS, records=rows
        )
        found = fact_rows(
            batch, numbers, self._details[schema], derivation=1, recorded_at=at
        )
        await connection.copy_records_to_table(
            "fact", schema_name=schema, columns=FACT_COLUMNS, records=found
        )

    async def newest_object(self) -> int:
        """Return the highest number of an object."""
        found: int = await self._connection.fetchval(
            "select max(object_id) from recorder.object"
        )
        return found

    async def end(self, began: datetime) -> None:
        """Set the size of the log, and what vouches for it."""
        await self._connection.execute(STREAM, began, ENDED)
        await self._connection.execute(WIDEN)
        await self._connection.execute(SIZE, self.size, self.batches, ENDED)

    async def _numbers(self, batch: Batch) -> Numbers:
        names = Names()
        name_entries(batch, names)
        name_facts(batch, names)
        return await self._dimensions.numbers(self._connection, names)


async def filled(connection: asyncpg.Connection) -> Filled:
    """Return the contents of a log that was filled earlier."""
    size = await connection.fetchval(
        "select size from recorder.log_head where log_id = 1"
    )
    return Filled(size, list_struck())


async def fill(
    connections: Sequence[asyncpg.Connection],
    entries: int,
    *,
    earlier: int = 0,
) -> Filled:
    """Fill log 1, which is empty, with about so many entries in ten days.

    The two connections work side by side.

    Args:
        connections: of the owner.
        entries: of the ten days.
        earlier: days of the same daily life before them, without incidents.
    """
    connection = connections[0]
    for one in connections:
        await one.execute(SESSION)
        await take_ticks(one)
    for day in range(-earlier, DAYS + 1):
        at = BEGAN + timedelta(days=day)
        await connection.execute("select recorder.add_partition($1)", at)
    indices = await connection.fetch(INDICES)
    for index in indices:
        await connection.execute(f"drop index recorder.{index['indexname']}")
    details = DetailEncoder(await shipped_dictionaries(connection))
    filler = Filler(connection, details)
    pace = SLOT * FULL / (entries // SLOTS)
    fleet = Fleet("questions", nodes=FLEET, pace=pace)
    struck = list_struck()
    call(fleet, [hit.node for hit in struck])
    first = BEGAN - timedelta(days=earlier)
    began = await _put_nodes(filler, fleet, len(struck), first)
    known = await filler.newest_object()
    block = Block(connections, known, began, details)
    await _make(block, filler, fleet, entries // SLOTS)
    slots_before = earlier * SLOTS // DAYS
    for number in range(slots_before + SLOTS):
        await _put_slot(filler, block, number - slots_before, Again(number))
    await block.drop()
    await filler.end(first)
    await _index(connections, [index["made"] for index in indices])
    return Filled(filler.size, struck)


def list_struck() -> list[Struck]:
    """Return the nodes that incidents strike, in the order of number."""
    return [
        Struck(node, rack_of(number), BEGAN + number % SLOTS * SLOT)
        for number, node in enumerate(struck_nodes(INCIDENTS_COUNT))
    ]


async def _put_nodes(
    filler: Filler, fleet: Fleet, struck: int, when: datetime
) -> datetime:
    """List the nodes, at a time, but those that come with their incident.

    Returns what time it is in the fleet then.
    """
    listed = list(fleet.listed())
    others = beside_struck(listed[struck:], struck)
    for batch in batches(map(frame, others)):
        seen = {"operation": Operation.LISTED, "observed_at": when}
        batch.drafts = [
            (epoch, msgspec.structs.replace(draft, **seen))
            for epoch, draft in batch.drafts
        ]
        # As if they had not been entered as new.
        batch.read, batch.states = {}, KnownStates()
        await Deriver(Nothing()).derive(batch)
        await filler.put(_calm(batch), when)
    return listed[-1].at


async def _make(
    block: Block, filler: Filler, fleet: Fleet, count: int
) -> None:
    """Make the block of daily life beside the log."""
    await block.create()
    deriver = Deriver(Nothing(), states_max=STATES_MAX)
    for batch in batches(frame(c) for c in daily_life(fleet, count)):
        await deriver.derive(batch)
        batch.drafts = [
            (epoch, msgspec.structs.replace(draft, raw=STUB))
            for epoch, draft in batch.drafts
        ]
        observed = [draft.observed_at for _, draft in batch.drafts]
        at = max(observed) + LATE
        assert at < block.began + SLOT, "a block fits into its slot"
        await filler.write(_calm(batch), at, "block")
        until = batch.first_position - 1 + len(batch)
        block.batches.append(
            BlockBatch(until, len(batch), at, min(observed), max(observed))
        )
    await block.complete()


async def _put_slot(
    filler: Filler, block: Block, slot: int, again: Again
) -> None:
    """Put the block, and the incidents in it where they happened.

    Slots before the ten days are negative, and nothing happens in them.
    """
    at = BEGAN + slot * SLOT
    await block.put_objects(again)
    chance = Random(f"incidents of {slot}")
    happened = sorted(
        (
            incident(number, at + SLOT * BEGINNING * chance.random())
            for number in _incidents_of(slot)
        ),
        key=lambda seen: seen[-1].observed_at,
    )
    places = [
        block.until(seen[-1].observed_at - at + block.began)
        for seen in happened
    ]
    bounds = [0, *places, len(block.batches)]
    for span, seen in zip(pairwise(bounds), [*happened, ()], strict=True):
        end = filler.size, filler.batches
        filler.size, filler.batches = await block.put(span, end, again, at)
        for batch in batches(seen) if seen else ():
            await Deriver(Nothing()).derive(batch)
            await filler.put(batch, seen[-1].observed_at + LATE)


def _incidents_of(slot: int) -> Iterable[int]:
    return range(slot, INCIDENTS_COUNT, SLOTS) if slot >= 0 else ()


async def _index(
    connections: Sequence[asyncpg.Connection], made: Sequence[str]
) -> None:
    for statement in made:
        await connections[0].execute(statement)
    await connections[0].execute("vacuum analyze")


def batches(seen: Iterable[Observation]) -> Iterator[Batch]:
    """Make entries of what was seen, starting without any memory."""
    ledger = Ledger(Recovered(log=1, size=0, epoch=1, heads=[], streams={}))
    sequencer = Sequencer(ledger, Relisting(ledger))
    for observation in seen:
        sequencer.take(observation)
        if ledger.entries >= BATCH:
            yield sequencer.seal()
    yield sequencer.seal()


class Nothing:
    """A log without documents."""

    async def documents(self, positions: Sequence[int]) -> dict[int, bytes]:
        assert not positions, "a block needs nothing before it"
        return {}


def _calm(batch: Batch) -> Batch:
    """Leave out what would look like another incident."""
    facts = {
        position: [
            fact
            for fact in found
            if fact.kind is FactKind.APPEARED
            or fact.marks.bearing is not Bearing.SIGN
        ]
        for position, found in batch.facts or ()
    }
    batch.facts = [(p, found) for p, found in facts.items() if found]
    return batch


def _moved(batch: Batch, size: int) -> None:
    """Move a batch to the end of the log."""
    by = size + 1 - batch.first_position
    batch.first_position += by
    batch.facts = [(p + by, found) for p, found in batch.facts or ()]
