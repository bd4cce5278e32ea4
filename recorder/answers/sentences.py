"""Sentences that several answers share."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from recorder.explain.hit import Hit
from recorder.model.moment import written

LASTING = frozenset({"down", "preempted"})
"""Outcomes of workloads that may still not be running."""


def counted(count: int, what: str) -> str:
    """Return a count with its noun: ``1 Pod``, ``2 Pods``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def gpu_hours(hours: float) -> str:
    """Return GPU-hours with their unit: ``0.24 GPU-hours``."""
    return f"{hours:.2f} GPU-hours"


def counted_parts(hits: Iterable[Hit]) -> str:
    """Return how many Pods were hit; those of Slurm are members."""
    parts: Counter[str] = Counter()
    for hit in hits:
        parts[hit.workload.part] += len(hit.pods_hit)
    if not parts:
        return counted(0, "Pod")
    return " and ".join(counted(parts[one], one) for one in sorted(parts))


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
