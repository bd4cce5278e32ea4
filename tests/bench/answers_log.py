"""A log of days of a fleet, made in minutes: what questions are asked of.

Entries and facts are what intake makes of documents of a fleet and of the
incidents of the corpus, under other names and times. Block by block they go
past the writer into the tables, since no clock runs ten days for a benchmark:
a block of nothing but daily life is made once, and copied with other times.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from uuid import NAMESPACE_OID, uuid5

import asyncpg
import orjson

from recorder.facts import is_sign
from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch, Recovered
from recorder.model.fact import FactKind
from recorder.model.observation import Observation, WatchFrame
from recorder.model.reference import Resource
from recorder.store.dimension import Dimensions
from recorder.store.encoding import Encoder
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_identities,
    fact_nodes,
    fact_rows,
    fact_words,
)
from recorder.store.rows import ENTRY_COLUMNS, Numbers, entry_rows, identities
from tests.bench.fleet import Change, Fleet
from tests.bench.templates import EVENTS, JOBS, PODS
from tests.corpus.playing import observations
from tests.corpus.rewording import moment_of, rename, shifted
from tests.corpus.tape_lines import Lines, read_lines
from tests.corpus.told import Told
from tests.corpus.truth import read_truth

__all__ = ["BEGAN", "ENDED", "Filled", "fill"]

BEGAN = datetime(2026, 11, 11, tzinfo=UTC)
DAYS = 10
ENDED = BEGAN + timedelta(days=DAYS)
SLOT = timedelta(hours=6)
SLOTS = DAYS * 4
FLEET = 5_000
INCIDENTS = ("crash", "kernel-deadlock", "drain", "kubelet-restart")
INCIDENTS_COUNT = FLEET * DAYS * 5 // 1000
"""Five of a thousand nodes on each day."""

MIX = {EVENTS: 60, PODS: 25, JOBS: 15}
TAPES = Path(__file__).parents[1] / "corpus/tapes"
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

COPY_ENTRIES = """
    insert into recorder.entry ({columns})
    select {values} from recorder.entry
    where log_id = 1 and position > $1 and position <= $2
"""
COPY_FACTS = COPY_ENTRIES.replace("recorder.entry", "recorder.fact")
BATCH = """
    insert into recorder.batch values (1, $1, $2, $3, 1, $4, $5, $6)
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


@dataclass(frozen=True, slots=True)
class Filled:
    """What the log holds."""

    entries: int
    struck: Sequence[str]
    """Nodes that an incident of the corpus is about."""


class Filler:
    """Puts blocks of entries and their facts behind one another."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._dimensions = Dimensions(1)
        self.size = 0
        self.batches = 0

    def batch(self, seen: Sequence[Observation]) -> Batch:
        """Make entries of what was seen by somebody who knew nothing."""
        ledger = Ledger(
            Recovered(log=1, size=0, epoch=1, heads=[], streams={})
        )
        sequencer = Sequencer(ledger, Relisting(ledger))
        for observation in seen:
            sequencer.take(observation)
        return sequencer.seal()

    async def put(self, batch: Batch, at: datetime) -> None:
        """Put a batch with its facts, recorded at a time."""
        connection, numbers = self._connection, await self._numbers(batch)
        rows = entry_rows(batch, numbers, Encoder({}), log=1, recorded_at=at)
        await connection.copy_records_to_table(
            "entry", schema_name="recorder", columns=ENTRY_COLUMNS,
            records=rows,
        )  # fmt: skip
        found = fact_rows(batch, numbers, log=1, derivation=1, recorded_at=at)
        await connection.copy_records_to_table(
            "fact", schema_name="recorder", columns=FACT_COLUMNS,
            records=found,
        )  # fmt: skip
        await self._count(len(batch), at)

    async def copy(self, first: int, count: int, at: datetime) -> None:
        """Put a block once more, spread over a slot."""
        began = await self._connection.fetchval(
            "select min(observed_at) from recorder.entry"
            " where log_id = 1 and position = $1",
            first + 1,
        )
        spread = SLOT / timedelta(seconds=count / 500)
        for columns, question in (
            (ENTRY_COLUMNS, COPY_ENTRIES),
            (FACT_COLUMNS, COPY_FACTS),
        ):
            moved = {
                "recorded_at": "$3::timestamptz",
                "position": f"position + {self.size - first}",
                **{
                    name: f"$3 + ({name} - $4::timestamptz) * {spread}"
                    for name in ("at", "observed_at", "occurred_at")
                },
            }
            values = [moved.get(name, f'"{name}"') for name in columns]
            await self._connection.execute(
                question.format(
                    columns=", ".join(f'"{name}"' for name in columns),
                    values=", ".join(values),
                ),
                first,
                first + count,
                at,
                began,
            )
        await self._count(count, at)

    async def end(self) -> None:
        """Say how large the log is, and what vouches for it."""
        await self._connection.execute(STREAM, BEGAN, ENDED)
        await self._connection.execute(SIZE, self.size, self.batches, ENDED)
        await self._connection.execute("vacuum analyze")

    async def _count(self, count: int, at: datetime) -> None:
        self.batches += 1
        await self._connection.execute(
            BATCH, self.batches, self.size + 1, count, at, at, at + SLOT
        )
        self.size += count

    async def _numbers(self, batch: Batch) -> Numbers:
        connection, made = self._connection, self._dimensions
        drafts = [draft for _, draft in batch.drafts]
        words = {d.reason for d in drafts} | {d.actor for d in drafts}
        return Numbers(
            nodes=await made.nodes(
                connection,
                {d.node for d in drafts if d.node} | fact_nodes(batch),
            ),
            objects=await made.objects(
                connection, [*identities(batch), *fact_identities(batch)]
            ),
            resources=await made.resources(
                connection, {d.resource for d in drafts if d.resource}
            ),
            words=await made.words(
                connection, {w for w in words if w} | fact_words(batch)
            ),
        )


async def fill(connection: asyncpg.Connection, entries: int) -> Filled:
    """Fill log 1, which is empty, with about so many entries."""
    for day in range(DAYS + 1):
        at = BEGAN + timedelta(days=day)
        await connection.execute("select recorder.add_partition($1)", at)
    filler = Filler(connection)
    fleet = Fleet("questions", nodes=FLEET)
    deriver = Deriver(_Nothing())
    nodes = filler.batch([_frame(c) for c in fleet.listed()])
    await deriver.derive(nodes)
    await filler.put(_calm(_at(nodes, filler.size)), BEGAN)
    daily = filler.batch(
        [_frame(c) for c in islice(fleet.changes(MIX), entries // SLOTS)]
    )
    await deriver.derive(daily)
    daily = _at(_calm(daily), filler.size)
    first = filler.size
    await filler.put(daily, BEGAN)
    struck: list[str] = []
    chance = Random("incidents")
    tapes = {name: _told(name) for name in INCIDENTS}
    for slot in range(SLOTS):
        at = BEGAN + slot * SLOT
        await filler.copy(first, len(daily), at)
        for number in range(slot, INCIDENTS_COUNT, SLOTS):
            name = INCIDENTS[number % len(INCIDENTS)]
            when = at + SLOT * chance.random()
            tape, node = _renamed(tapes[name], number, when)
            batch = filler.batch([*observations(tape)])
            await Deriver(_Nothing()).derive(batch)
            await filler.put(_at(batch, filler.size), at)
            struck.append(node)
    await filler.end()
    return Filled(filler.size, struck)


class _Nothing:
    async def documents(self, positions: Sequence[int]) -> dict[int, bytes]:
        assert not positions, "a block needs nothing before it"
        return {}


def _frame(change: Change) -> WatchFrame:
    return WatchFrame(
        observed_at=change.at,
        resource=Resource.parse(change.resource),
        type=change.type,
        object=change.document,
    )


def _calm(batch: Batch) -> Batch:
    """Leave out what would be an incident that nobody injected."""
    facts = {
        position: [
            fact
            for fact in found
            if fact.kind is FactKind.APPEARED or not is_sign(fact)
        ]
        for position, found in batch.facts or ()
    }
    batch.facts = [(p, found) for p, found in facts.items() if found]
    return batch


def _at(batch: Batch, size: int) -> Batch:
    """Move a batch behind a position."""
    by = size + 1 - batch.first_position
    batch.first_position += by
    batch.facts = [(p + by, found) for p, found in batch.facts or ()]
    return batch


def _told(name: str) -> Told:
    return Told(
        read_lines(TAPES / f"{name}.tape.jsonl.zst"),
        read_truth(TAPES / f"{name}.truth.json"),
    )


def _renamed(told: Told, number: int, when: datetime) -> tuple[Lines, str]:
    """Let an incident happen to other nodes, at another time."""
    other = rename(told, number)
    begun = moment_of(other.tape.frames[0]["at"])

    def again(line: object) -> dict[str, object]:
        text = shifted(orjson.dumps(line).decode(), when - begun)
        text = UID.sub(
            lambda uid: str(uuid5(NAMESPACE_OID, f"{number} {uid[0]}")), text
        )
        changed: dict[str, object] = orjson.loads(text)
        return changed

    frames = [again(frame) for frame in other.tape.frames]
    return Lines(other.tape.header, frames), other.truth.verdicts[0].node
