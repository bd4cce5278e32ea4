"""Answers of `recorder status`: what is recorded, and how far it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.coverage.audit_state import AuditReading, audit_reading
from recorder.coverage.ports import FactsEnd, Log, Stream
from recorder.questions.clusters import Away

__all__ = [
    "Behind",
    "DatabaseStatus",
    "Days",
    "Disk",
    "LogStatus",
    "Status",
]

WORKING = frozenset({"listing", "live", "backing-off"})
"""States that only a running recorder can be in."""


WHY_BEHIND = {
    "listing": "it is being listed, or read from the past",
    "backing-off": "the API server does not answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """That a resource is not live, or that something of it is missing."""

    since: datetime | None
    """Until when nothing is missing; None where nothing was ever proven."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStatus:
    """One log and its streams."""

    log: Log
    streams: Sequence[Stream]
    entries_per_minute: float
    facts_end: FactsEnd | None = None
    """Where facts end before the log does."""

    waiting_for: str | None = None
    """Why nothing may be written to it now; None if it may."""

    now: datetime | None = None
    """By the clock of its own database, where there are several."""

    judged: AuditReading | None = None
    """Whether audit records arrive, where it does not follow from the streams
    as they are told."""

    def state_of(self, stream: Stream) -> str:
        """Return the state of a stream; without a writer nothing works."""
        if self.log.holder is None and stream.state in WORKING:
            return "stopped"
        return stream.state

    def behind(self, stream: Stream) -> Behind | None:
        """Return since when a stream is behind and why; None if it is not.

        Of a log that is recorded; nothing is live in another.
        """
        if self.log.holder is None or self.log.is_tape:
            return None
        if stream.gap is not None:
            return Behind(since=stream.gap.since, why=stream.gap.reason)
        why = WHY_BEHIND.get(stream.state)
        if why is None:
            return None
        return Behind(since=stream.vouched_until, why=why)

    @property
    def audit(self) -> AuditReading:
        """Whether audit records arrive."""
        return self.judged or audit_reading(self.log, self.streams)

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
class Days:
    """The days of the database, by what became of them."""

    hot: int
    """Days that are whole in it and over."""

    archived: int
    dropped: int
    holds: int
    """Holds that were not lifted."""

    archived_until: datetime | None = None
    """The end of the last day that is archived."""

    kept_since: datetime | None = None
    """The begin of the first day that is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Everything at a glance."""

    logs: Sequence[LogStatus]
    database: DatabaseStatus
    now: datetime
    """By PostgreSQL's clock."""

    days: Days | None = None
    archive: str | None = None
    """The place of the archive, by the settings; None for none."""

    budget_bytes: int | None = None
    """Size above which the oldest days are dropped; None for any."""

    away: Sequence[Away] = ()
    """Clusters of the registry of which nothing can be read now."""

    budget_stage: str | None = None
    """``within`` the budget, ``near`` it, ``over`` it or ``full``, which is
    where nothing more is recorded; None without one."""
