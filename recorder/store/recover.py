"""Reads what a writer needs when it takes over a log."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import orjson

from recorder.intake.state import (
    Head,
    Jump,
    OpenGap,
    Recovered,
    ResumePoint,
    StreamKey,
    StreamState,
)
from recorder.model.reference import ObjectIdentity
from recorder.store.lookback import documents
from recorder.store.statement import Statement

HEADS = Statement.of("""
    select r.name as resource, k.api_group, k.name as kind, o.namespace,
      o.name, o.uid, h.epoch, h.version, h.resource_version, h.position,
      h.ready, h.heartbeats, h.heartbeat_at, h.substance, h.renewal
    from recorder.object_head h
    join recorder.object o using (object_id)
    join recorder.kind k using (kind_id)
    join recorder.resource r on r.resource_id = h.resource_id
    where h.log_id = :log
""")
STREAMS = Statement.of("""
    select r.name as resource, p.*
    from recorder.resume_point p join recorder.resource r using (resource_id)
    where p.log_id = :log
""")
JUMPS_MAX = 32
"""Jumps of the clock matter as long as Events live."""

JUMPS = Statement.of("""
    select position, observed_at from recorder.entry
    where log_id = :log and operation >= #refused
      and operation = #clock-jumped
    order by position desc limit :most
""")

NEWEST_REQUEST = Statement.of("""
    select max(occurred_at) from recorder.entry
    where log_id = :log and operation = #audit
""")

HEAD = Statement.of(
    "select size, epoch from recorder.log_head where log_id = :log"
)


async def recover(connection: asyncpg.Connection, log: int) -> Recovered:
    """Return what intake needs to continue a log.

    Memory: about 450 bytes for each live object.
    """
    head = await HEAD.fetch_row(connection, log=log)
    async with connection.transaction(readonly=True):
        heads = [
            _head(row) async for row in HEADS.cursor(connection, 2000, log=log)
        ]
    streams: dict[StreamKey, ResumePoint] = {
        (row["source"], row["resource"]): _resume_point(row)
        for row in await STREAMS.fetch(connection, log=log)
    }
    return Recovered(
        log=log,
        size=head["size"],
        epoch=head["epoch"],
        heads=heads,
        streams=streams,
        newest_request=await NEWEST_REQUEST.fetch_value(connection, log=log),
        jumps=await _jumps(connection, log),
    )


async def _jumps(connection: asyncpg.Connection, log: int) -> Sequence[Jump]:
    rows = await JUMPS.fetch(connection, log=log, most=JUMPS_MAX)
    positions = [row["position"] for row in rows]
    raws = await documents(connection, log, positions) if rows else {}
    return [
        Jump(
            row["position"],
            row["observed_at"],
            timedelta(seconds=orjson.loads(raws[row["position"]])["seconds"]),
        )
        for row in reversed(rows)
    ]


def _head(row: Any) -> Head:
    version = row["version"]
    return Head(
        resource=row["resource"],
        identity=ObjectIdentity(
            row["api_group"],
            row["kind"],
            row["namespace"],
            row["name"],
            row["uid"],
        ),
        epoch=row["epoch"],
        resource_version=row["resource_version"] or ""
        if version is None
        else str(version),
        position=row["position"],
        ready=row["ready"],
        heartbeats=row["heartbeats"],
        heartbeat_at=row["heartbeat_at"],
        substance=row["substance"],
        renewal=row["renewal"],
    )


def _resume_point(row: Any) -> ResumePoint:
    gap = None
    if row["gap_position"] is not None:
        gap = OpenGap(
            position=row["gap_position"],
            reason=row["gap_reason"],
            since=row["gap_since"],
            resource_version=row["gap_version"],
        )
    return ResumePoint(
        state=StreamState(row["state"]),
        completed=row["completed"],
        pending=row["pending"],
        seen=set(row["seen"]),
        began_at=row["began_at"],
        began_version=row["began_version"],
        vouched_until=row["vouched_until"],
        settled_until=row["settled_until"],
        last_frame_at=row["last_frame_at"],
        entries=row["entries"],
        gap=gap,
    )
