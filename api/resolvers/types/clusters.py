"""Clusters, their logs, and what each source records."""

from datetime import datetime

import strawberry

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.publishing import publish
from api.resolvers.types.words import LogKind, SourceName, StreamState
from recorder.answers.clusters import Away
from recorder.answers.status import (
    ClusterStatus,
    DatabaseStatus,
    LogState,
    ShownStatus,
    Source,
)
from recorder.facts.coverage.account import Account
from recorder.facts.coverage.audit_state import AuditReading
from recorder.facts.coverage.coverage import cover
from recorder.model.window import Window

__all__ = ["ClusterStatus", "ShownStatus"]


class _Log:
    kind: LogKind

    @strawberry.field
    @staticmethod
    def id(log: strawberry.Parent[LogState]) -> strawberry.ID:
        return strawberry.ID(str(log.id))

    @strawberry.field
    @staticmethod
    def size(log: strawberry.Parent[LogState]) -> str:
        """The position of its newest entry; a whole number. Zero, as all
        counts here are, for a reader who may not get all Nodes and Pods."""  # noqa: D205, D209 - one text
        return str(log.size)


class _Source:
    source: SourceName
    state: StreamState


class _Cluster:
    @strawberry.field
    @staticmethod
    def coverage(cluster: strawberry.Parent[ClusterStatus]) -> Coverage:
        """Of the whole log, as of now."""
        known = cluster.status
        account = Account(
            log=known.log,
            streams=known.streams,
            window=Window(),
            now=cluster.now,
        )
        return cover(account)


class _Database:
    @strawberry.field
    @staticmethod
    def bytes(database: strawberry.Parent[DatabaseStatus]) -> float:
        return float(database.bytes)

    @strawberry.field
    @staticmethod
    def disk_free_bytes(
        database: strawberry.Parent[DatabaseStatus],
    ) -> float | None:
        """Null for an external server, whose disk is not known, and for a
        reader of a part."""  # noqa: D205, D209 - one text
        disk = database.disk
        return None if disk is None else float(disk.free_bytes)


class _Status:
    now: datetime

    @strawberry.field
    @staticmethod
    def away(status: strawberry.Parent[ShownStatus]) -> list[Away]:
        return [*(status.away or ())]


publish(LogState, name="Log", adds=_Log, without=("waiting_for",))
publish(
    Source,
    adds=_Source,
    shows=("began_at", "gap"),
    without=("behind",),
    order=(
        "began_at",
        "vouched_until",
        "last_frame_at",
        "lag_seconds",
    ),
)
publish(AuditReading, name="AuditSource")
publish(ClusterStatus, name="Cluster", adds=_Cluster)
publish(
    DatabaseStatus,
    name="Database",
    adds=_Database,
    without=("budget_bytes", "budget_stage"),
)
publish(
    ShownStatus,
    name="Status",
    adds=_Status,
    shows=("now",),
    without=("disk", "archive"),
    order=("now", "away"),
)
