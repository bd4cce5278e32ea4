"""Losses: when a failure of a node cost a Pod, and when a gang ran again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recorder.explain.causes import LOST
from recorder.explain.hit import Failure
from recorder.explain.thresholds import LIMITS
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import (
    EVICTIONS,
    PREEMPTING,
    SERVERS,
    Placement,
    Workload,
)
from recorder.model.outcomes import Happened, Outcome, Role

__all__ = [
    "Loss",
    "BY_KUBELET",
    "REQUESTED",
    "TOGETHER",
    "came_with",
    "can_hit",
    "carries_out",
    "evicted_at",
    "fell_together",
    "is_hidden",
    "is_late",
    "is_preempted",
    "lasted",
    "lost_around",
    "lost_at",
    "order",
    "position",
    "since_when",
    "preempted_at",
    "taken_at",
    "was_leaving",
    "was_replaced",
]

ALONE: Final = SERVERS | {"Pod", "ReplicationController"}
"""Kinds whose Pods are lost one by one."""

PREEMPTED: Final = "PreemptionByScheduler"
"""Reason of the condition DisruptionTarget of a Pod that was preempted."""

REQUESTED: Final = "EvictionByEvictionAPI"
"""Reason of the condition DisruptionTarget of a Pod that was evicted by a
request."""

TOGETHER: Final = timedelta(seconds=60)
"""How far apart the Pods of a gang react to one cause."""

BY_TAINT: Final = "DeletionByTaintManager"
BY_KUBELET: Final = "TerminationByKubelet"
"""Reasons of the condition DisruptionTarget of a Pod that had to go."""

OUTLIVED: Final = frozenset({Happened.UNREACHABLE, Happened.KUBELET_RESTART})
"""What containers may outlive."""

ONE_LIST: Final = timedelta(seconds=2)
"""How far apart the lists that close one gap are."""


def order(failure: Failure, pod: Placement) -> tuple[datetime, datetime, int]:
    """Return the sort key: the earliest evidence of a loss, never a name.

    For a node that fell silent that is its last renewal, however long it took
    until the loss was reported.
    """
    lost = lost_at(failure, pod)
    if failure.verdict.happened not in LOST:
        gone = lost or failure.seen
    else:
        last = failure.verdict.not_before or failure.seen
        gone = min(last, lost or last)
    return gone, failure.seen, position(failure.verdict.id)


def came_with(pod: Placement, at: datetime) -> bool:
    """Whether the list that showed a hit also showed a Pod for the first time.

    After a gap, a list shows losses and their replacements at once.
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

    That shows a gang of an unknown kind: the Pods that still ran were stopped
    before any Pod started again.
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
    """Return the position in the name of an entry."""
    return int(entry.partition("/")[2])


def can_hit(
    failure: Failure,
    pod: Placement,
    workload: Workload,
    pods: Iterable[Placement],
) -> bool:
    """Whether a failure of a node can end a Pod of a workload that way.

    A node that stayed in service hits only what failed on it. A restart of a
    kubelet deletes no Pod: the deletion had another reason.
    """
    happened = failure.verdict.happened
    if happened == Happened.DEGRADED:
        return pod.phase == "Failed"
    if happened == Happened.CORDONED:
        # A server may be rolled out meanwhile, without a record of it.
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
    """Whether a Pod was deleted because its node was cordoned.

    It ends first of its workload and is replaced: neither the end of the
    workload nor that of another member ended it.
    """
    deleting_at, back = pod.deleting_at, failure.verdict.back_in_service_at
    if (
        deleting_at is None
        or deleting_at < failure.since
        or (back is not None and deleting_at > back)
        or (pod.ended_at is not None and pod.ended_at < deleting_at)
    ):
        return False
    others = [other for other in pods if other.key != pod.key]
    ends = [at for o in others for at in (o.deleting_at, o.ended_at) if at]
    return not any(
        deleting_at - TOGETHER <= at < deleting_at for at in ends
    ) and any(
        other.bound_at is not None and other.bound_at >= deleting_at
        for other in others
    )


def carries_out(failure: Failure, pod: Placement) -> bool:
    """Return whether a Pod does to its node what happens to it.

    It came as that began, and acts by a service account of its namespace, as
    the Pods of a Plan that upgrades nodes.
    """
    account = f"system:serviceaccount:{pod.pod.namespace}:"
    acts = [
        one.sign.stored.observed_at
        for one in failure.verdict.evidence
        if one.role in {Role.DECISION, Role.ACT}
        and (one.sign.stored.fact.actor or "").startswith(account)
    ]
    return (
        bool(acts)
        and not pod.gpus
        and pod.bound_at is not None
        and pod.bound_at >= min(acts) - LIMITS.moment
    )


def was_leaving(
    failure: Failure, pod: Placement, pods: Iterable[Placement]
) -> bool:
    """Whether a Pod was deleted before the failure and not replaced.

    The reason of its deletion ended it, whatever is recorded later. A Pod
    that is replaced waited for its node to release it.
    """
    deleting_at = pod.deleting_at
    return (
        deleting_at is not None
        and deleting_at < failure.since
        and (pod.disrupted_at is None or pod.disrupted_at > deleting_at)
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
    """Return whether a Pod was deleted before the failure and replaced.

    With ``soon``, the replacement may be bound before the deletion.
    """
    deleting_at, since = pod.deleting_at, failure.since
    return (
        deleting_at is not None
        and deleting_at < since
        and any(
            other.node != pod.node
            and other.runs_at(since)
            and (other.deleting_at is None or other.deleting_at > since)
            and other.bound_at is not None
            and (soon or other.bound_at >= deleting_at)
            for other in pods
        )
    )


def lost_at(failure: Failure, pod: Placement) -> datetime | None:
    """Return when a failure cost a Pod; None if it did not."""
    since = since_when(failure, pod)
    until = _evicted_later(failure, pod) or failure.until
    times = [
        at
        for at in (
            pod.disrupted_at,
            None if _ended_later(failure, pod) else pod.ended_at,
            pod.deleting_at,
            *pod.restarts,
        )
        if at is not None and since <= at <= until
    ]
    if times or not (
        failure.verdict.happened == Happened.REBOOT or failure.is_silent
    ):
        return min(times, default=None)
    # No container outlives its machine, even without a record of its end; and
    # the API server cannot know what runs on a silent machine.
    seen = failure.seen
    ran = (
        failure.is_silent
        or pod.runs_at(failure.since)
        or (pod.listed and not came_with(pod, seen))
    )
    return seen if ran and pod.runs_at(seen) else None


def since_when(failure: Failure, pod: Placement) -> datetime:
    """Return since when what happened to a node may cost a Pod.

    A kubelet evicts a Pod before it reports the pressure.
    """
    pressed = (
        failure.verdict.happened == Happened.DEGRADED
        and pod.disruption == BY_KUBELET
        and not is_preempted(pod)
    )
    return failure.since - LIMITS.astray if pressed else failure.since


def _evicted_later(failure: Failure, pod: Placement) -> datetime | None:
    """Return when a Pod last ran that was evicted after its node was back.

    It outlived the loss, if the machine did.
    """
    back, at = failure.verdict.back_in_service_at, pod.disrupted_at
    if (
        failure.verdict.happened in OUTLIVED
        and (pod.disruption == REQUESTED or is_preempted(pod))
        and at is not None
        and back is not None
        and at > max(back, failure.seen)
    ):
        return at - ONE_LIST
    return None


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
    """Return when a Pod was hit: with its node or before it."""
    lost = lost_at(failure, pod)
    assert lost is not None, "asked only of what was lost"
    if failure.verdict.happened not in LOST:
        return lost
    return min(lost, max(failure.seen, failure.since))


def is_hidden(failure: Failure, pod: Placement, holes: Iterable[Hole]) -> bool:
    """Return whether a Pod may have been over before its node failed.

    That is so if no Pods were recorded from then until it was gone.
    """
    gone = pod.gone_at
    if gone is None or not pod.unseen or lost_at(failure, pod) != gone:
        return False
    before = [hole for hole in holes if hole.begin < failure.seen]
    return is_late(gone, before)


def is_late(at: datetime, holes: Iterable[Hole]) -> bool:
    """Return whether a time is late only because of a gap before it."""
    return any(
        hole.begin < at and (hole.until is None or at <= hole.until + ONE_LIST)
        for hole in holes
    )


def evicted_at(pod: Placement) -> datetime | None:
    """Return when a Pod that ran was evicted, other than for a taint.

    A taint that evicts is part of what happened to its node.
    """
    at, deleting_at = pod.disrupted_at, pod.deleting_at
    if pod.disruption not in EVICTIONS - {BY_TAINT} or is_preempted(pod):
        return None
    if at is None or not pod.running_at:
        return None
    left = deleting_at is not None and deleting_at + ONE_LIST < at
    return None if left else at


def is_preempted(pod: Placement) -> bool:
    """Return whether a Pod had to go for another: by scheduler or kubelet."""
    return pod.disruption == PREEMPTED or (
        pod.disruption == BY_KUBELET and pod.refusal == PREEMPTING
    )


def preempted_at(
    pod: Placement, by_queue: Iterable[datetime]
) -> datetime | None:
    """Return when a Pod was preempted, alone or with its workload."""
    if is_preempted(pod):
        return pod.disrupted_at
    at = pod.deleting_at
    near = at and any(abs(at - taken) <= TOGETHER for taken in by_queue)
    return at if near else None


def lost_around(pods: Iterable[Placement], at: datetime) -> Iterator[datetime]:
    """Yield when a gang lost Pods while it did not run in full.

    Args:
        pods: all Pods that it ever had.
        at: a time in that span; nothing is yielded of other spans.
    """
    changes: list[tuple[datetime, int]] = []
    for pod in pods:
        ends = (pod.disrupted_at, pod.deleting_at, pod.over_at)
        over = min((end for end in ends if end is not None), default=None)
        if pod.running_at is None or pod.phase == "Succeeded":
            continue
        changes.append((pod.running_at, 1))
        if over is not None and over >= pod.running_at:
            changes.append((over, -1))
    running, counts = 0, []
    for when, change in sorted(changes):
        running += change
        counts.append((when, running, change))
    size = max((count for _, count, _ in counts), default=0)
    full = [when for when, count, _ in counts if count == size]
    since = max((when for when in full if when <= at), default=at)
    until = min((when for when in full if when > at), default=None)
    for when, _, change in counts:
        if change < 0 and since <= when and (until is None or when <= until):
            yield when


def lasted(
    since: datetime, until: datetime, holes: Iterable[Hole]
) -> timedelta:
    """Return how long something lasted for sure.

    Time in gaps does not count.
    """
    total = timedelta()
    for hole in sorted(holes, key=lambda hole: hole.begin):
        if since < hole.begin < until:
            total += hole.begin - since
        if hole.begin < until:
            since = max(since, min(hole.until or until, until))
    return total + max(until - since, timedelta())


class Loss(NamedTuple):
    """The Pods that a gang lost at a time, of all it ever had."""

    at: datetime
    gang: Sequence[Placement]
    """The Pods that it had then."""

    lost: Sequence[Placement]
    pods: Sequence[Placement]
    whole: bool
    """Whether it runs in full or not at all. If not, each Pod counts by
    itself, and Pods that it kept do not replace those that it lost."""

    def again(self) -> datetime | None:
        """Return when as many Pods ran as before."""
        return self._ran(len(self.gang))

    def ends(self) -> list[datetime | None]:
        """Return when the gang ran in full again, or each of its Pods."""
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
        """Return how a gang came to run in full again."""
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
        # Other Pods of the gang may have started again beside them.
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
        """Yield when a Pod started and stopped running."""
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
        # A Pod that succeeded has done its work.
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
        """Return whether a Pod that stayed restarted with the others."""
        at = pod.back_at(self.at)
        return at is not None and at <= again + TOGETHER
