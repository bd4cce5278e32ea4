"""Reading: which logs there are, and where each stands."""

from collections.abc import Sequence

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.model.reference import EntryName
from recorder.report.gap import Gap
from recorder.report.ports import Log, Stream
from recorder.store.tables import (
    Query,
    QueryRow,
    log,
    log_head,
    resource,
    resume_point,
)

__all__ = ["read_logs", "read_streams"]

BOOKKEEPING = "tape"
"""Source of the row that says how far a tape was played: no stream."""


def logs_query() -> Query:
    """Select every log, oldest first."""
    held = log_head.c.expires_at > func.clock_timestamp()
    return (
        select(
            log.c.log_id,
            log.c.kind,
            log.c.cluster_name,
            log.c.cluster_uid,
            log.c.kubernetes,
            log.c.redaction_key_id,
            log_head.c.size,
            # Without an entry the time is "-infinity", which Python lacks.
            case((log_head.c.size > 0, log_head.c.recorded_at)).label(
                "recorded_at"
            ),
            case((held, log_head.c.holder)).label("holder"),
        )
        .join_from(log, log_head, log_head.c.log_id == log.c.log_id)
        .order_by(log.c.log_id)
    )


async def read_logs(
    connection: AsyncConnection, number: int | None = None
) -> Sequence[Log]:
    """Give every log, or the one of a number."""
    query = logs_query()
    if number is not None:
        query = query.where(log.c.log_id == number)
    return [_log(row) for row in await connection.execute(query)]


async def read_streams(
    connection: AsyncConnection, number: int
) -> Sequence[Stream]:
    """Give what a log knows of each source and resource, in order."""
    query = (
        select(resume_point, resource.c.name.label("resource"))
        .join_from(
            resume_point,
            resource,
            resource.c.resource_id == resume_point.c.resource_id,
        )
        .where(
            resume_point.c.log_id == number,
            resume_point.c.source != BOOKKEEPING,
        )
        .order_by(resume_point.c.source, resource.c.name)
    )
    return [_stream(row) for row in await connection.execute(query)]


def _log(row: QueryRow) -> Log:
    return Log(
        id=row.log_id,
        kind=row.kind,
        cluster_name=row.cluster_name,
        cluster_uid=row.cluster_uid,
        kubernetes=row.kubernetes,
        size=row.size,
        recorded_at=row.recorded_at,
        holder=row.holder,
        redaction_key_id=row.redaction_key_id,
    )


def _stream(row: QueryRow) -> Stream:
    gap = None
    if row.gap_position is not None:
        gap = Gap.still_open(
            opened=EntryName(row.log_id, row.gap_position),
            stream=(row.source, row.resource),
            since=row.gap_since,
            reason=row.gap_reason,
            version=row.gap_version,
        )
    return Stream(
        source=row.source,
        resource=row.resource,
        state=row.state,
        resource_version=row.completed,
        began_at=row.began_at,
        began_version=row.began_version,
        vouched_until=row.vouched_until,
        last_frame_at=row.last_frame_at,
        entries=row.entries,
        gap=gap,
    )
