"""What is recorded, and how far it is, as the public interface shows it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recorder.coverage.ports import Stream
from recorder.documents.coverage import HoleDocument
from recorder.model.moment import written
from recorder.questions.status import LogStatus, Status

__all__ = ["status_document"]


def status_document(status: Status) -> dict[str, Any]:
    """Return everything at a glance."""
    database = status.database
    disk = database.disk
    return {
        "clusters": [_cluster(log, status.now) for log in status.logs],
        "database": {
            "version": database.version,
            "embedded": database.embedded,
            "bytes": database.bytes,
        },
        "disk": disk
        and {
            "path": disk.path,
            "free_bytes": disk.free_bytes,
            "total_bytes": disk.total_bytes,
        },
        # Part of the public interface; a log keeps everything itself.
        "archive": {},
    }


def _cluster(status: LogStatus, now: datetime) -> dict[str, Any]:
    log = status.log
    return {
        "name": log.cluster_name,
        "uid": log.cluster_uid,
        "kubernetes": log.kubernetes,
        "log": {
            "id": log.id,
            "kind": log.kind,
            "size": log.size,
            "recorded_at": log.recorded_at and written(log.recorded_at),
            "writer": log.holder,
            "entries_per_minute": round(status.entries_per_minute, 1),
            "facts_until": status.facts_end and str(status.facts_end.entry),
        },
        "sources": [_source(status, stream, now) for stream in status.streams],
        "open_gaps": [
            HoleDocument.of_gap(stream.gap)
            for stream in status.streams
            if stream.gap is not None
        ],
    }


def _source(
    status: LogStatus, stream: Stream, now: datetime
) -> Mapping[str, Any]:
    lag = status.lag_of(stream, now)
    vouched, last = stream.vouched_until, stream.last_frame_at
    return {
        "source": stream.source,
        "resource": stream.resource,
        "state": status.state_of(stream),
        "resource_version": stream.resource_version,
        "lag_seconds": lag and round(lag, 3),
        "entries": stream.entries,
        "last_frame_at": last and written(last),
        "vouched_until": vouched and written(vouched),
    }
