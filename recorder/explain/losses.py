"""When a failure of a node took a Pod, as far as anything tells."""

from datetime import datetime, timedelta
from typing import Final

from recorder.explain.hit import Failure
from recorder.explain.verdict import Happened
from recorder.projections import Placement

__all__ = [
    "came_with",
    "can_hit",
    "lost_at",
    "order",
    "position",
    "taken_at",
]

ONE_LIST: Final = timedelta(seconds=2)
"""Between the lists that close one gap, one after another."""


def order(failure: Failure, pod: Placement) -> tuple[datetime, datetime, int]:
    """Order by the earliest evidence of a loss; names tell nothing.

    Of a node that fell silent that is its last renewal: how long it was
    missed before somebody said so is no matter of its own.
    """
    lost = lost_at(failure, pod)
    if failure.verdict.happened in {Happened.DRAINED, Happened.DEGRADED}:
        gone = lost or failure.seen
    else:
        last = failure.verdict.between[0] or failure.seen
        gone = min(last, lost or last)
    return gone, failure.seen, position(failure.verdict.id)


def came_with(pod: Placement, at: datetime) -> bool:
    """Tell whether the list that showed a hit showed a Pod for the first time.

    After a gap it tells at once what was lost and what took its place.
    """
    return (
        pod.listed
        and pod.seen_at is not None
        and abs(pod.seen_at - at) <= ONE_LIST
    )


def position(entry: str) -> int:
    """Give the place of an entry in its log, by its name."""
    return int(entry.partition("/")[2])


def can_hit(failure: Failure, pod: Placement) -> bool:
    """A node that stayed in service hits only what failed on it."""
    if failure.verdict.happened != Happened.DEGRADED:
        return True
    return pod.phase == "Failed"


def lost_at(failure: Failure, pod: Placement) -> datetime | None:
    """Give when a Pod was lost by a failure, None if it was not."""
    times = [
        at
        for at in (
            pod.disrupted_at,
            pod.ended_at,
            pod.deleting_at,
            pod.restarted_at,
        )
        if at is not None and failure.since <= at <= failure.until
    ]
    return min(times, default=None)


def taken_at(failure: Failure, pod: Placement) -> datetime:
    """Give when a Pod was hit: with its node, or before."""
    lost = lost_at(failure, pod)
    assert lost is not None, "asked only of what was lost"
    if failure.verdict.happened in {Happened.DRAINED, Happened.DEGRADED}:
        return lost
    return min(lost, max(failure.seen, failure.since))
