"""Sentences that several answers share."""

from collections.abc import Iterable
from datetime import datetime

from recorder.explain.hit import Hit
from recorder.model.moment import written

__all__ = ["counted", "lasting"]

LASTING = frozenset({"down", "preempted"})
"""Outcomes of workloads that may still not be running."""


def counted(count: int, what: str) -> str:
    """Return a count with its noun: ``1 Pod``, ``2 Pods``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def lasting(hits: Iterable[Hit], end: datetime | None) -> str | None:
    """Return which losses continue, counted until when; None if none."""
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
