"""How a recording is doing: counters and states that others look at."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from recorder.intake.state import Recovered, ResumePoint, StreamKey
from recorder.model.entry import Draft, Operation
from recorder.model.observation import (
    ListPage,
    Observation,
    WatchFrame,
)

__all__ = ["Progress"]

ALARMING = frozenset({Operation.REFUSED, Operation.GAP_OPENED})


@dataclass(slots=True)
class Progress:
    """Counters of one process; they start at zero with it."""

    state: str = "starting"
    """``starting``, ``recording``, ``waiting`` for the log,
    ``standing-by`` or ``stopped``."""

    waiting_for: str | None = None
    """While waiting or standing by: for what, in words."""

    log: int = 0
    size: int = 0
    streams: dict[StreamKey, ResumePoint] = field(default_factory=dict)
    frames: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Objects listed and frames watched, by resource and type."""

    entries: int = 0
    refused: int = 0
    gaps: Counter[str] = field(default_factory=Counter)
    """Gaps opened, by reason."""

    batches: int = 0
    commit_seconds: float = 0.0
    failed_commits: int = 0
    queue_bytes: int = 0
    committed_at: datetime | None = None
    database_bytes: int | None = None

    def began(self, recovered: Recovered) -> None:
        """Take note of the log that is being written."""
        self.state, self.waiting_for = "recording", None
        self.log, self.size = recovered.log, recovered.size
        self.streams = dict(recovered.streams)

    def wait_for(self, reason: str) -> None:
        """Take note of why nothing can be written."""
        self.state, self.waiting_for = "waiting", reason

    def stand_by(self, reason: str) -> None:
        """Take note of who writes the log instead."""
        self.state, self.waiting_for = "standing-by", reason

    def note(self, observation: Observation) -> None:
        """Count an observation."""
        if isinstance(observation, WatchFrame):
            self.frames[str(observation.resource), observation.type] += 1
        elif isinstance(observation, ListPage):
            self.frames[str(observation.resource), "LISTED"] += len(
                observation.items
            )

    def note_drafts(self, drafts: Iterable[Draft]) -> None:
        """Count what became entries, where it is worth an alarm."""
        for draft in drafts:
            if draft.operation not in ALARMING:
                continue
            if draft.operation is Operation.REFUSED:
                self.refused += 1
            else:
                self.gaps[orjson.loads(draft.raw)["reason"]] += 1
