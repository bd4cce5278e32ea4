"""Checks heads and resume points, from which intake continues, by entries.

The head of an object is its newest version, unless it is deleted. Updates of
Nodes and Leases that change nothing are counted in the head and are not
entries: their count, time and newest version cannot be checked. A resume point
has the open gap; until when it is complete cannot be checked.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any, NamedTuple, TypeAlias

import asyncpg
import orjson

from recorder.facts.classify import node_ready, substance
from recorder.integrity.chain import Problem
from recorder.model.entry import Operation
from recorder.model.reference import EntryName, Resource
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.lookback import documents
from recorder.store.read_batches import LogEnd
from recorder.store.rows import EVENT_COLLECTIONS
from recorder.store.statement import Statement

OBJECTS_AT_ONCE = 1_000
SAMPLES = 20
"""How many places in the objects are checked if not all objects are."""

# One statement sees one state, even while a writer appends.
HEADS = Statement.of("""
    select o.object_id, h.object_id is not null as has_head, h.position,
      h.epoch, h.version, h.resource_version, h.ready, h.substance,
      r.name as resource, n.position as newest, e.operation,
      e.epoch as entry_epoch, e.version as entry_version,
      e.resource_version as entry_resource_version,
      f.name as entry_resource
    from (
      select object_id from recorder.object
      where log_id = :log and object_id > :after
      order by object_id limit :most) o
    left join recorder.object_head h on h.object_id = o.object_id
    left join recorder.resource r on r.resource_id = h.resource_id
    left join lateral (
      select max(p.position) as position from recorder.entry p
      where p.object_id = o.object_id and p.log_id = :log
        and p.operation <= #absent
        and p.resource_id <> all (array(
          select resource_id from recorder.resource
          where name = any(:events::text[])))) n on true
    left join recorder.entry e
      on e.log_id = :log and e.position = n.position
    left join recorder.resource f on f.resource_id = e.resource_id
    order by o.object_id
""")
BOUNDS = Statement.of("""
    select min(object_id), max(object_id) from recorder.object
    where log_id = :log
""")
WITHOUT_OBJECT = Statement.of("""
    select h.position from recorder.object_head h
    where h.log_id = :log and not exists (
      select from recorder.object o
      where o.object_id = h.object_id and o.log_id = h.log_id)
    order by 1 limit 10
""")
# The newest gap of each stream, and the entries after it that close gaps.
RESUME_POINTS = Statement.of("""
    with point as (
      select p.*, s.code from recorder.resume_point p
      join unnest(:words::text[], :codes::int2[]) as s (word, code)
        on s.word = p.source
      where p.log_id = :log),
    end_of_gap as (
      select source as code, resource_id, position, operation,
        max(position) filter (where operation = #gap-opened)
          over (partition by source, resource_id) as opened
      from recorder.entry
      where log_id = :log and operation >= 100
        and operation in (#gap-opened, #gap-closed)),
    gap as (
      select code, resource_id, opened, array_agg(position) filter (
        where operation = #gap-closed and position > opened) as closed
      from end_of_gap group by code, resource_id, opened)
    select r.name as resource, p.source, p.gap_position, p.gap_since,
      p.gap_reason, p.gap_version, g.code, g.opened, g.closed
    from point p full join gap g using (code, resource_id)
    join recorder.resource r using (resource_id)
""")

Row: TypeAlias = asyncpg.Record | Mapping[str, Any]

MODIFIED = OPERATION_CODES[Operation.MODIFIED]


class _Said(NamedTuple):
    """The content of an entry of a gap; empty if it cannot be read.

    An altered entry is a problem of its batch.
    """

    opened: int | None = None
    """The position of the gap that it closes."""

    began: tuple[datetime | None, str, str | None] | None = None


async def check_heads(
    connection: asyncpg.Connection, end: LogEnd, seed: str | None
) -> AsyncIterator[Problem]:
    """Yield problems of heads that are not the newest version.

    With a seed some objects are checked, else all.
    """
    for (position,) in await WITHOUT_OBJECT.fetch(connection, log=end.log):
        yield _altered(end, position, "is of an object that there is not")
    first, last = await BOUNDS.fetch_row(connection, log=end.log)
    if first is None:
        return
    starts = [first - 1]
    if seed is not None:
        random = Random(seed)  # noqa: S311 - it hides nothing
        starts += [random.randint(first, last) for _ in range(SAMPLES)]
    for start in starts:
        after: int | None = start
        while after is not None:
            rows = await HEADS.fetch(
                connection,
                log=end.log,
                after=after,
                most=OBJECTS_AT_ONCE,
                events=list(EVENT_COLLECTIONS),
            )
            async for problem in _checked(connection, end, rows):
                yield problem
            is_more = len(rows) == OBJECTS_AT_ONCE and seed is None
            after = rows[-1]["object_id"] if is_more else None


async def _checked(
    connection: asyncpg.Connection, end: LogEnd, rows: Sequence[asyncpg.Record]
) -> AsyncIterator[Problem]:
    digested: list[Row] = []
    for row in rows:
        wrong = _wrong(end, row)
        if wrong is not None:
            yield _altered(end, row["position"] or row["newest"], wrong)
        elif row["has_head"] and row["substance"] is not None:
            digested.append(row)
    if digested:
        wanted = [row["newest"] for row in digested]
        raws = await documents(connection, end.log, wanted)
        for problem in _digested(end, digested, raws):
            yield problem


def _wrong(end: LogEnd, row: Row) -> str | None:
    """Return how a head differs from the newest entry, if it does."""
    newest, operation = row["newest"], row["operation"]
    is_alive = operation is not None and operation <= MODIFIED
    if not row["has_head"]:
        # Versions of deleted objects in dropped days may be kept.
        is_known = is_alive and newest > end.pruned_positions
        return "is missing: the object is not gone" if is_known else None
    if newest is None or not is_alive:
        return "is of an object that is gone"
    if row["position"] != newest:
        return f"is not its newest entry, which is {end.log}/{newest}"
    if (row["epoch"], row["resource"]) != (
        row["entry_epoch"],
        row["entry_resource"],
    ):
        return "has another epoch or resource than its entry"
    if not _is_version_of(row):
        return "has another version than its entry"
    return None


def _is_version_of(row: Row) -> bool:
    known = row["version"], row["resource_version"]
    entered = row["entry_version"], row["entry_resource_version"]
    if row["substance"] is None or None in (known[0], entered[0]):
        return row["substance"] is not None or known == entered
    return bool(known[0] >= entered[0])


def _digested(
    end: LogEnd, rows: list[Row], raws: Mapping[int, bytes]
) -> Iterator[Problem]:
    for row in rows:
        raw = raws.get(row["newest"])
        if raw is None:
            continue
        resource = Resource.parse(row["resource"])
        ready = None
        if row["resource"] == "v1/nodes":
            ready = node_ready(raw) == "True"
        if (row["substance"], row["ready"]) != (
            substance(raw, resource),
            ready,
        ):
            says = "says something else than its entry"
            yield _altered(end, row["newest"], says)


def _altered(end: LogEnd, position: int, says: str) -> Problem:
    return Problem(
        kind="object-head-altered",
        position=position,
        says=f"the head of an object, entry {end.log}/{position}, {says}",
    )


async def check_resume_points(
    connection: asyncpg.Connection, end: LogEnd
) -> AsyncIterator[Problem]:
    """Yield problems of resume points that lack the open gap or differ."""
    rows = await RESUME_POINTS.fetch(
        connection,
        log=end.log,
        words=list(SOURCE_CODES),
        codes=list(SOURCE_CODES.values()),
    )
    wanted = {
        position
        for row in rows
        if row["opened"] is not None
        for position in (row["opened"], *(row["closed"] or ()))
    }
    raws = await documents(connection, end.log, sorted(wanted))
    said = {position: _said(raw) for position, raw in raws.items()}
    for row in rows:
        wrong = _misresumed(end, row, said)
        if wrong is not None:
            yield Problem(
                kind="resume-altered",
                position=row["gap_position"] or row["opened"],
                says=f"the resume point of {row['resource']} {wrong}",
            )


def _misresumed(
    end: LogEnd, row: Row, said: Mapping[int, _Said]
) -> str | None:
    """Say what of a resume point does not follow from the gap entries."""
    gap, opened = row["gap_position"], row["opened"]
    behind = [said.get(position) for position in row["closed"] or ()]
    closed = {one.opened for one in behind if one is not None}
    is_open = opened is not None and opened not in closed
    if row["source"] is None:
        missing = f"is missing: {_gap(end, opened)} is open"
        return missing if is_open else None
    if gap != (opened if is_open else None):
        newest = _gap(end, opened if is_open else None)
        return f"says that {_gap(end, gap)} is open, and its entries {newest}"
    if gap is None:
        return None
    began = row["gap_since"], row["gap_reason"], row["gap_version"]
    if said.get(gap, _Said()).began not in (None, began):
        return f"says otherwise than its entry how {_gap(end, gap)} began"
    return None


def _said(raw: bytes) -> _Said:
    try:
        said = orjson.loads(raw)
        since = said["from"] and datetime.fromisoformat(said["from"])
        began = since, said["reason"], said["resource_version_before"]
        closes = "opened" in said
        opened = EntryName.parse(said["opened"]).position if closes else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return _Said()
    return _Said(opened, began)


def _gap(end: LogEnd, position: int | None) -> str:
    return "no gap" if position is None else f"the gap {end.log}/{position}"
