"""Losses: when a failure of a node, or another reason, cost a Pod."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from recorder.explain.causes import LOST, STAYING
from recorder.explain.hit import Failure
from recorder.explain.pod_end import (
    BY_KUBELET,
    BY_TAINT,
    REQUESTED,
    STOPPED,
    TOGETHER,
    is_preempted,
    taken,
)
from recorder.explain.recovery import came_with
from recorder.explain.signals.signal import Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import (
    REPLACED,
    SERVERS,
    Placement,
    Workload,
    Workloads,
)
from recorder.model.facts import Appeared, Cordoned, FieldChanged
from recorder.model.moment import LAST
from recorder.model.outcomes import EndedBy, Happened, HitBy, Role
from recorder.model.state import controller

ALONE: Final = SERVERS | {"Pod", "ReplicationController"}
"""Kinds whose Pods are lost one by one."""

KEEPERS: Final = SERVERS | {"Job", "ReplicationController"}
"""Controllers that replace the Pods that are gone, and no others."""

AT_ONCE: Final = frozenset({"ReplicaSet", "ReplicationController"})
"""Controllers that replace a Pod when it is deleted, not when it is gone."""

ANSWERS: Final = timedelta(seconds=15)
"""How long such a controller takes under load; later it wants a new Pod."""

REVISION: Final = "controller-revision-hash"
"""The label by which Pods of one controller differ while they are updated."""

OUTLIVED: Final = frozenset({Happened.UNREACHABLE, Happened.KUBELET_RESTART})
"""What containers may outlive."""

PRESSURES: Final = frozenset({"DiskPressure", "MemoryPressure", "PIDPressure"})
"""Conditions of a node for which its kubelet evicts or refuses Pods."""


def fell_together(
    workload: Workload, lost: Iterable["Taking"], pods: Iterable[Placement]
) -> bool:
    """Whether a workload stopped all its other Pods for those that it lost.

    That shows a gang of an unknown kind: the Pods that still ran were stopped
    before any Pod started again.
    """
    gone = {one.pod.key: one.at for one in lost}
    if not gone or workload.kind in ALONE:
        return False
    at = min(gone.values())
    others = [pod for pod in pods if pod.key not in gone]
    anew = [p.running_at for p in others if p.running_at and p.running_at > at]
    stops = [p.deleting_at or p.ended_at for p in others if p.runs_at(at)]
    return bool(stops and anew) and all(
        at <= stop <= min(anew) if stop else False for stop in stops
    )


def position(entry: str) -> int:
    """Return the position in the name of an entry."""
    return int(entry.partition("/")[2])


def carries_out(verdict: Verdict, pod: Placement) -> bool:
    """Return whether a Pod does to its node what happens to it.

    It is the order itself, as one that runs a command on its node; or it came
    as that began, and acts by a service account of its namespace, as the Pods
    of a Plan that upgrades nodes.
    """
    order = Appeared, FieldChanged
    account = f"system:serviceaccount:{pod.pod.namespace}:"
    bound_at = pod.bound_at
    if pod.gpus or bound_at is None:
        return False
    acts = (
        one.sign.stored
        for one in verdict.evidence
        if one.role in {Role.DECISION, Role.ACT}
    )
    return any(
        (isinstance(act.fact.detail, order) and act.fact.object == pod.pod)
        or (
            (act.fact.actor or "").startswith(account)
            and bound_at >= act.observed_at - LIMITS.moment
        )
        for act in acts
    )


class Taking(NamedTuple):
    """What took a Pod from its gang."""

    pod: Placement
    by: HitBy
    at: datetime
    order: tuple[datetime, datetime, int]
    """The sort key: the earliest evidence of a loss, never a name."""

    verdict: Verdict | None = None
    """What happened to its node, if that took it."""

    unseen: bool = False
    """Whether the Pod may have been over before its node failed."""

    @property
    def node(self) -> str:
        """The node of the Pod."""
        return self.pod.node or ""

    @property
    def verdict_id(self) -> str | None:
        """The ID of the verdict, if there is one."""
        return self.verdict.id if self.verdict else None


class Strike:
    """A failure of a node and a Pod on it, which it may have cost."""

    def __init__(
        self,
        failure: Failure,
        pod: Placement,
        workload: Workload,
        pods: Sequence[Placement],
    ) -> None:
        self.failure, self.pod = failure, pod
        self.workload, self.pods = workload, pods
        self.verdict = failure.verdict

    @property
    def can_hit(self) -> bool:
        """Whether it can end the Pod of the workload that way.

        A node that stayed in service hits only what failed on it. A restart
        of a kubelet deletes no Pod: the deletion had another reason.
        """
        pod, happened = self.pod, self.verdict.happened
        if not pod.was_on(self._since, self.failure.seen):
            return False
        if happened == Happened.DEGRADED:
            can = self._was_degraded()
        elif happened in STAYING:
            drained = happened == Happened.DRAINED and pod.disruption
            can = not is_preempted(pod) and bool(drained or self._was_emptied)
        elif happened == Happened.KUBELET_RESTART and pod.deleting_at:
            can = pod.disruption is not None or any(
                at is not None and self.failure.since <= at < pod.deleting_at
                for at in (pod.ended_at, *pod.restarts)
            )
        else:
            can = True
        return can and not (self._was_deleted() or self._failed_before())

    def _was_degraded(self) -> bool:
        """Return whether what degraded its node can have ended the Pod.

        Under pressure a kubelet evicts; what exits then does so by itself. A
        node that is not ready keeps its Pods until its taint evicts them.
        """
        pod, of = self.pod, self.verdict.effect.subject
        if of.topic is Topic.READY and pod.disruption == BY_TAINT:
            return True
        own = pod.disruption is None and pod.refusal is None
        return pod.phase == "Failed" and not (own and of.name in PRESSURES)

    def _failed_before(self) -> bool:
        """Return whether the Pod failed by itself before its node was lost.

        The kubelet that reports it was alive. A fault or a decision may show
        on a Pod before it shows on its node, and so does what stops both.
        """
        pod, at, verdict = self.pod, self.pod.failed_at, self.verdict
        return (
            verdict.happened in LOST
            and at is not None
            and at < self.failure.seen
            and verdict.fault is None
            and verdict.decision is None
            and STOPPED.isdisjoint(pod.exit_codes[-1:])
        )

    @cached_property
    def _was_emptied(self) -> bool:
        """Whether the Pod was deleted because its node was cordoned.

        It ends first of its workload and is replaced, if anything does that,
        or who cordoned the node deleted it: neither the end of the workload,
        nor that of another member, nor a rollout ended it.
        """
        pod, at = self.pod, self.pod.deleting_at
        back = self.verdict.back_in_service_at
        if at is None or not self.failure.since <= at <= (back or at):
            return False
        others = [other for other in self.pods if other.key != pod.key]
        ends = [e for o in others for e in (o.deleting_at, o.ended_at) if e]
        return (
            (pod.ended_at or at) >= at
            and (
                self.workload.kind == "Pod"
                or any(o.bound_at and o.bound_at >= at for o in others)
                or pod.deleting_by in self._cordoning
            )
            and not any(at - TOGETHER <= end < at for end in ends)
            and bool(
                self.workload.kind not in SERVERS
                or was_deleted(pod, self.workload, self.pods)
            )
        )

    @cached_property
    def _cordoning(self) -> set[str]:
        """Who cordoned the node; a name that is not recorded is empty."""
        facts = (one.sign.stored.fact for one in self.verdict.evidence)
        cordons = (fact for fact in facts if isinstance(fact.detail, Cordoned))
        return {fact.actor or "" for fact in cordons}

    def _was_deleted(self) -> bool:
        """Return whether the Pod was deleted before the failure.

        If nothing replaces it, the reason of its deletion ended it, whatever
        is recorded later; else only if its replacement ran by then: a Pod may
        wait for its node to release it. Some kinds replace a Pod before they
        delete it.
        """
        pod, since = self.pod, self.failure.since
        deleting_at, disrupted_at = pod.deleting_at, pod.disrupted_at
        lost = self.verdict.happened in LOST and not pod.unseen
        unknown = self.failure.seen if lost else since
        if deleting_at is None or deleting_at >= unknown or self._was_emptied:
            return False
        others = [o for o in self.pods if o.key != pod.key]
        if (disrupted_at is None or disrupted_at > deleting_at) and not any(
            (o.bound_at or o.seen_at or since) > max(since, deleting_at)
            for o in others
        ):
            return True
        soon = self.workload.kind in REPLACED
        return deleting_at < since and any(
            other.node != pod.node
            and other.runs_at(since)
            and (other.deleting_at is None or other.deleting_at > since)
            and other.bound_at is not None
            and (soon or other.bound_at >= deleting_at)
            for other in others
        )

    @property
    def _since(self) -> datetime:
        """Since when what happened to the node may cost the Pod.

        A kubelet evicts a Pod before it reports the pressure. What empties a
        node costs no other Pod while the node lives.
        """
        happened, since = self.verdict.happened, self.failure.since
        known = self.pod.disruption is None and not self.pod.unseen
        if known and happened in LOST:
            lived = min(self.verdict.not_before or LAST, self.failure.seen)
            return since if self._was_emptied else max(since, lived)
        pressed = (
            happened == Happened.DEGRADED
            and self.pod.disruption == BY_KUBELET
            and not is_preempted(self.pod)
        )
        return since - LIMITS.astray if pressed else since

    @cached_property
    def lost_at(self) -> datetime | None:
        """When the failure cost the Pod; None if it did not."""
        failure, pod = self.failure, self.pod
        ended_at, until = pod.ended_at, failure.until
        back = self.verdict.back_in_service_at
        own = pod.disruption is None and pod.refusal is None
        if self.verdict.happened == Happened.DEGRADED and own:
            # A fault that still holds is no reason for what ends much later.
            until = min(until, failure.seen + LIMITS.recent)
        if back is not None:
            served = max(back, failure.seen)
            if pod.phase == "Succeeded" and pod.over_at:
                # Well after its node was in service again.
                ended_at = None if pod.over_at > served else ended_at
            at = pod.disrupted_at
            if (
                self.verdict.happened in OUTLIVED | STAYING
                and (pod.disruption == REQUESTED or is_preempted(pod))
                and at is not None
                and at > served
            ):
                # It outlived the loss, if the machine did, or the drain.
                until = at - LIMITS.astray
        ends = (pod.disrupted_at, ended_at, pod.deleting_at, *pod.restarts)
        times = [at for at in ends if at and self._since <= at <= until]
        if times or not (
            self.verdict.happened == Happened.REBOOT or failure.is_silent
        ):
            return min(times, default=None)
        # No container outlives its machine, even without a record of its end;
        # and the API server cannot know what runs on a silent machine.
        seen = failure.seen
        ran = (
            failure.is_silent
            or pod.runs_at(failure.since)
            or (pod.listed and not came_with(pod, seen))
        )
        return seen if ran and pod.runs_at(seen) else None

    def taking(self, holes: Iterable[Hole]) -> Taking:
        """Return the loss of the Pod: with its node or before it.

        It may have been over before, if it was found gone and no Pods were
        recorded from before the failure until then.
        """
        lost, failure, gone = self.lost_at, self.failure, self.pod.gone_at
        assert lost is not None, "asked only of what was lost"
        at = lost
        if self.verdict.happened in LOST:
            at = min(lost, max(failure.seen, failure.since))
        hidden = (
            gone == lost
            and self.pod.unseen
            and is_late(gone, [h for h in holes if h.begin < failure.seen])
        )
        return Taking(self.pod, self._by, at, self.order, self.verdict, hidden)

    @property
    def _by(self) -> HitBy:
        """How what happened to the node took the Pod."""
        verdict, pod = self.verdict, self.pod
        if verdict.happened in STAYING:
            return HitBy.DRAIN
        if is_preempted(pod):
            return HitBy.PREEMPTION
        if pod.disruption == REQUESTED:
            emptied = verdict.decision is not None or self._cordoning
            return HitBy.DRAIN if emptied else HitBy.EVICTION
        at = pod.deleting_at if pod.disruption is None else None
        if at is None or at >= self.failure.seen or not self._was_emptied:
            return HitBy.NODE_FAILURE
        decided = verdict.decision is not None and verdict.decision.at <= at
        emptied = decided or self._cordoning
        return HitBy.DRAIN if emptied else HitBy.NODE_FAILURE

    @property
    def order(self) -> tuple[datetime, datetime, int]:
        """The sort key: the earliest evidence of a loss, never a name.

        For a node that fell silent that is its last renewal, however long it
        took until the loss was reported.
        """
        seen, lost_at = self.failure.seen, self.lost_at
        gone = lost_at or seen
        if self.verdict.happened in LOST:
            gone = min(gone, self.verdict.not_before or seen)
        return gone, seen, position(self.verdict.id)


def is_late(at: datetime, holes: Iterable[Hole]) -> bool:
    """Return whether a time is late only because of a gap before it."""
    return any(
        hole.begin < at
        and (hole.until is None or at <= hole.until + LIMITS.astray)
        for hole in holes
    )


def was_deleted(
    pod: Placement, workload: Workload, pods: Iterable[Placement]
) -> datetime | None:
    """Return when another deleted a Pod, which its controller replaced.

    A controller that wants no such Pod makes none, and one that updates makes
    it of another revision. Those that replace whole groups delete Pods because
    another ended; a workload that is suspended deletes all that run at once.
    A controller that is created again by its name replaces all that it had.
    """
    owner, at = controller(pod.owners), pod.deleted_at
    if at is None or owner is None:
        return None
    gone = max(at, pod.ended_at or at)
    until = at + ANSWERS if owner.kind in AT_ONCE else gone + TOGETHER
    # A workload may have had thousands of Pods: few are of that time.
    makers = {
        maker == owner
        for other in pods
        if other.seen_at
        and at <= other.seen_at <= until
        and other.key != pod.key
        and not other.listed
        and other.labels.get(REVISION) == pod.labels.get(REVISION)
        and (maker := controller(other.owners)) is not None
        and (maker.kind, maker.name) == (owner.kind, owner.name)
    }
    if not makers:
        return None
    again = True not in makers
    others = [o for o in pods if o.key != pod.key]
    alike = [o for o in others if owner in o.owners]
    ran = [o.left_at or gone + TOGETHER for o in alike if o.runs_at(at)]
    at_once = ran and max(ran) <= at + LIMITS.astray
    if at_once and owner.kind not in SERVERS and not again:
        return None
    alone = workload.kind in SERVERS or workload.uid == owner.uid
    ends = [
        end
        for other in others
        if not (again and other in alike and _goes_at(other, at))
        for end in (other.left_at, *other.restarts)
        if end is not None
    ]
    grouped = not (alone and owner.kind in KEEPERS)
    if grouped and any(at - TOGETHER <= end < at for end in ends):
        return None
    return at


def _goes_at(pod: Placement, at: datetime) -> bool:
    """Return whether the same deletion took a Pod, and nothing before it."""
    return (
        pod.deleted_at is not None
        and pod.disrupted_at is None
        and abs(pod.deleted_at - at) <= LIMITS.astray
    )


def displaced(
    pod: Placement,
    workload: Workload,
    workloads: Workloads,
    pods: Sequence[Placement],
) -> Taking | None:
    """Return what took a Pod from a node that stayed well.

    A Pod counts if it ran, or if its kubelet refused it, and if its workload
    was not over. The Pods are those of its workload, this one too.
    """
    found = taken(pod, workloads.preempted_at(workload))
    if found is None and (at := was_deleted(pod, workload, pods)):
        found = EndedBy.DELETION, at
    if found is None or not (pod.running_at or pod.refusal):
        return None
    by, at = found
    over = workloads.decided_at(workload)
    if by is EndedBy.DEADLINE or (over and over + LIMITS.asynchronous < at):
        return None
    return Taking(pod, HitBy(by), at, (at, at, 0))
