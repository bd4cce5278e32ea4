"""What is recorded, and how far it is, as the public interface shows it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from recorder.coverage.ports import Stream
from recorder.documents.coverage import HoleDocument
from recorder.documents.document import Document
from recorder.questions.status import Disk, LogStatus, Status

__all__ = ["StatusDocument"]


class LogDocument(Document, frozen=True, kw_only=True):
    """A log, and who writes it."""

    id: int
    kind: str
    size: int
    recorded_at: datetime | None
    writer: str | None
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
            entries_per_minute=round(status.entries_per_minute, 1),
            facts_until=None if end is None else str(end.entry),
        )


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

    @classmethod
    def of(cls, status: LogStatus, stream: Stream, now: datetime) -> Self:
        """Return the document of a source."""
        lag = status.lag_of(stream, now)
        return cls(
            source=stream.source,
            resource=stream.resource,
            state=status.state_of(stream),
            resource_version=stream.resource_version,
            lag_seconds=lag and round(lag, 3),
            entries=stream.entries,
            last_frame_at=stream.last_frame_at,
            vouched_until=stream.vouched_until,
        )


class ClusterDocument(Document, frozen=True, kw_only=True):
    """A cluster, its log and its sources."""

    name: str
    uid: str
    kubernetes: str | None
    log: LogDocument
    sources: Sequence[StreamDocument]
    open_gaps: Sequence[HoleDocument]

    @classmethod
    def of(cls, status: LogStatus, now: datetime) -> Self:
        """Return the document of a cluster."""
        log, streams = status.log, status.streams
        return cls(
            name=log.cluster_name,
            uid=log.cluster_uid,
            kubernetes=log.kubernetes,
            log=LogDocument.of(status),
            sources=[StreamDocument.of(status, one, now) for one in streams],
            open_gaps=[
                HoleDocument.of_gap(one.gap)
                for one in streams
                if one.gap is not None
            ],
        )


class DatabaseDocument(Document, frozen=True, kw_only=True):
    """The database of the logs."""

    version: str
    embedded: bool
    bytes: int


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


class StatusDocument(Document, frozen=True, kw_only=True):
    """Everything at a glance."""

    clusters: Sequence[ClusterDocument]
    database: DatabaseDocument
    disk: DiskDocument | None
    archive: Mapping[str, str]
    """Part of the public interface; a log keeps everything itself."""

    @classmethod
    def of(cls, status: Status) -> Self:
        """Return the document of an answer."""
        database, disk = status.database, status.database.disk
        return cls(
            clusters=[
                ClusterDocument.of(log, status.now) for log in status.logs
            ],
            database=DatabaseDocument(
                version=database.version,
                embedded=database.embedded,
                bytes=database.bytes,
            ),
            disk=None if disk is None else DiskDocument.of(disk),
            archive={},
        )
