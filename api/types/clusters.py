"""Clusters, their logs, and what each source records."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.types.coverage import AwayCluster, Coverage, Hole
from api.types.words import AuditState, LogKind, SourceName, StreamState
from recorder.coverage.audit_state import AuditReading
from recorder.coverage.ports import Stream
from recorder.documents.status import audit_says
from recorder.questions.status import LogStatus

__all__ = ["AuditSource", "Cluster", "Database", "Log", "Source", "Status"]


@described
class Log:
    """The ordered whole: one for each cluster, one for each tape."""

    id: strawberry.ID

    kind: LogKind

    size: str
    """The position of its newest entry; a whole number. Zero, as all counts
    here are, for a reader who may not get all Nodes and Pods."""

    recorded_at: datetime | None
    """When its newest entry was recorded."""

    writer: str | None
    """Who is writing it now; null without the right to get all
    Nodes and Pods."""

    entries_per_minute: float

    facts_until: strawberry.ID | None
    """The entry where facts end, if before the end of the log."""


@described
class Source:
    """One resource of one source, followed."""

    source: SourceName

    resource: str
    """For example `v1/pods`."""

    state: StreamState

    resource_version: str | None
    """The version from which it resumes."""

    began_at: datetime | None
    """When its first list was complete."""

    vouched_until: datetime | None
    """Until when it is known to be complete."""

    last_frame_at: datetime | None

    lag_seconds: float | None
    """Time since it was last confirmed complete; null for a tape."""

    entries: int
    """Zero without the right to get all Nodes and Pods."""

    gap: Hole | None
    """The gap that is open."""

    @classmethod
    def of(cls, status: LogStatus, stream: Stream, now: datetime) -> Self:
        """Take it from an answer."""
        lag = status.lag_of(stream, now)
        return cls(
            source=SourceName(stream.source),
            resource=stream.resource,
            state=StreamState(status.state_of(stream)),
            resource_version=stream.resource_version,
            began_at=stream.began_at,
            vouched_until=stream.vouched_until,
            last_frame_at=stream.last_frame_at,
            lag_seconds=None if lag is None else round(lag, 3),
            entries=stream.entries,
            gap=None if stream.gap is None else stream.gap,
        )


@described
class AuditSource:
    """The audit records of a cluster, by whichever way they come."""

    state: AuditState

    records: int
    """Zero without the right to get all Nodes and Pods."""

    last_record_at: datetime | None
    """When the last came; null also of those of earlier releases."""

    left_out: list[str]
    """Resources of which hardly any write has a record."""

    says: list[str]
    """That none arrive, or of what, in words."""

    @classmethod
    def of(cls, audit: AuditReading) -> Self:
        """Take it from an answer."""
        return cls(
            state=audit.state,
            records=audit.records,
            last_record_at=audit.last_at,
            left_out=list(audit.left_out),
            says=list(audit_says(audit)),
        )


@described
class Cluster:
    """A cluster, or what a tape holds of one."""

    name: str

    uid: str
    """Of its namespace kube-system."""

    kubernetes: str
    """The version of its API server."""

    log: Log

    audit: AuditSource
    """Whether audit records arrive."""

    sources: list[Source]

    open_gaps: list[Hole]

    coverage: Coverage
    """Of the whole log, as of now."""


@described
class Database:
    """The PostgreSQL that holds the logs; with a registry, all together."""

    version: str

    embedded: bool
    """Whether it is the embedded server."""

    bytes: float
    """Its size on the disk; zero without the right to get all Nodes and
    Pods."""

    disk_free_bytes: float | None
    """Null for an external server, whose disk is not known, and for a reader
    of a part."""


@described
class Status:
    """Status of the recorder."""

    clusters: list[Cluster]

    database: Database

    now: datetime
    """By PostgreSQL's clock."""

    away: list[AwayCluster]
    """Clusters of the registry of which nothing can be read now."""
