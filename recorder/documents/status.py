"""What is recorded, and how far it is, as the public interface shows it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType

from recorder.coverage.audit_state import AuditReading, AuditState
from recorder.coverage.hole import Hole
from recorder.coverage.ports import Stream
from recorder.model.document import Document
from recorder.model.moment import written
from recorder.questions.status import Days, Disk, LogStatus, Status

__all__ = ["StatusDocument", "audit_says"]


def audit_says(audit: AuditReading) -> Sequence[str]:
    """Say of audit records that none arrive, or of what."""
    if audit.state is AuditState.SILENT:
        told = "no audit record has arrived"
        if audit.last_at is not None:
            told += f" since {written(audit.last_at)}"
        if audit.unanswered:
            told += f", and {audit.unanswered} versions were written meanwhile"
        told += (
            ": does the audit policy cover writes,"
            " and do API servers send or write them here?"
        )
        return [told]
    if audit.left_out:
        resources = ", ".join(audit.left_out)
        told = f"hardly any audit record of writes to {resources}"
        return [f"{told}: does the audit policy leave them out?"]
    return []


class LogDocument(Document, frozen=True, kw_only=True):
    """A log, and who writes it."""

    id: int
    kind: str
    size: int
    recorded_at: datetime | None
    writer: str | None
    waiting_for: str | None = None
    entries_per_minute: float
    facts_until: str | None

    @classmethod
    def of(cls, status: LogStatus) -> Self:
        """Return the document of a log."""
        log, end = status.log, status.facts_end
        return cls(
            id=log.id,
            kind=log.kind,
            size=log.size,
            recorded_at=log.recorded_at,
            writer=log.holder,
            waiting_for=None if log.holder else status.waiting_for,
            entries_per_minute=round(status.entries_per_minute, 1),
            facts_until=None if end is None else str(end.entry),
        )


class BehindDocument(Document, frozen=True, kw_only=True):
    """That a resource is not live, or that something of it is missing."""

    since: datetime | None
    why: str


class StreamDocument(Document, frozen=True, kw_only=True):
    """A source of a log, and how far it is."""

    source: str
    resource: str
    state: str
    resource_version: str | None
    lag_seconds: float | None
    entries: int
    last_frame_at: datetime | None
    vouched_until: datetime | None
    behind: BehindDocument | None

    @classmethod
    def of(cls, status: LogStatus, stream: Stream, now: datetime) -> Self:
        """Return the document of a source."""
        lag = status.lag_of(stream, now)
        behind = status.behind(stream)
        return cls(
            source=stream.source,
            resource=stream.resource,
            state=status.state_of(stream),
            resource_version=stream.resource_version,
            lag_seconds=lag and round(lag, 3),
            entries=stream.entries,
            last_frame_at=stream.last_frame_at,
            vouched_until=stream.vouched_until,
            behind=None
            if behind is None
            else BehindDocument(since=behind.since, why=behind.why),
        )


class AuditDocument(Document, frozen=True, kw_only=True):
    """Whether audit records arrive."""

    state: str
    """``absent``, ``stopped``, ``silent`` (none arrives) or ``recorded``."""

    records: int
    last_record_at: datetime | None
    left_out: Sequence[str]
    """Resources whose writes have no records."""

    says: Sequence[str]
    """That none arrive, or of what, in words."""

    @classmethod
    def of(cls, audit: AuditReading) -> Self:
        """Return the document of what arrives."""
        return cls(
            state=audit.state.value,
            records=audit.records,
            last_record_at=audit.last_at,
            left_out=list(audit.left_out),
            says=audit_says(audit),
        )


class ClusterDocument(Document, frozen=True, kw_only=True):
    """A cluster, its log and its sources."""

    name: str
    uid: str
    kubernetes: str | None
    log: LogDocument
    audit: AuditDocument
    sources: Sequence[StreamDocument]
    open_gaps: Sequence[Hole]

    @classmethod
    def of(cls, status: LogStatus, now: datetime) -> Self:
        """Return the document of a cluster."""
        log, streams = status.log, status.streams
        return cls(
            name=log.cluster_name,
            uid=log.cluster_uid,
            kubernetes=log.kubernetes,
            log=LogDocument.of(status),
            audit=AuditDocument.of(status.audit),
            sources=[StreamDocument.of(status, one, now) for one in streams],
            open_gaps=[one.gap for one in streams if one.gap is not None],
        )


class DatabaseDocument(Document, frozen=True, kw_only=True):
    """The database of the logs."""

    version: str
    embedded: bool
    bytes: int
    budget_bytes: int | None = None
    budget_stage: str | None = None
    """``within``, ``near`` (80 %), ``over``, ``full`` (110 %: no input)."""


class DiskDocument(Document, frozen=True, kw_only=True):
    """The disk of the embedded server."""

    path: str
    free_bytes: int
    total_bytes: int

    @classmethod
    def of(cls, disk: Disk) -> Self:
        """Return the document of a disk."""
        return cls(
            path=disk.path,
            free_bytes=disk.free_bytes,
            total_bytes=disk.total_bytes,
        )


class ArchiveDocument(Document, frozen=True, kw_only=True):
    """What became of days."""

    place: str | None
    days_in_database: int
    days_archived: int
    days_dropped: int
    archived_until: datetime | None
    kept_since: datetime | None
    holds: int

    @classmethod
    def of(cls, status: Status, days: Days) -> Self:
        """Return the document of the days of an answer."""
        return cls(
            place=status.archive,
            days_in_database=days.hot,
            days_archived=days.archived,
            days_dropped=days.dropped,
            archived_until=days.archived_until,
            kept_since=days.kept_since if days.dropped else None,
            holds=days.holds,
        )


class AwayDocument(Document, frozen=True, kw_only=True):
    """A cluster of which nothing can be read now."""

    cluster: str
    why: str


class StatusDocument(Document, frozen=True, kw_only=True):
    """Everything at a glance."""

    clusters: Sequence[ClusterDocument]
    database: DatabaseDocument
    disk: DiskDocument | None
    archive: "ArchiveDocument | Mapping[str, str]"
    away: Sequence[AwayDocument] | UnsetType = UNSET
    """Clusters of a registry of which nothing can be read now."""

    @classmethod
    def of(cls, status: Status) -> Self:
        """Return the document of an answer."""
        database, disk = status.database, status.database.disk
        days = status.days
        return cls(
            clusters=[
                ClusterDocument.of(log, status.now) for log in status.logs
            ],
            database=DatabaseDocument(
                version=database.version,
                embedded=database.embedded,
                bytes=database.bytes,
                budget_bytes=status.budget_bytes,
                budget_stage=status.budget_stage,
            ),
            disk=None if disk is None else DiskDocument.of(disk),
            archive={} if days is None else ArchiveDocument.of(status, days),
            away=[
                AwayDocument(cluster=one.cluster, why=one.why)
                for one in status.away
            ]
            or UNSET,
        )
