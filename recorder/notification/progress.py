"""How notifying goes, for who watches over it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recorder.notification.ports import Tally
from recorder.notification.sending import Counters

__all__ = ["NotifyProgress"]


@dataclass(slots=True)
class NotifyProgress:
    """What one process that notifies shares with its probes."""

    counters: Counters
    rules: Sequence[str] = ()
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """What the outbox holds, by rule."""

    judged_at: dict[int, datetime] = field(default_factory=dict)
    """By log, when it was judged last."""

    waiting_for: str = ""
    """What keeps it from beginning."""

    def judged(self, log: int, at: datetime) -> None:
        """Take note that a log was judged."""
        self.judged_at[log] = at

    def ready(self) -> tuple[str, bool]:
        """Say what is so, and whether that is ready."""
        if self.waiting_for:
            return f"waiting: {self.waiting_for}", False
        return "notifying", True
