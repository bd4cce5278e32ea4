"""The orders of lists of workloads, and of what ended them."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR_DIGITS = 10_000
"""GPU-hours are rounded to four digits."""

NAME_BYTES: Final = 63 + 1 + 253
"""Of a namespace, a slash and a name; what is longer does not count."""


class JobOrder(StrEnum):
    """What workloads, and what ended them, are ordered by."""

    BEGAN = "began"
    """When the first Pod of the workload was observed."""

    LAST_ENDING = "last-ending"
    """When it last ended; of a disruption, when it happened."""

    GPU_HOURS_LOST = "gpu-hours-lost"
    GPUS = "gpus"
    """Of the workload."""

    NAME = "name"
    """Namespace and name of the workload; A is first."""


UNJUDGED: Final = frozenset({JobOrder.BEGAN, JobOrder.NAME})
"""What is known of any number of workloads before they are judged."""


def rank_of(
    order: JobOrder,
    *,
    name: str,
    began_at: datetime,
    ended_at: datetime | None,
    gpu_hours_lost: float | None,
    gpus: int,
) -> int:
    """Return the sort key of a workload, or of what ended it.

    Args:
        order: what to order by.
        name: its namespace and name.
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
        case JobOrder.NAME:
            return rank_from_name(name.encode())


def rank_from_name(name: bytes) -> int:
    """Return a number that sorts as a name does."""
    return int.from_bytes(name[:NAME_BYTES].ljust(NAME_BYTES, b"\0"))


def name_from_rank(rank: int) -> bytes:
    """Return the name that a number sorts as."""
    return rank.to_bytes(NAME_BYTES).rstrip(b"\0")
