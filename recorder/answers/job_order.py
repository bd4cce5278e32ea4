"""The orders of lists of workloads, and of what ended them."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum

from recorder.model.errors import ConfigError

__all__ = ["JobOrder", "TooManyToOrderError", "rank_of"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR_DIGITS = 10_000
"""GPU-hours are rounded to four digits."""


class JobOrder(StrEnum):
    """What workloads, and what ended them, are ordered by."""

    BEGAN = "began"
    """When the first Pod of the workload was observed."""

    LAST_ENDING = "last-ending"
    """When it last ended; of a disruption, when it happened."""

    GPU_HOURS_LOST = "gpu-hours-lost"
    GPUS = "gpus"
    """Of the workload."""


class TooManyToOrderError(ConfigError):
    """An order needs more workloads judged than one answer judges."""

    code = "question.too_many_to_order"


def rank_of(
    order: JobOrder,
    *,
    began_at: datetime,
    ended_at: datetime | None,
    gpu_hours_lost: float | None,
    gpus: int,
) -> int:
    """Return the sort key of a workload, or of what ended it.

    Args:
        order: what to order by.
        began_at: when the workload began.
        ended_at: when it last ended; None is first.
        gpu_hours_lost: what its endings cost.
        gpus: its size.
    """
    match order:
        case JobOrder.BEGAN:
            return (began_at - EPOCH) // MICROSECOND
        case JobOrder.LAST_ENDING:
            return 0 if ended_at is None else (ended_at - EPOCH) // MICROSECOND
        case JobOrder.GPU_HOURS_LOST:
            return round((gpu_hours_lost or 0.0) * HOUR_DIGITS)
        case JobOrder.GPUS:
            return gpus
