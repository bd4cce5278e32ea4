"""Sentences that answers and lines for people share."""

from collections.abc import Iterable
from datetime import datetime

from recorder.explain.hit import Hit
from recorder.model.moment import written

__all__ = ["counted", "lasting"]

LASTING = frozenset({"down", "preempted"})
"""Outcomes of what may not be over: nothing runs again, or waits for it."""


def counted(count: int, what: str) -> str:
    """Write how many there are of something: ``1 Pod``, ``2 Pods``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def lasting(hits: Iterable[Hit], end: datetime | None) -> str | None:
    """Say what is not over, and to when it was counted; None if all is."""
    down = sum(
        hit.outcome in LASTING and hit.running_again_at is None for hit in hits
    )
    if not down or end is None:
        return None
    verb = "is" if down == 1 else "are"
    return (
        f"{counted(down, 'workload')} {verb} still down: losses counted"
        f" until {written(end)}, the end of the record or the window"
    )
