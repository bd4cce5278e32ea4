"""Endings: each end of a Pod of a workload, attributed once.

It is attributed to a hit on the workload, to a container that failed by
itself, or to the end of the workload. Pods that a gang stops because it cannot
continue belong to the cause of that.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from recorder.explain.causes import LOST
from recorder.explain.ending import (
    Ending,
    FailedContainer,
    LostMember,
    NodesAlike,
    RecordedFact,
)
from recorder.explain.hit import Hit
from recorder.explain.losses import OUTLIVED, carries_out
from recorder.explain.pod_end import (
    BY_ITSELF,
    SIGNALLED,
    TAKEN,
    TOGETHER,
    PodEnd,
    ends_of,
    is_refusal,
)
from recorder.explain.recovery import Loss
from recorder.explain.thresholds import LIMITS
from recorder.explain.verdict import Verdict
from recorder.facts import over, says_with_object
from recorder.facts.over import ending_conditions, says_over
from recorder.facts.projections import SERVERS, Placement, Workload, Workloads
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    ConditionChanged,
    DeletionRequested,
    EventOccurred,
    FieldChanged,
    Vanished,
)
from recorder.model.outcomes import (
    Cause,
    Confidence,
    EndedBy,
    Happened,
    Outcome,
)
from recorder.model.state import Condition

OWN_FAILURE: Final = frozenset(
    {
        "BackoffLimitExceeded",
        "FailedIndexes",
        "FailedJobs",
        "MaxFailedIndexesExceeded",
        "PodFailurePolicy",
    }
)
"""Reasons of a failure that state only that too many Pods failed."""

SUSPENDED_BY_FIELD: Final = frozenset({"RayJob"})
"""Kinds that get no condition when they are suspended."""

WITHOUT_REASON: Final = frozenset({EndedBy.DELETION, EndedBy.UNRECORDED})
"""Ends of a Pod for which something else may be the reason."""

VERDICTS_MAX: Final = 10
"""Verdicts that an ending lists, each of some kilobytes."""


def facts_by_object(
    facts: Iterable[StoredFact],
) -> dict[str, list[StoredFact]]:
    """Return facts by the key of the object, in the order of the log."""
    found: dict[str, list[StoredFact]] = {}
    for stored in facts:
        thing = stored.fact.object
        if thing is not None:
            found.setdefault(thing.key, []).append(stored)
    return found


class Life(NamedTuple):
    """A workload, its Pods, and the facts about them."""

    workload: Workload
    pods: Sequence[Placement]
    facts: Mapping[str, Sequence[StoredFact]]
    """See `facts_by_object`."""

    workloads: Workloads
    """Folded from the same facts."""

    def own(self) -> Sequence[StoredFact]:
        """Return the facts about the workload itself."""
        return self.facts.get(self.workload.uid or "", ())


@dataclass(kw_only=True)
class Draft:
    """An ending that is being put together."""

    life: Life
    by: EndedBy
    at: datetime
    hit: Hit | None = None
    ends: list[PodEnd] = field(default_factory=list)
    stopped: list[PodEnd] = field(default_factory=list)
    evidence: list[StoredFact] = field(default_factory=list)
    failed: bool = False
    routine: bool = False
    gpu_hours: float | None = None
    """What it cost; None if that is not known."""

    @cached_property
    def again(self) -> datetime | None:
        """When it ran in full again."""
        if self.hit is not None:
            return self.hit.running_again_at
        loss = self.loss
        return loss.again() if loss else None

    @property
    def loss(self) -> Loss | None:
        """What the last of its ends cost, with all at the same time.

        None if it ended for good, with the workload or by routine.
        """
        if self.hit is not None or self.routine or not self.ends:
            return None
        at, pods = self.ends[-1].at, self.life.pods
        keys = {end.pod.key for end in self.ends if end.at == at}
        lost = [p for p in pods if p.key in keys]
        return Loss.of(at, lost, pods, whole=self.life.workload.is_gang)

    @property
    def outcome(self) -> Outcome | None:
        """What became of the workload; None if it ended with it."""
        if self.hit is not None:
            return self.hit.outcome
        if self.loss is None:
            return None
        if self.failed:
            return Outcome.FAILED
        if self.again is not None:
            return self.loss.outcome(self.again)
        alone = self.life.workload.kind == "Pod"
        over = self.life.workloads.decided_at(self.life.workload)
        return None if over or alone else Outcome.DOWN

    def end(self, end: PodEnd) -> None:
        """Add the end of another Pod."""
        self.ends.append(end)
        self.__dict__.pop("again", None)

    def holds(self, at: datetime) -> bool:
        """Return whether the workload had not continued by a time."""
        return self.at - LIMITS.asynchronous <= at and (
            self.again is None or at <= self.again
        )

    def covers(self, end: PodEnd) -> bool:
        """Return whether this ending ended a Pod directly."""
        hit = self.hit
        if hit is None or end.pod.key not in hit.pod_keys:
            return False
        if self.again is None or end.at <= self.again:
            # A container is seen to end before its Pod is.
            early = TOGETHER if end.lasting else timedelta()
            return end.at >= hit.hit_at - early
        return end.lasting and end.by not in BY_ITSELF

    def stops(self, end: PodEnd) -> bool:
        """Return whether a gang lost a Pod because it had lost another.

        If the node of one failed, the others fail with it.
        """
        if end.by in TAKEN | WITHOUT_REASON:
            return self.holds(end.at)
        return (
            end.by is EndedBy.CONTAINER_EXIT
            and self.by is EndedBy.NODE_FAILURE
            and self.hit is not None
            and self.hit.workload.is_gang
            and abs(end.at - self.at) <= TOGETHER
            and (self.again is None or end.at <= self.again)
        )

    def repeats(self, end: PodEnd) -> bool:
        """Return whether a container failed again as before.

        Or whether more Pods ended the same way at about the same time.
        """
        if not self.ends or self.hit is not None or self.by is not end.by:
            return False
        last, new = self.ends[-1].container, end.container
        if end.by not in BY_ITSELF:
            return end.at - self.ends[-1].at <= TOGETHER
        return (
            last is not None
            and new is not None
            and (last.container, last.exit_code, last.reason)
            == (new.container, new.exit_code, new.reason)
        )


def own_ends(life: Life) -> list[Draft]:
    """Return how the workload itself ended: each way at most once.

    For a Pod that is its own workload, the end of the Pod counts.
    """
    found: dict[EndedBy, Draft] = {}
    for stored in life.own() if life.workload.kind != "Pod" else ():
        detail, by = stored.fact.detail, _own_end(stored)
        at = over.ended_before(detail) or stored.observed_at
        ended = found.keys() - {EndedBy.SUSPENSION}
        if by is None or (by is EndedBy.DELETION and ended):
            continue
        if by is EndedBy.SUSPENSION and not any(
            p.running_at and p.running_at < at for p in life.pods
        ):
            continue  # created suspended, to wait in a queue
        draft = found.setdefault(by, Draft(life=life, by=by, at=at))
        draft.evidence.append(stored)
    return [*found.values()]


def _own_end(stored: StoredFact) -> EndedBy | None:
    detail, by = stored.fact.detail, None
    kind = stored.fact.about
    well = says_over(kind, detail)
    reasons = {one.reason for one in ending_conditions(detail).values()}
    match detail:
        case ConditionChanged(type=over.CRITERIA_MET):
            pass  # it is over a moment later
        case _ if well is False and "DeadlineExceeded" in reasons:
            by = EndedBy.DEADLINE
        case _ if well is not None:
            by = EndedBy.COMPLETION if well else EndedBy.UNRECORDED
        case ConditionChanged(type="Suspended", new=Condition(status="True")):
            by = EndedBy.SUSPENSION
        case FieldChanged(field="suspend", new=True) if (
            kind in SUSPENDED_BY_FIELD
        ):
            by = EndedBy.SUSPENSION
        case DeletionRequested() | Vanished():
            by = EndedBy.DELETION
    return by


def conclude(drafts: Sequence[Draft], own: list[Draft], life: Life) -> None:
    """Merge the failure of a workload into the ending that caused it.

    A queue suspends what it preempts, also what does not run in full.
    """
    by_queue = life.workloads.preempted_at(life.workload)
    for end in list(own):
        if end.by is EndedBy.SUSPENSION:
            preempted = [d.at for d in drafts if d.by is EndedBy.PREEMPTION]
            if any(abs(at - end.at) <= TOGETHER for at in preempted):
                own.remove(end)
            elif any(abs(at - end.at) <= TOGETHER for at in by_queue):
                end.by = EndedBy.PREEMPTION
            else:
                end.evidence += [
                    stored
                    for stored in life.workloads.evicted(life.workload)
                    if abs(stored.observed_at - end.at) <= TOGETHER
                ]
        if end.by is not EndedBy.UNRECORDED:
            continue
        before = [d for d in drafts if d.at <= end.at + TOGETHER]
        failing = [d for d in before if d.failed] or before[-1:]
        only_counts = any(
            condition.reason in OWN_FAILURE
            for stored in end.evidence
            for condition in ending_conditions(stored.fact.detail).values()
        )
        if failing and (only_counts or failing[-1].holds(end.at)):
            last = failing[-1]
            last.failed = True
            last.evidence += end.evidence
            last.stopped += end.stopped
            own.remove(end)


EVIDENCE_MAX: Final = 24
"""How many facts an ending lists, so that a large gang stays readable."""


def endings_of(
    life: Life, hits: Iterable[Hit], verdicts: Iterable[Verdict]
) -> list[Ending]:
    """Return what ended a workload and its Pods, in order of time."""
    known = {verdict.id: verdict for verdict in verdicts}
    found = [hit for hit in hits if hit.workload == life.workload]
    drafts = [
        Draft(
            life=life,
            by=EndedBy(hit.hit_by),
            at=hit.hit_at,
            hit=hit,
            gpu_hours=hit.gpu_hours_lost,
            failed=hit.outcome is Outcome.FAILED,
        )
        for hit in found
        if _ended(hit, life) and not _is_own(hit, known)
    ]
    own = own_ends(life)
    ends = [
        end
        for pod in life.pods
        for end in ends_of(pod, life.facts.get(pod.key, ()))
    ]
    # Of those at one time, the one with a reason ended the others.
    ends.sort(key=lambda e: (e.at, e.by in WITHOUT_REASON, e.pod.pod.name))
    for end in ends:
        _place(end, drafts, own, life, known.values())
    for hit in found:
        if _is_own(hit, known):
            _charge(hit, drafts)
    conclude(drafts, own, life)
    every = sorted([*drafts, *own], key=lambda one: one.at)
    return [_ending(draft, known) for draft in every]


def _ended(hit: Hit, life: Life) -> bool:
    """Return whether a hit ended Pods that had not done their work."""
    if hit.outcome is not Outcome.COMPLETED:
        return hit.outcome is not Outcome.SURVIVED
    return any(
        pod.phase != "Succeeded" or life.workload.kind in SERVERS
        for pod in life.pods
        if pod.key in hit.pod_keys
    )


def _is_own(hit: Hit, known: Mapping[str, Verdict]) -> bool:
    """Return whether a container of the workload was what its node shows."""
    causes = {
        known[name].cause
        for charge in hit.charges
        if (name := charge.verdict or "") in known
    }
    return causes == {Cause.CONTAINER_OOM}


def _charge(hit: Hit, drafts: Iterable[Draft]) -> None:
    """Add what a container cost that ended by itself."""
    for draft in drafts:
        if draft.by in BY_ITSELF and any(
            end.pod.key in hit.pod_keys for end in draft.ends
        ):
            draft.gpu_hours = (draft.gpu_hours or 0.0) + hit.gpu_hours_lost
            return


def _place(
    end: PodEnd,
    drafts: list[Draft],
    own: Sequence[Draft],
    life: Life,
    verdicts: Iterable[Verdict],
) -> None:
    """Attribute the end of a Pod to one ending.

    What took a Pod, and is no hit, is nothing to its workload: it was down or
    over.
    """
    covering = next((d for d in reversed(drafts) if d.covers(end)), None)
    if covering is not None:
        covering.end(end)
        return
    serves = life.workload.kind in SERVERS
    stopping = [] if serves else [d for d in drafts if d.stops(end)]
    if end.by in WITHOUT_REASON:
        stopping += [d for d in own if d.at - TOGETHER <= end.at]
    if stopping:
        stopping[0].stopped.append(end)
        if end.by is EndedBy.NODE_FAILURE:
            stopping[0].evidence += end.evidence  # it blames another node
        return
    before = [d for d in drafts if d.at <= end.at + LIMITS.asynchronous]
    last = before[-1] if before else None
    if last is None or not last.repeats(end):
        # Completed work ends; a server may replace its Pods at any time; and
        # what a Pod does to its node may end it.
        routine = (
            end.by is EndedBy.COMPLETION
            or end.by in TAKEN
            or (serves and end.by is EndedBy.DELETION)
            or any(
                one.node == end.pod.node and carries_out(one, end.pod)
                for one in verdicts
            )
        )
        last = Draft(life=life, by=end.by, at=end.at, routine=routine)
        drafts.append(last)
        drafts.sort(key=lambda one: one.at)
    last.end(end)


def _ending(draft: Draft, known: Mapping[str, Verdict]) -> Ending:
    hit = draft.hit
    last = draft.ends[-1] if draft.ends else None
    verdicts = _verdicts(hit, known) if hit else []
    evidence = [s for end in draft.ends for s in end.evidence]
    if len(evidence) > EVIDENCE_MAX:
        half = EVIDENCE_MAX // 2
        evidence = evidence[:half] + evidence[-half:]
    evidence += draft.evidence
    named = {(s.entry, s.index): s for s in evidence}
    pods = {*(end.pod.pod.name for end in draft.ends)}
    pods |= {*hit.pods_hit} if hit else set()
    stopped = {end.pod.pod.name for end in draft.stopped} - pods
    repeated = draft.by in BY_ITSELF and len(draft.ends) > 1
    failed = None if last is None or hit else last.container
    members = _members(draft, stopped)
    node = hit.first_node if hit else last.pod.node if last else None
    lost = sorted(members, key=lambda one: one.pod in stopped)
    found = dict.fromkeys([node, *(one.node for one in lost)])
    nodes = [one for one in found if one is not None]
    counts = Counter((v.happened, v.cause) for v in verdicts[VERDICTS_MAX:])
    return Ending(
        id=lost[0].entry if pods else evidence[0].entry,
        ended_by=draft.by,
        at=draft.at if hit is not None or last is None else last.at,
        pods=sorted(pods),
        pod_count=len(pods),
        stopped=sorted(stopped),
        node=node,
        nodes=nodes,
        node_count=len(nodes),
        members=members,
        count=len(draft.ends) if repeated else 1,
        first_at=draft.ends[0].at if repeated else None,
        container=None if failed is None else FailedContainer.of(failed),
        outcome=draft.outcome,
        running_again_at=None if draft.failed else draft.again,
        hit=hit,
        verdict=verdicts[0] if verdicts else None,
        verdicts=verdicts[:VERDICTS_MAX],
        more_verdicts=[
            NodesAlike(happened=happened, cause=cause, nodes=nodes)
            for (happened, cause), nodes in counts.items()
        ],
        every_verdict=verdicts,
        preemptor=None,
        routine=draft.routine,
        confidence=_confidence(draft, verdicts or [*known.values()]),
        actor=None,
        gpu_hours_lost=draft.gpu_hours,
        sentence="",
        evidence=[RecordedFact.of(named[place]) for place in sorted(named)],
        missing=(),
    )


def _members(draft: Draft, stopped: Container[str]) -> list[LostMember]:
    """Return the Pods that an ending ended or stopped, each with its record.

    In log order; of one entry those that it stopped are the last.
    A Pod on a silent node may have no record of its end; the last record of
    it counts then.
    """
    ends = reversed([*draft.ends, *draft.stopped])
    found = {end.pod.pod.name: (end.pod, end.evidence[0]) for end in ends}
    for pod in draft.life.pods if draft.hit is not None else ():
        known = draft.life.facts.get(pod.key, ())
        if draft.hit and known and pod.key in draft.hit.pod_keys:
            before = [s for s in known if s.observed_at <= draft.at]
            found.setdefault(pod.pod.name, (pod, (before or known)[-1]))
    members = [
        LostMember(
            pod=name,
            node=pod.node,
            says=says_with_object(record.fact),
            entry=record.entry,
        )
        for name, (pod, record) in found.items()
    ]
    return sorted(members, key=lambda one: (one.entry, one.pod in stopped))


def _verdicts(hit: Hit, known: Mapping[str, Verdict]) -> list[Verdict]:
    """Return the verdict of each node that cost Pods, the first node's first.

    Of several on one node it is the one that is charged with most.
    """
    most = {
        charge.node: verdict
        for charge in sorted(hit.charges, key=lambda one: one.gpu_hours)
        if (verdict := known.get(charge.verdict or ""))
    }
    return sorted(
        most.values(),
        key=lambda one: (one.node != hit.first_node, one.lost_at),
    )


def _confidence(draft: Draft, verdicts: Sequence[Verdict]) -> Confidence:
    """Return how certain it is that this is what ended it.

    The verdicts are those of its hit, or else all that are known.
    """
    hit, by, ends = draft.hit, draft.by, draft.ends
    if by is EndedBy.UNRECORDED or (hit and hit.outcome is Outcome.UNKNOWN):
        return Confidence.UNKNOWN
    if hit is None:
        failed = ends[-1].container if ends else None
        # No record shows who sent a signal.
        signalled = (
            by is EndedBy.CONTAINER_EXIT
            and failed is not None
            and (failed.exit_code in SIGNALLED or failed.signal is not None)
        )
        if signalled:
            return Confidence.POSSIBLE
        if failed and any(_may_stop(one, ends[-1]) for one in verdicts):
            return Confidence.LIKELY
        return Confidence.PROVEN
    # What evicts names its purpose at most, who lost a node may not have seen
    # it, and a silent node does not show its Pods.
    if verdicts:
        happened = verdicts[0].happened
        doubted = (
            happened is Happened.DEGRADED
            or (happened is Happened.UNREACHABLE and not ends)
            or (verdicts[0].hiding and any(end.pod.unseen for end in ends))
            # A restart is one reason of its kubelet to refuse a Pod.
            or (
                happened in OUTLIVED
                and any(is_refusal(end.pod.refusal) for end in ends)
            )
        )
    else:
        doubted = by is EndedBy.NODE_FAILURE or any(
            isinstance(stored.fact.detail, EventOccurred)
            for end in ends
            for stored in end.evidence
        )
    return Confidence.LIKELY if doubted else Confidence.PROVEN


def _may_stop(verdict: Verdict, end: PodEnd) -> bool:
    """Return whether the machine of a container may have ended it.

    No sign of life of its node came after its end, and it was lost.
    """
    alive_at = verdict.not_before
    return (
        verdict.node == end.pod.node
        and verdict.happened in LOST
        and (alive_at is None or alive_at <= end.at + LIMITS.astray)
        and end.at <= verdict.lost_at
    )
