"""Whether a log holds together, judged by its tables alone.

`check_log` reads everything in one snapshot and says in words what no log may
be, whatever crashed while it was written. What the cluster really did it does
not know: that is for the oracles.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

import asyncpg
import orjson

from recorder.model.entry import Operation
from recorder.store.codes import OPERATIONS, SOURCES
from recorder.store.encoding import DELTA, SMALL_DELTA
from recorder.store.lookback import load_decoder
from recorder.store.rows import EVENT_COLLECTIONS
from tests.crash.fact_checking import FACTS, fact_problems
from tests.support.postgres import connected

__all__ = [
    "Snapshot",
    "check_log",
    "find_log",
    "problems",
    "snapshot",
    "verified",
]

DELTAS = {DELTA, SMALL_DELTA}
VERSIONS = {Operation.LISTED, Operation.ADDED, Operation.MODIFIED}
ENDS = {Operation.DELETED, Operation.ABSENT}
WATCHED = {Operation.ADDED, Operation.MODIFIED, Operation.DELETED}

FIND = "select log_id from recorder.log where cluster_uid = $1"
HEAD = "select * from recorder.log_head where log_id = $1"
BATCHES = "select * from recorder.batch where log_id = $1 order by batch"
ENTRIES = """
    select e.*, e.tableoid::regclass::text as partition, r.name as resource,
      (e.object_id is not null and o.object_id is null)
      or (e.node_id is not null and n.node_id is null)
      or (e.reason_id is not null and w.word_id is null)
      or (e.actor_id is not null and a.word_id is null)
      or (e.resource_id is not null and r.resource_id is null)
      or (o.object_id is not null and k.kind_id is null) as nameless
    from recorder.entry e
    left join recorder.resource r using (resource_id)
    left join recorder.object o on o.object_id = e.object_id
      and o.log_id = e.log_id
    left join recorder.kind k using (kind_id)
    left join recorder.node n on n.node_id = e.node_id
      and n.log_id = e.log_id
    left join recorder.word w on w.word_id = e.reason_id
    left join recorder.word a on a.word_id = e.actor_id
    where e.log_id = $1 order by e.position
"""
POINTS = """
    select p.*, r.name as resource from recorder.resume_point p
    left join recorder.resource r using (resource_id) where log_id = $1
"""
HEADS = "select * from recorder.object_head where log_id = $1"
PARTITIONS = "select * from recorder.partition"
ALIKE = """
    select count(*) from (
      select from recorder.object where log_id = $1
      group by kind_id, namespace, name, uid having count(*) > 1) as twice
"""

Row = Any
"""An `asyncpg.Record`, or a dictionary in its place."""


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The rows of one log, at one moment."""

    head: Row
    batches: Sequence[Row]
    entries: Sequence[Row]
    points: Sequence[Row]
    heads: Sequence[Row]
    partitions: Sequence[Row]
    alike: int
    decoder: Any
    facts: Sequence[Row] = ()
    documents: dict[int, bytes] = field(default_factory=dict)


async def check_log(dsn: str, log: int = 1) -> list[str]:
    """Return all that is wrong with a log; one that is not is none."""
    async with connected(dsn) as connection:
        return await verified(connection, log)


async def verified(connection: asyncpg.Connection, log: int) -> list[str]:
    """Do the same over a connection that is there."""
    found = await snapshot(connection, log)
    return [] if found is None else list(problems(found))


async def find_log(connection: asyncpg.Connection, cluster_uid: str) -> int:
    """Return the number of a cluster's log; 0 if none is made."""
    found: int | None = await connection.fetchval(FIND, cluster_uid)
    return found or 0


async def snapshot(
    connection: asyncpg.Connection, log: int = 1
) -> Snapshot | None:
    """Read one log as it is at one moment; None if it was not made."""
    async with connection.transaction(
        isolation="repeatable_read", readonly=True
    ):
        head = await connection.fetchrow(HEAD, log)
        if head is None:
            return None
        return Snapshot(
            head=head,
            batches=await connection.fetch(BATCHES, log),
            entries=await connection.fetch(ENTRIES, log),
            points=await connection.fetch(POINTS, log),
            heads=await connection.fetch(HEADS, log),
            partitions=await connection.fetch(PARTITIONS),
            alike=await connection.fetchval(ALIKE, log),
            decoder=await load_decoder(connection),
            facts=await connection.fetch(FACTS, log),
        )


def problems(log: Snapshot) -> Iterator[str]:
    """Yield what is wrong, in words."""
    found = list(_positions(log))
    yield from found
    if found:
        return  # whatever else there is follows from it
    yield from _batches(log)
    yield from _documents(log)
    yield from _epochs(log)
    yield from _gaps(log)
    yield from _points(log)
    yield from _heads(log)
    yield from _partitions(log)
    yield from fact_problems(log.entries, log.facts)


def _positions(log: Snapshot) -> Iterator[str]:
    positions = [row["position"] for row in log.entries]
    if positions != list(range(1, log.head["size"] + 1)):
        yield f"positions are not 1 to {log.head['size']}: {positions}"
    for row in log.entries:
        if row["nameless"]:
            yield f"entry {row['position']} holds a number without a name"
    if log.alike:
        yield f"{log.alike} objects have two numbers"


def _batches(log: Snapshot) -> Iterator[str]:
    numbers = [row["batch"] for row in log.batches]
    if numbers != list(range(1, log.head["batches"] + 1)):
        yield f"batches are not 1 to {log.head['batches']}: {numbers}"
    first = 1
    for row in log.batches:
        if row["first_position"] != first or row["entries"] < 1:
            yield f"batch {row['batch']} does not begin at {first}"
        mine = log.entries[first - 1 : first - 1 + row["entries"]]
        first += row["entries"]
        yield from _batch(row, mine)
    if first != log.head["size"] + 1:
        yield f"batches end at {first - 1} of {log.head['size']}"
    for what in ("term", "recorded_at"):
        for before, after in pairwise([*log.batches, log.head]):
            if after[what] < before[what]:
                yield f"{what} decreases after batch {before['batch']}"


def _batch(batch: Row, entries: Sequence[Row]) -> Iterator[str]:
    if {row["recorded_at"] for row in entries} != {batch["recorded_at"]}:
        yield f"batch {batch['batch']} was not recorded at one time"
        return
    observed = [row["observed_at"] for row in entries]
    bounds = batch["observed_min"], batch["observed_max"]
    if (min(observed), max(observed)) != bounds:
        yield f"batch {batch['batch']} has wrong bounds of observation"


def _documents(log: Snapshot) -> Iterator[str]:
    rows = {row["position"]: row for row in log.entries}
    for position, row in rows.items():
        keyframe, distance = None, row["base_distance"]
        if (distance is not None) != (row["encoding"] in DELTAS):
            yield f"entry {position} is half a delta"
            continue
        if distance is not None:
            base = rows.get(position - distance)
            if base is None or base["encoding"] in DELTAS:
                yield f"entry {position} has no keyframe"
                continue
            if base["partition"] != row["partition"]:
                yield f"entry {position} has a keyframe of another partition"
            keyframe = log.documents.get(base["position"])
        try:
            raw = log.decoder.decode(row["payload"], row["encoding"], keyframe)
            orjson.loads(raw)
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is said
            yield f"entry {position} cannot be read: {exc!r}"
            raw = b"{}"
        log.documents[position] = raw


def _epochs(log: Snapshot) -> Iterator[str]:
    epoch = 1
    for row in log.entries:
        if _operation(row) is Operation.EPOCH_BEGAN:
            epoch += 1
        if row["epoch"] != epoch:
            yield f"entry {row['position']} is of epoch {row['epoch']}"
    if log.head["epoch"] != epoch:
        yield f"the log is in epoch {log.head['epoch']} and not in {epoch}"


def _gaps(log: Snapshot) -> Iterator[str]:
    """Every gap is opened once, closed at most once, and known if open."""
    opened: dict[int, str | None] = {}
    for row in log.entries:
        operation, position = _operation(row), row["position"]
        if operation is Operation.GAP_OPENED:
            if row["resource"] in opened.values():
                yield f"gap {position} is opened within another"
            opened[position] = row["resource"]
        elif operation is Operation.GAP_CLOSED:
            closed = orjson.loads(log.documents[position])
            begun = int(closed["opened"].rpartition("/")[2])
            if opened.pop(begun, None) != row["resource"]:
                yield f"gap {begun} is closed by {position} and not open"
    known = {
        point["gap_position"]: point["resource"]
        for point in log.points
        if point["gap_position"] is not None
    }
    if known != opened:
        yield f"open gaps are {opened}, and resume points say {known}"


def _points(log: Snapshot) -> Iterator[str]:
    counted: dict[tuple[str, str], int] = defaultdict(int)
    newest: dict[tuple[str, str], int] = defaultdict(int)
    for row in log.entries:
        if row["resource"] is None:
            continue
        key = SOURCES[row["source"]], row["resource"]
        counted[key] += 1
        if (
            row["epoch"] == log.head["epoch"]
            and _operation(row) in WATCHED
            and row["version"] is not None
        ):
            newest[key] = max(newest[key], row["version"])
    points = {
        (point["source"], point["resource"]): point for point in log.points
    }
    for key in counted.keys() - points.keys():
        yield f"{key} has entries and no resume point"
    for key, point in points.items():
        if point["entries"] != counted[key]:
            yield f"{key} has {counted[key]} entries, not {point['entries']}"
        yield from _moved(point, newest[key])


def _moved(point: Row, newest: int) -> Iterator[str]:
    """Yield where a watch would continue beyond, or before, its entries."""
    name = point["resource"]
    completed, pending = point["completed"], point["pending"]
    if pending is not None and pending.isdecimal():
        if newest > int(pending):
            yield f"{name} has version {newest}, and its pending is {pending}"
        if completed is not None and int(completed) > int(pending):
            yield f"{name} completed {completed} before it saw it"
    if pending is None and (completed is not None or point["seen"]):
        yield f"{name} has seen what it has not begun"
    if (point["began_at"] is None) != (point["began_version"] is None):
        yield f"{name} began, and not at a version"


def _alive(log: Snapshot) -> dict[int, Row]:
    """The newest version of each object that its entries leave alive."""
    alive: dict[int, Row] = {}
    for row in log.entries:
        thing = row["object_id"]
        if thing is None or row["resource"] in EVENT_COLLECTIONS:
            continue
        if _operation(row) in VERSIONS:
            alive[thing] = row
        elif _operation(row) in ENDS:
            alive.pop(thing, None)
    return alive


def _heads(log: Snapshot) -> Iterator[str]:
    alive = _alive(log)
    heads = {row["object_id"]: row for row in log.heads}
    for thing in heads.keys() ^ alive.keys():
        where = "no head" if thing in alive else "a head and no entry"
        yield f"object {thing} has {where}"
    for thing in heads.keys() & alive.keys():
        head, entry = heads[thing], alive[thing]
        if head["position"] != entry["position"]:
            yield (
                f"object {thing} is at {entry['position']} and its head at"
                f" {head['position']}"
            )
        elif head["epoch"] != entry["epoch"]:
            yield f"the head of object {thing} is of another epoch"
        elif not head["heartbeats"] and head["version"] != entry["version"]:
            yield f"the head of object {thing} has another version"


def _partitions(log: Snapshot) -> Iterator[str]:
    bounds = {row["name"]: row for row in log.partitions}
    for row in log.entries:
        name = row["partition"].rpartition(".")[2]
        partition = bounds.get(name)
        if partition is None:
            yield f"partition {name} is not known"
        elif not _holds(partition, row["recorded_at"], row["observed_at"]):
            yield f"entry {row['position']} is outside of partition {name}"


def _holds(
    partition: Mapping[str, Any], recorded: datetime, observed: datetime
) -> bool:
    within: bool = partition["lower"] <= recorded < partition["upper"]
    seen: bool = (
        partition["observed_min"] <= observed <= partition["observed_max"]
    )
    return within and seen


def _operation(row: Row) -> Operation:
    return OPERATIONS[row["operation"]]
