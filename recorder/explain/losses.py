"""When a failure of a node took a Pod, as far as anything tells."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from recorder.coverage.hole import Hole
from recorder.explain.hit import Failure
from recorder.model.outcomes import Happened
from recorder.projections import Placement

__all__ = [
    "TOGETHER",
    "came_with",
    "can_hit",
    "is_hidden",
    "is_late",
    "lasted",
    "lost_at",
    "order",
    "position",
    "preempted_at",
    "taken_at",
    "was_leaving",
    "was_replaced",
]

TOGETHER: Final = timedelta(seconds=60)
"""Between what the Pods of a gang do for one reason."""

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
    """Whether the list that showed a hit showed a Pod for the first time.

    After a gap it tells at once what was lost and what took its place.
    """
    return (
        pod.listed
        and pod.seen_at is not None
        and abs(pod.seen_at - at) <= ONE_LIST
    )


def position(entry: str) -> int:
    """Return the place of an entry in its log, by its name."""
    return int(entry.partition("/")[2])


def can_hit(failure: Failure, pod: Placement) -> bool:
    """Whether a node could do that to a Pod.

    One that stayed in service hits only what failed on it, and a kubelet that
    starts anew has no Pod deleted: whoever did had a reason of its own.
    """
    happened = failure.verdict.happened
    if happened == Happened.DEGRADED:
        return pod.phase == "Failed"
    deleted = pod.deleting_at
    if happened != Happened.KUBELET_RESTART or deleted is None:
        return True
    ended = [pod.ended_at, *pod.restarts]
    return pod.disruption is not None or any(
        at is not None and failure.since <= at < deleted for at in ended
    )


def was_leaving(
    failure: Failure, pod: Placement, pods: Iterable[Placement]
) -> bool:
    """Whether a Pod was to go before, and nobody wanted it back.

    It is lost by what it had to go for. One that another takes the place of
    waited for its node to let it go.
    """
    told = pod.deleting_at
    return (
        told is not None
        and told < failure.since
        and pod.disruption is None
        and not any(
            other.key != pod.key
            and other.bound_at is not None
            and other.bound_at > failure.since
            for other in pods
        )
    )


def was_replaced(
    failure: Failure,
    pod: Placement,
    pods: Iterable[Placement],
    *,
    soon: bool,
) -> bool:
    """Return whether a Pod was to go before, and another is in its place.

    Where that is so soon, one may be there before the Pod is told to go.
    """
    told, since = pod.deleting_at, failure.since
    return (
        told is not None
        and told < since
        and any(
            other.node != pod.node
            and other.runs_at(since)
            and (other.deleting_at is None or other.deleting_at > since)
            and other.bound_at is not None
            and (soon or other.bound_at >= told)
            for other in pods
        )
    )


def lost_at(failure: Failure, pod: Placement) -> datetime | None:
    """Return when a Pod was lost by a failure, None if it was not."""
    times = [
        at
        for at in (
            pod.disrupted_at,
            None if _ended_later(failure, pod) else pod.ended_at,
            pod.deleting_at,
            *pod.restarts,
        )
        if at is not None and failure.since <= at <= failure.until
    ]
    return min(times, default=None)


def _ended_later(failure: Failure, pod: Placement) -> bool:
    """Return whether a Pod ended well after its node was in service again."""
    ended, back = pod.over_at, failure.verdict.back_in_service_at
    return (
        pod.phase == "Succeeded"
        and ended is not None
        and back is not None
        and ended > max(back, failure.seen)
    )


def taken_at(failure: Failure, pod: Placement) -> datetime:
    """Return when a Pod was hit: with its node, or before."""
    lost = lost_at(failure, pod)
    assert lost is not None, "asked only of what was lost"
    if failure.verdict.happened in {Happened.DRAINED, Happened.DEGRADED}:
        return lost
    return min(lost, max(failure.seen, failure.since))


def is_hidden(failure: Failure, pod: Placement, holes: Iterable[Hole]) -> bool:
    """Return whether a Pod may have been over before its node failed.

    That is so if nobody heard of Pods since then, and it was gone after.
    """
    gone = pod.gone_at
    if gone is None or not pod.unseen or lost_at(failure, pod) != gone:
        return False
    before = [hole for hole in holes if hole.begin < failure.seen]
    return is_late(gone, before)


def is_late(at: datetime, holes: Iterable[Hole]) -> bool:
    """Return whether it was nobody's hearing that made a time so late."""
    return any(
        hole.begin < at and (hole.until is None or at <= hole.until + ONE_LIST)
        for hole in holes
    )


def preempted_at(
    pod: Placement, by_queue: Iterable[datetime]
) -> datetime | None:
    """Return when a Pod gave way, by itself or with all of its workload."""
    if pod.disruption == "PreemptionByScheduler":
        return pod.disrupted_at
    at = pod.deleting_at
    near = at and any(abs(at - taken) <= TOGETHER for taken in by_queue)
    return at if near else None


def lasted(
    since: datetime, until: datetime, holes: Iterable[Hole]
) -> timedelta:
    """Return how long something lasted for sure.

    While nobody heard of it, it may have been otherwise.
    """
    total = timedelta()
    for hole in sorted(holes, key=lambda hole: hole.begin):
        if since < hole.begin < until:
            total += hole.begin - since
        if hole.begin < until:
            since = max(since, min(hole.until or until, until))
    return total + max(until - since, timedelta())
