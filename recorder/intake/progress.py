"""The progress of a recording: counters and states for others to read."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from recorder.intake.state import (
    Recovered,
    ResumePoint,
    StreamKey,
    StreamState,
)
from recorder.model.entry import Draft, Operation
from recorder.model.moment import written
from recorder.model.observation import (
    WATCH,
    ListPage,
    Observation,
    RequestFailed,
    WatchFrame,
)

ALARMING = frozenset(
    {Operation.REFUSED, Operation.GAP_OPENED, Operation.GAP_CLOSED}
)

LATE = frozenset({StreamState.LISTING, StreamState.BACKING_OFF})
"""States in which nothing arrives."""

COMMIT_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: a commit takes a few milliseconds, and at most a statement's
timeout."""


@dataclass(slots=True)
class Received:
    """Counters of what senders deliver to the audit webhook."""

    requests: Counter[int] = field(default_factory=Counter)
    """By the status of their responses."""

    records: int = 0
    """Of batches that are in the log, repetitions included."""

    waiting: int = 0
    """Requests that have no response yet."""

    held_bytes: int = 0
    """Of their bodies."""

    lag_seconds: float | None = None
    """Since the last record, by the sender's clock and ours; negative if the
    sender's is ahead."""

    trouble: str | None = None
    """Why certificates could not be read again, as text."""

    generated: int = 0
    """Records that API servers counted since we read their counters."""

    lost: int = 0
    """Records that they counted as dropped since then."""

    unread: dict[str, str] = field(default_factory=dict)
    """Why followed audit logs are not read, as text, by path."""

    uncounted: str | None = None
    """Why their counters cannot be read, as text."""

    def note_trouble(self, trouble: str | None) -> None:
        """Note why certificates cannot be read; None when they can."""
        self.trouble = trouble


@dataclass(slots=True)
class ClaimCounts:
    """Counters of what senders post to the door of claims."""

    accepted: Counter[str] = field(default_factory=Counter)
    """Claims of accepted requests, repetitions included, by the converter
    that read them."""

    refused: Counter[str] = field(default_factory=Counter)
    """Requests that were not accepted, by the reason."""

    last_refusal: str | None = None
    """The last one that its sender must mend, as text."""


@dataclass(slots=True)
class Progress:
    """Counters of one process; they start at zero with it."""

    state: str = "starting"
    """``starting``, ``recording``, ``waiting`` for the log,
    ``standing-by`` or ``stopped``."""

    waiting_for: str | None = None
    """While waiting or standing by: for what, as text."""

    failed_request: str | None = None
    """The last failed request to the cluster, and why, as text."""

    log: int = 0
    size: int = 0
    streams: dict[StreamKey, ResumePoint] = field(default_factory=dict)
    frames: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Objects listed and frames watched, by resource and type."""

    entries: int = 0
    refused: int = 0
    repeated: int = 0
    """Audit records that the log had already."""

    gaps: Counter[str] = field(default_factory=Counter)
    """Gaps opened, by reason."""

    batches: int = 0
    commit_seconds: float = 0.0
    commit_buckets: list[int] = field(
        default_factory=lambda: [0] * len(COMMIT_BOUNDS)
    )
    """Commits that took as long as each of the bounds, or less."""

    gap_seconds: Counter[str] = field(default_factory=Counter)
    """Seconds of ended gaps that may hide something, by resource."""

    failed_commits: int = 0
    queue_bytes: int = 0
    committed_at: datetime | None = None
    database_bytes: int | None = None
    checkpointed_at: datetime | None = None
    checkpoint_failures: int = 0
    checkpoint_trouble: str | None = None
    """Why the last checkpoint is not in every place, in words."""
    budget_bytes: int | None = None
    """Size of the database above which the oldest days are dropped."""
    retained_at: datetime | None = None
    """When this process last saw a run of retention succeed."""
    archived_until: datetime | None = None
    """The end of the last day that is archived."""
    received: Received | None = None
    """None if no audit webhook is served."""
    claims: ClaimCounts | None = None
    """None if no claims are accepted."""

    def began(self, recovered: Recovered) -> None:
        """Note the log that is being written."""
        self.state, self.waiting_for = "recording", None
        self.log, self.size = recovered.log, recovered.size
        self.streams = dict(recovered.streams)

    def wait_for(self, reason: str) -> None:
        """Note why nothing can be written."""
        self.state, self.waiting_for = "waiting", reason

    def stand_by(self, reason: str) -> None:
        """Note which process writes the log instead."""
        self.state, self.waiting_for = "standing-by", reason

    def lacks(self) -> str | None:
        """Return why nothing is being recorded, as text.

        None while something is recorded, or while another process does it.
        """
        if self.state != "recording":
            if self.state == "standing-by":
                return None
            return self.waiting_for or "nothing has been asked yet"
        watched = [p for (s, _), p in self.streams.items() if s == WATCH]
        if not watched:
            return self.failed_request or "no resource has been listed yet"
        if all(p.state is StreamState.BACKING_OFF for p in watched):
            return self.failed_request or "no resource is being watched yet"
        return None

    def behind(self) -> list[str]:
        """Describe which watched resources are behind, since when and why."""
        lines = []
        for (source, resource), point in sorted(self.streams.items()):
            gap = point.gap
            if source != WATCH or (gap is None and point.state not in LATE):
                continue
            since = point.vouched_until if gap is None else gap.since
            why = point.state.value if gap is None else gap.reason
            at = since and f" since {written(since)}"
            lines.append(f"{resource}{at or ''} ({why})")
        return lines

    def checkpointed(self, at: datetime) -> None:
        """Note that every place has a checkpoint of the log."""
        self.checkpointed_at, self.checkpoint_trouble = at, None

    def checkpoint_failed(self, trouble: str) -> None:
        """Note why a checkpoint could not be made or written."""
        self.checkpoint_failures += 1
        self.checkpoint_trouble = trouble

    def note(self, observation: Observation) -> None:
        """Count an observation."""
        if isinstance(observation, WatchFrame):
            self.frames[str(observation.resource), observation.type] += 1
        elif isinstance(observation, ListPage):
            self.frames[str(observation.resource), "LISTED"] += len(
                observation.items
            )
        elif isinstance(observation, RequestFailed):
            self.failed_request = observation.reason

    def note_drafts(self, drafts: Iterable[Draft]) -> None:
        """Count the drafts that may need an alert."""
        for draft in drafts:
            if draft.operation not in ALARMING:
                continue
            if draft.operation is Operation.REFUSED:
                self.refused += 1
                continue
            gap = orjson.loads(draft.raw)
            if draft.operation is Operation.GAP_OPENED:
                self.gaps[gap["reason"]] += 1
            elif gap["possible"] and gap["from"]:
                length = _moment(gap["to"]) - _moment(gap["from"])
                resource = draft.resource or ""
                self.gap_seconds[resource] += max(0, round(length))

    def note_commit(self, seconds: float) -> None:
        """Count a committed transaction, and how long it took."""
        self.batches += 1
        self.commit_seconds += seconds
        for index, bound in enumerate(COMMIT_BOUNDS):
            self.commit_buckets[index] += seconds <= bound


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
