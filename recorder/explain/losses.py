"""Losses: when a node's failure took a Pod, and when a gang ran again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recorder.explain.causes import LOST
from recorder.explain.hit import Failure
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import SERVERS, Placement, Workload
from recorder.model.outcomes import Happened, Outcome

__all__ = [
    "Loss",
    "TOGETHER",
    "came_with",
    "can_hit",
    "fell_together",
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

ALONE: Final = SERVERS | {"Pod", "ReplicationController"}
"""Kinds each of whose Pods is lost by itself."""

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
    if failure.verdict.happened not in LOST:
        gone = lost or failure.seen
    else:
        last = failure.verdict.not_before or failure.seen
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


def fell_together(
    workload: Workload,
    lost: Iterable[tuple[Failure, Placement]],
    pods: Iterable[Placement],
) -> bool:
    """Whether a workload stopped all its other Pods for those that it lost.

    That shows a gang of a kind that nobody knows: what still ran was stopped
    before any Pod began anew.
    """
    taken = {pod.key: taken_at(failure, pod) for failure, pod in lost}
    if not taken or workload.kind in ALONE:
        return False
    at = min(taken.values())
    others = [pod for pod in pods if pod.key not in taken]
    kept = [pod for pod in others if pod.runs_at(at)]
    anew = [p.running_at for p in others if p.running_at and p.running_at > at]
    stops = [pod.deleting_at or pod.ended_at for pod in kept]
    return bool(stops and anew) and all(
        stop is not None and at <= stop <= min(anew) for stop in stops
    )


def position(entry: str) -> int:
    """Return the place of an entry in its log, by its name."""
    return int(entry.partition("/")[2])


def can_hit(
    failure: Failure,
    pod: Placement,
    workload: Workload,
    pods: Iterable[Placement],
) -> bool:
    """Whether a node could do that to a Pod of a workload.

    One that stayed in service hits only what failed on it, and a kubelet that
    starts anew has no Pod deleted: whoever did had a reason of its own.
    """
    happened = failure.verdict.happened
    if happened == Happened.DEGRADED:
        return pod.phase == "Failed"
    if happened == Happened.CORDONED:
        # A server may be rolled out meanwhile, with nothing to tell it by.
        return workload.kind not in SERVERS and _was_emptied(
            failure, pod, pods
        )
    deleted = pod.deleting_at
    if happened != Happened.KUBELET_RESTART or deleted is None:
        return True
    ended = [pod.ended_at, *pod.restarts]
    return pod.disruption is not None or any(
        at is not None and failure.since <= at < deleted for at in ended
    )


def _was_emptied(
    failure: Failure, pod: Placement, pods: Iterable[Placement]
) -> bool:
    """Whether a Pod was deleted for a cordon, by whoever held it.

    It goes first of its workload, and another takes its place: neither the
    workload's own end nor the end of another member took it.
    """
    told, back = pod.deleting_at, failure.verdict.back_in_service_at
    if (
        told is None
        or told < failure.since
        or (back is not None and told > back)
        or (pod.ended_at is not None and pod.ended_at < told)
    ):
        return False
    others = [other for other in pods if other.key != pod.key]
    ends = [at for o in others for at in (o.deleting_at, o.ended_at) if at]
    return not any(told - TOGETHER <= at < told for at in ends) and any(
        other.bound_at is not None and other.bound_at >= told
        for other in others
    )


def was_leaving(
    failure: Failure, pod: Placement, pods: Iterable[Placement]
) -> bool:
    """Whether a Pod was to go before, and nobody wanted it back.

    It is lost by what it had to go for, whatever is written on it later. One
    that another takes the place of waited for its node to let it go.
    """
    told = pod.deleting_at
    return (
        told is not None
        and told < failure.since
        and (pod.disrupted_at is None or pod.disrupted_at > told)
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
    if times or not (
        failure.verdict.happened == Happened.REBOOT or failure.is_silent
    ):
        return min(times, default=None)
    # No container outlives its machine, whatever is not recorded of it; and
    # what runs on a machine that is silent, the API server cannot know.
    seen = failure.seen
    ran = (
        failure.is_silent
        or pod.runs_at(failure.since)
        or (pod.listed and not came_with(pod, seen))
    )
    return seen if ran and pod.runs_at(seen) else None


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
    if failure.verdict.happened not in LOST:
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


class Loss(NamedTuple):
    """What a gang lost at a time, of all the Pods that it ever had."""

    at: datetime
    gang: Sequence[Placement]
    """Those that it had then."""

    lost: Sequence[Placement]
    pods: Sequence[Placement]
    whole: bool
    """Whether it runs in full or not at all: else each Pod counts by itself,
    and those that it kept stand in for none that it lost."""

    def again(self) -> datetime | None:
        """Return when as many Pods ran as before."""
        return self._ran(len(self.gang))

    def ends(self) -> list[datetime | None]:
        """Return when as many ran as before, or one more each time."""
        if self.whole:
            return [self.again()]
        return [self._ran(place + 1) for place in range(len(self.gang))]

    def _ran(self, enough: int) -> datetime | None:
        stayed = self._others() if self.whole else []
        running = sum(
            p.runs_at(self.at) and not came_with(p, self.at) for p in stayed
        )
        changes = [change for pod in self.pods for change in self._of(pod)]
        for at, change in sorted(changes):
            running += change
            if running >= enough and change > 0:
                return at
        return None

    def outcome(self, again: datetime) -> Outcome:
        """Say how a gang came to run in full again."""
        new = [p for p in self._others() if self._is_new(p, again)]
        back = [
            p
            for p in self.lost
            if (at := self._back_at(p)) is not None and at <= again
        ]
        begun = {p.key for p in [*new, *back]} | {
            p.key for p in self._others() if self._begins_anew(p, again)
        }
        whole = len(begun) >= len(self.gang) > len(self.lost)
        # Others of the gang may have begun anew beside them.
        came = Counter(p.node for p in [*new, *back])
        same = Counter(p.node for p in self.lost) <= came
        return Outcome.RESTARTED if whole or same else Outcome.RESCHEDULED

    def _others(self) -> list[Placement]:
        lost = {p.key for p in self.lost}
        return [p for p in self.pods if p.key not in lost]

    def _back_at(self, pod: Placement) -> datetime | None:
        """Return when a lost Pod ran again in its own place."""
        at = pod.back_at(self.at)
        over = pod.ended_at
        return at if at is None or over is None or at < over else None

    def _of(self, pod: Placement) -> Iterator[tuple[datetime, int]]:
        """Yield when a Pod ran, and when it did no more."""
        if any(pod.key == lost.key for lost in self.lost):
            began = self._back_at(pod)
        else:
            began = pod.running_at
        if began is None:
            return
        if began > self.at or came_with(pod, self.at):
            yield began, 1
        elif not self.whole:
            return
        # What ended well is work that is done.
        over = pod.ended_at
        if over is not None and over > self.at and pod.phase != "Succeeded":
            yield over, -1

    def _is_new(self, pod: Placement, again: datetime) -> bool:
        return (
            pod.running_at is not None
            and pod.running_at <= again
            and (pod.running_at > self.at or came_with(pod, self.at))
        )

    def _begins_anew(self, pod: Placement, again: datetime) -> bool:
        """Return whether a Pod that stayed began again with the others."""
        at = pod.back_at(self.at)
        return at is not None and at <= again + TOGETHER
