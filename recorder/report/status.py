"""Answers of `recorder status`: what is recorded, and how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recorder.model.moment import written
from recorder.report.fact_ports import FactsEnd
from recorder.report.ports import Log, Stream

__all__ = [
    "COLUMNS",
    "DatabaseStatus",
    "Disk",
    "LogStatus",
    "Status",
    "status_rows",
    "summary",
]

COLUMNS = (
    "SOURCE",
    "RESOURCE",
    "STATE",
    "LAG",
    "ENTRIES",
    "VERSION",
    "LAST FRAME",
)

WORKING = frozenset({"listing", "live", "backing-off"})
"""States that only a running recorder can be in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStatus:
    """One log and its streams."""

    log: Log
    streams: Sequence[Stream]
    entries_per_minute: float
    facts_end: FactsEnd | None = None
    """Where facts end before the log does."""

    def state_of(self, stream: Stream) -> str:
        """Return the state of a stream; without a writer nothing works."""
        if self.log.holder is None and stream.state in WORKING:
            return "stopped"
        return stream.state

    def lag_of(self, stream: Stream, now: datetime) -> float | None:
        """Return the seconds for which nothing vouches yet.

        None for a tape, whose time is over, and where there is nothing.
        """
        if (
            self.log.is_tape
            or stream.vouched_until is None
            or stream.state == "absent"
        ):
            return None
        return max((now - stream.vouched_until).total_seconds(), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The disk of the embedded server."""

    path: str
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatus:
    """The database of the logs."""

    version: str
    embedded: bool
    bytes: int
    disk: Disk | None
    """None where the server is not ours, and its disk unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Everything at a glance."""

    logs: Sequence[LogStatus]
    database: DatabaseStatus
    now: datetime
    """By PostgreSQL's clock."""

    def document(self) -> dict[str, Any]:
        """Return it as the public interface shows it."""
        database = self.database
        disk = database.disk
        return {
            "clusters": [self._cluster(log) for log in self.logs],
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

    def _cluster(self, status: LogStatus) -> dict[str, Any]:
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
                "facts_until": status.facts_end
                and str(status.facts_end.entry),
            },
            "sources": [
                self._source(status, stream) for stream in status.streams
            ],
            "open_gaps": [
                stream.gap.document()
                for stream in status.streams
                if stream.gap is not None
            ],
        }

    def _source(self, status: LogStatus, stream: Stream) -> Mapping[str, Any]:
        lag = status.lag_of(stream, self.now)
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


def status_rows(status: LogStatus, now: datetime) -> list[list[str]]:
    """Return the streams of a log as rows of a table."""
    rows = []
    for stream in status.streams:
        lag = status.lag_of(stream, now)
        last = stream.last_frame_at
        rows.append(
            [
                stream.source,
                stream.resource,
                status.state_of(stream),
                "" if lag is None else f"{lag:.1f}s",
                str(stream.entries),
                stream.resource_version or "",
                "" if last is None else written(last),
            ]
        )
    return rows


def summary(status: LogStatus) -> list[str]:
    """Say where a log stands, in a few lines."""
    log = status.log
    if log.is_tape:
        state = "played from a tape"
        if log.holder is not None:
            state = f"being played by {log.holder}"
    elif log.holder is None:
        state = "NOT being recorded: start `recorder up`"
    else:
        state = f"recorded by {log.holder}"
    recorded = "never" if log.recorded_at is None else written(log.recorded_at)
    rate = ""
    if log.holder is not None:
        rate = f", {status.entries_per_minute:.1f} a minute"
    lines = [
        (
            f"cluster {log.cluster_name} ({log.cluster_uid}), Kubernetes"
            f" {log.kubernetes}"
        ),
        f"log {log.id}: {state}",
        f"{log.size} entries, the last recorded {recorded}{rate}",
    ]
    if status.facts_end is not None:
        lines.append(
            f"facts end at entry {status.facts_end.entry}: run"
            " `recorder rederive`"
        )
    lines.extend(
        f"open gap {stream.gap.opened}: {stream.resource}, {stream.gap.reason}"
        for stream in status.streams
        if stream.gap is not None
    )
    return lines
