"""The fleet at a glance: what is recorded, gaps, rows for dashboards."""

from datetime import datetime

import strawberry

from api.answers.windows import bounded
from api.context import RequestContext
from api.errors import PageSizeError
from api.types.clusters import (
    AuditSource,
    Cluster,
    Database,
    Log,
    Source,
    Status,
)
from api.types.coverage import AwayCluster
from api.types.series import (
    Annotation,
    Annotations,
    ConditionSeries,
)
from api.types.words import LogKind
from recorder.coverage.account import Account
from recorder.coverage.coverage import cover
from recorder.model.window import Window
from recorder.questions.incidents import IncidentsQuestion, ask_incidents
from recorder.questions.ports import Reading
from recorder.questions.series import ask_conditions
from recorder.questions.status import LogStatus
from recorder.questions.status import Status as Answered

__all__ = ["annotations", "condition_series", "status"]

NODES_MAX = 50
"""Lanes that a dashboard can show."""


async def status(asked: RequestContext) -> Status:
    """Return everything at a glance."""
    found = await asked.status()
    database = found.database
    disk = database.disk
    return Status(
        clusters=[_cluster(log, found) for log in found.logs],
        database=Database(
            version=database.version,
            embedded=database.embedded,
            bytes=float(database.bytes),
            disk_free_bytes=None if disk is None else float(disk.free_bytes),
        ),
        now=found.now,
        away=[AwayCluster.of(one) for one in found.away],
    )


def _cluster(status: LogStatus, found: Answered) -> Cluster:
    log, streams, now = status.log, status.streams, status.now or found.now
    end = status.facts_end
    return Cluster(
        name=log.cluster_name,
        uid=log.cluster_uid,
        kubernetes=log.kubernetes,
        log=Log(
            id=strawberry.ID(str(log.id)),
            kind=LogKind(log.kind),
            size=str(log.told_size),
            recorded_at=log.recorded_at,
            writer=None if log.is_part else log.holder,
            entries_per_minute=round(status.entries_per_minute, 1),
            facts_until=None if end is None else strawberry.ID(str(end.entry)),
        ),
        audit=AuditSource.of(status.audit),
        sources=[Source.of(status, one, now) for one in streams],
        open_gaps=[one.gap for one in streams if one.gap is not None],
        coverage=cover(
            Account(log=log, streams=streams, window=Window(), now=now)
        ),
    )


async def condition_series(
    asked: RequestContext,
    reading: Reading,
    wanted: tuple[list[str], list[str] | None],
    span: Window,
) -> ConditionSeries:
    """Return conditions as flat rows.

    Raises:
        PageSizeError: of too many nodes.
    """
    nodes, types = wanted
    if len(nodes) > NODES_MAX:
        msg = f"cannot show {len(nodes)} nodes: name {NODES_MAX} at most"
        raise PageSizeError(msg)
    return await ask_conditions(
        reading, nodes, span, asked.knowledge, types=types, now=asked.now
    )


async def annotations(
    asked: RequestContext,
    reading: Reading,
    span: tuple[datetime | None, datetime | None],
) -> Annotations:
    """Return incidents as marks."""
    question = IncidentsQuestion(window=bounded(reading, *span))
    found = await ask_incidents(
        reading, question, asked.knowledge, now=asked.now
    )
    return Annotations(
        annotations=[
            Annotation(
                time=one.since,
                time_end=one.until,
                title=f"{one.first.node}: {one.happened}",
                text=one.sentence,
                tags=[one.happened, one.cause, one.group],
                id=one.id,
            )
            for one in found.incidents
        ],
        coverage=found.coverage,
    )
