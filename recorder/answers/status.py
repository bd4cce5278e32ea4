"""Answers of `recorder status`: what is recorded, and how current it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import UNSET, UnsetType, field

from recorder.answers.clusters import Away
from recorder.answers.coverage import few, outage_line
from recorder.answers.text.lines import human_bytes
from recorder.answers.text.table import age
from recorder.facts.coverage.audit_state import AuditReading, audit_reading
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.outages import outages_of
from recorder.facts.coverage.ports import FactsEnd, Log, Stream
from recorder.facts.coverage.unproven import imported_of
from recorder.model.document import Document
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName

WORKING = frozenset({"listing", "live", "backing-off"})
"""States that only a running recorder can be in."""


WHY_BEHIND = {
    "listing": "it is being listed, or read from the past",
    "backing-off": "the API server does not answer",
}


class Behind(Document, frozen=True, kw_only=True):
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
    """Where facts end, if before the end of the log."""

    waiting_for: str | None = None
    """Why nothing can be written to it now; None if it can."""

    now: datetime | None = None
    """The time of its own database, if there are several."""

    judged: AuditReading | None = None
    """Whether audit records arrive, if ``streams`` does not show that."""

    def state_of(self, stream: Stream) -> str:
        """Return the state of a stream: stopped if the log has no writer."""
        if self.log.holder is None and stream.state in WORKING:
            return "stopped"
        return stream.state

    def behind(self, stream: Stream) -> Behind | None:
        """Return since when a stream is behind and why; None if it is not.

        Always None if the log is not being recorded.
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
        """Return the seconds since a stream was last confirmed complete.

        None for a tape, a stream never confirmed, and an absent resource.
        """
        if (
            self.log.is_tape
            or stream.vouched_until is None
            or stream.state == "absent"
        ):
            return None
        return max((now - stream.vouched_until).total_seconds(), 0.0)

    def source(self, stream: Stream, now: datetime) -> "Source":
        """Return the status of a stream."""
        lag = self.lag_of(stream, now)
        return Source(
            source=stream.source,
            resource=stream.resource,
            state=self.state_of(stream),
            resource_version=stream.resource_version,
            lag_seconds=None if lag is None else round(lag, 3),
            entries=stream.entries,
            last_frame_at=stream.last_frame_at,
            vouched_until=stream.vouched_until,
            behind=self.behind(stream),
            began_at=stream.began_at,
            gap=stream.gap,
        )

    def shown(self, now: datetime) -> "ClusterStatus":
        """Return the status as answers show it."""
        log, end, streams = self.log, self.facts_end, self.streams
        return ClusterStatus(
            name=log.cluster_name,
            uid=log.cluster_uid,
            kubernetes=log.kubernetes,
            log=LogState(
                id=log.id,
                kind=log.kind,
                size=log.visible_size,
                recorded_at=log.recorded_at,
                writer=None if log.is_part else log.holder,
                waiting_for=None if log.holder else self.waiting_for,
                entries_per_minute=round(self.entries_per_minute, 1),
                facts_until=None if end is None else end.entry,
            ),
            audit=self.audit,
            sources=[self.source(one, now) for one in streams],
            open_gaps=[one.gap for one in streams if one.gap is not None],
            status=self,
            now=now,
        )


class LogState(Document, frozen=True, kw_only=True):
    """The ordered whole: one for each cluster, one for each tape."""

    id: int
    kind: str
    size: int
    recorded_at: datetime | None
    """When its newest entry was recorded."""

    writer: str | None
    """Who is writing it now; null without the right to get all
    Nodes and Pods."""

    waiting_for: str | None = None
    entries_per_minute: float
    facts_until: EntryName | None
    """The entry where facts end, if before the end of the log."""


class Source(Document, frozen=True, kw_only=True):
    """One resource of one source, followed."""

    source: str
    resource: str
    """For example `v1/pods`."""

    state: str
    resource_version: str | None
    """The version from which it resumes."""

    lag_seconds: float | None
    """Time since it was last confirmed complete; null for a tape."""

    entries: int
    """Zero without the right to get all Nodes and Pods."""

    last_frame_at: datetime | None
    vouched_until: datetime | None
    """Until when it is known to be complete."""

    behind: Behind | None
    began_at: datetime | None = field(name="_began_at")
    """When its first list was complete."""

    gap: Hole | None = field(name="_gap")
    """The gap that is open."""


class ClusterStatus(Document, frozen=True, kw_only=True):
    """A cluster, or what a tape holds of one."""

    name: str
    uid: str
    """Of its namespace kube-system."""

    kubernetes: str
    """The version of its API server."""

    log: LogState
    audit: AuditReading
    """Whether audit records arrive."""

    sources: Sequence[Source]
    open_gaps: Sequence[Hole]
    status: LogStatus = field(name="_status")
    now: datetime = field(name="_now")


class Disk(Document, frozen=True, kw_only=True):
    """The disk of the embedded server."""

    path: str
    free_bytes: int
    total_bytes: int


class DatabaseStatus(Document, frozen=True, kw_only=True):
    """The PostgreSQL that holds the logs; with a registry, all together."""

    version: str
    embedded: bool
    """Whether it is the embedded server."""

    bytes: int
    """Its size on the disk; zero without the right to get all Nodes and
    Pods."""

    budget_bytes: int | None = None
    """Size above which the oldest days are dropped; None for any."""

    budget_stage: str | None = None
    """``within`` the budget, ``near`` it (80 %), ``over`` it or ``full``
    (110 %), where nothing more is recorded; None without one."""

    disk: Disk | None = field(name="_disk")
    """None for an external server, whose disk is unknown."""


class Days(Document, frozen=True, kw_only=True):
    """The days of the database, by what became of them."""

    place: str | None = None
    """The place of the archive, by the settings; None for none."""

    hot: int = field(name="days_in_database")
    """Days that are whole in it and over."""

    archived: int = field(name="days_archived")
    dropped: int = field(name="days_dropped")
    archived_until: datetime | None = None
    """The end of the last day that is archived."""

    kept_since: datetime | None = None
    """The begin of the first day that is whole, where one was dropped."""

    holds: int
    """Holds that were not lifted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is recorded, of every log."""

    logs: Sequence[LogStatus]
    database: DatabaseStatus
    now: datetime
    """By PostgreSQL's clock."""

    days: Days | None = None
    away: Sequence[Away] = ()
    """Clusters of the registry whose logs cannot be read now."""

    def shown(self, *, by_each: bool = False) -> "ShownStatus":
        """Return the status, by one clock or the clock of each database."""
        return ShownStatus(
            clusters=[
                one.shown((by_each and one.now) or self.now)
                for one in self.logs
            ],
            database=self.database,
            disk=self.database.disk,
            archive=self.days or {},
            away=self.away or UNSET,
            now=self.now,
        )


def nothing_known(away: Sequence[Away], now: datetime) -> Status:
    """Return the status of a registry whose databases are all away.

    Its database has no version, and the time is that of the caller.
    """
    nothing = DatabaseStatus(version="", embedded=False, bytes=0, disk=None)
    return Status(logs=[], database=nothing, now=now, away=away)


class ShownStatus(Document, frozen=True, kw_only=True):
    """Status of the recorder."""

    clusters: Sequence[ClusterStatus]
    database: DatabaseStatus
    disk: Disk | None
    archive: Days | Mapping[str, str]
    away: Sequence[Away] | UnsetType = UNSET
    """Clusters of the registry whose logs cannot be read now."""

    now: datetime = field(name="_now")
    """By PostgreSQL's clock."""


BUDGET = {
    "near": "above it the oldest archived days are dropped before their time",
    "over": "the oldest archived days are dropped before their time",
    "full": "nothing is recorded until days are dropped",
}
"""The consequence of each stage of the size budget."""

COLUMNS = (
    "SOURCE",
    "RESOURCE",
    "STATE",
    "PROVEN",
    "ENTRIES",
    "VERSION",
    "LAST FRAME",
)


def status_rows(status: LogStatus, now: datetime) -> list[list[str]]:
    """Return the streams of a log as rows of a table."""
    rows = []
    for stream in status.streams:
        is_proven = status.lag_of(stream, now) is not None
        proven = stream.vouched_until if is_proven else None
        last = stream.last_frame_at
        rows.append(
            [
                stream.source,
                stream.resource,
                status.state_of(stream),
                "" if proven is None else f"{age(proven, now)} ago",
                str(stream.entries),
                stream.resource_version or "",
                "" if last is None else written(last),
            ]
        )
    return rows


def days_lines(answer: Status) -> list[str]:
    """Return lines on what retention did and will do."""
    lines = []
    days = answer.days
    if days is not None and days.archived + days.dropped:
        until = days.archived_until
        # The last day ends where the next begins.
        last = until and shifted(until, -timedelta.resolution)
        reach = "" if last is None else f", up to {last:%Y-%m-%d}"
        lines.append(
            f"{days.hot} days in the database; {days.archived} archived{reach}"
            f" in {days.place or 'no place'}; {days.dropped} dropped"
        )
    if days is not None and days.holds:
        holds = f"{days.holds} hold{'s' if days.holds > 1 else ''}"
        lines.append(f"{holds}: see `recorder hold list`")
    database = answer.database
    budget, stage = database.budget_bytes, database.budget_stage or ""
    if budget is not None and stage in BUDGET:
        lines.append(
            f"size budget: {human_bytes(database.bytes)} of"
            f" {human_bytes(budget)} are used; {BUDGET[stage]}"
        )
    return lines


def summary(status: LogStatus) -> list[str]:
    """Return a few lines on the state of a log."""
    log = status.log
    if log.is_tape:
        state = imported_of(status.streams) or "played from a tape"
        if log.holder is not None:
            state = f"being played by {log.holder}"
    elif log.holder is None and status.waiting_for is not None:
        state = f"NOT being recorded, it waits for room: {status.waiting_for}"
    elif log.holder is None:
        state = "NOT being recorded: run `recorder up`"
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
    lines.extend(status.audit.says)
    lines.extend(_behind(status))
    gaps = [one.gap for one in status.streams if one.gap is not None]
    lines.extend(
        f"open outage: {outage_line(one)}" for one in outages_of(gaps)
    )
    return lines


def _behind(status: LogStatus) -> Iterator[str]:
    """Yield a line for each reason other than an outage, since the first."""
    streams: dict[str, list[tuple[str, datetime | None]]] = {}
    for stream in status.streams:
        behind = status.behind(stream)
        if behind is not None and stream.gap is None:
            found = streams.setdefault(behind.why, [])
            found.append((stream.resource, behind.since))
    for why, found in streams.items():
        begins = [since for _, since in found if since is not None]
        # One for which nothing was ever proven has no begin, nor has the line.
        whole = len(begins) == len(found)
        since = f" since {written(min(begins))}" if whole else ""
        verb = "is" if len(found) == 1 else "are"
        resources = few([resource for resource, _ in found])
        yield f"{resources} {verb} behind{since}: {why}"
