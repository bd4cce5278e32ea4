"""Endings: each end of a Pod of a workload, attributed once.

It is attributed to a hit on the workload, to a container that failed by
itself, or to the end of the workload. Pods that a gang stops because it cannot
continue belong to the cause of that.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recorder.explain.ending import (
    EndingFound,
    FailedContainer,
    LostMember,
    NodesAlike,
    StoredRecord,
)
from recorder.explain.hit import Hit
from recorder.explain.losses import Loss, carries_out
from recorder.explain.pod_end import (
    BY_ITSELF,
    TAKEN,
    TOGETHER,
    PodEnd,
    ends_of,
)
from recorder.explain.verdict import Judged
from recorder.facts import says_with_object
from recorder.facts.over import CRITERIA_MET, says_over
from recorder.facts.projections import (
    SERVERS,
    Placement,
    Workload,
    Workloads,
)
from recorder.facts.slurm import SLURM_GROUP
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

__all__ = ["Life", "endings_of", "facts_by_object"]

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

A_MOMENT: Final = timedelta(seconds=1)

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


@dataclass(slots=True, kw_only=True)
class Draft:
    """An ending that is being put together."""

    by: EndedBy
    at: datetime
    again: datetime | None = None
    hit: Hit | None = None
    of_workload: bool = False
    ends: list[PodEnd] = field(default_factory=list)
    stopped: list[PodEnd] = field(default_factory=list)
    evidence: list[StoredFact] = field(default_factory=list)
    failed: bool = False
    routine: bool = False
    gpu_hours: float | None = None
    """What it cost; None if that is not known."""

    def holds(self, at: datetime) -> bool:
        """Return whether the workload had not continued by a time."""
        return self.at - A_MOMENT <= at and (
            self.again is None or at <= self.again
        )

    def covers(self, end: PodEnd) -> bool:
        """Return whether this ending ended a Pod directly."""
        hit = self.hit
        if hit is None or not hit.lost(end.pod):
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
    found: list[Draft] = []
    if life.workload.kind == "Pod":
        return found
    over = False
    for stored in life.own():
        by = _own_end(stored, over=over)
        if by is None:
            continue
        at = stored.observed_at
        ran = any(p.running_at and p.running_at < at for p in life.pods)
        if by is EndedBy.SUSPENSION and not ran:
            continue  # created suspended, to wait in a queue
        same = next((d for d in found if d.by is by), None)
        if same is not None:
            same.evidence.append(stored)
            continue
        over = over or by is not EndedBy.SUSPENSION
        found.append(Draft(by=by, at=at, of_workload=True, evidence=[stored]))
    return found


def _own_end(stored: StoredFact, *, over: bool) -> EndedBy | None:
    detail = stored.fact.detail
    kind = stored.fact.object.kind if stored.fact.object else ""
    well = says_over(kind, detail)
    if isinstance(detail, ConditionChanged) and detail.type == CRITERIA_MET:
        return None  # it is over a moment later
    if well is not None:
        condition = (
            detail.new if isinstance(detail, ConditionChanged) else None
        )
        late = condition and condition.reason == "DeadlineExceeded"
        failed = EndedBy.DEADLINE if late else EndedBy.UNRECORDED
        return EndedBy.COMPLETION if well else failed
    match detail:
        case ConditionChanged(type="Suspended", new=Condition(status="True")):
            return EndedBy.SUSPENSION
        case FieldChanged(field="suspend", new=True) if (
            kind in SUSPENDED_BY_FIELD
        ):
            return EndedBy.SUSPENSION
        case DeletionRequested() | Vanished() if not over:
            return EndedBy.DELETION
        case _:
            return None


def conclude(drafts: Sequence[Draft], own: list[Draft], life: Life) -> None:
    """Merge the failure of a workload into the ending that caused it.

    A queue suspends what it preempts, also what does not run in full.
    """
    by_queue = life.workloads.preempted_at(life.workload)
    for end in list(own):
        if end.by is EndedBy.SUSPENSION:
            preempted = [d for d in drafts if d.by is EndedBy.PREEMPTION]
            if any(abs(d.at - end.at) <= TOGETHER for d in preempted):
                own.remove(end)
            elif any(abs(at - end.at) <= TOGETHER for at in by_queue):
                end.by = EndedBy.PREEMPTION
            continue
        if end.by is not EndedBy.UNRECORDED:
            continue
        before = [d for d in drafts if d.at <= end.at + TOGETHER]
        failing = [d for d in before if d.failed] or before[-1:]
        if failing and (_only_counts(end) or failing[-1].holds(end.at)):
            last = failing[-1]
            last.failed = True
            last.evidence += end.evidence
            last.stopped += end.stopped
            own.remove(end)


def _only_counts(end: Draft) -> bool:
    """Return whether a failure states only that Pods failed."""
    details = [stored.fact.detail for stored in end.evidence]
    return any(
        isinstance(detail, ConditionChanged)
        and detail.new is not None
        and detail.new.reason in OWN_FAILURE
        for detail in details
    )


EVIDENCE_MAX: Final = 24
"""How many facts an ending lists, so that a large gang stays readable."""

SIGNALLED: Final = frozenset({137, 143})
"""Exit codes of containers that received SIGKILL or SIGTERM."""


def endings_of(
    life: Life, hits: Iterable[Hit], verdicts: Iterable[Judged]
) -> list[EndingFound]:
    """Return what ended a workload and its Pods, in order of time."""
    known = {verdict.id: verdict for verdict in verdicts}
    found = [hit for hit in hits if hit.workload == life.workload]
    drafts = [
        Draft(
            by=EndedBy(hit.hit_by),
            at=hit.hit_at,
            again=hit.running_again_at,
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
    ends.sort(key=lambda e: (e.at, e.by in WITHOUT_REASON, e.pod.name))
    acting = {
        pod.key
        for pod in life.pods
        for verdict in known.values()
        if verdict.node == pod.node and carries_out(verdict, pod)
    }
    for end in ends:
        _place(end, drafts, own, life, acting)
    for hit in found:
        if _is_own(hit, known):
            _charge(hit, drafts)
    conclude(drafts, own, life)
    drafts += own
    drafts.sort(key=lambda one: one.at)
    return [_ending(draft, life, known) for draft in drafts]


def _ended(hit: Hit, life: Life) -> bool:
    """Return whether a hit ended Pods that had not done their work."""
    if hit.outcome is not Outcome.COMPLETED:
        return hit.outcome is not Outcome.SURVIVED
    return any(
        pod.phase != "Succeeded" or life.workload.kind in SERVERS
        for pod in life.pods
        if hit.lost(pod.pod)
    )


def _is_own(hit: Hit, known: Mapping[str, Judged]) -> bool:
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
        if any(hit.lost(end.pod) for end in draft.ends) and (
            draft.by in BY_ITSELF and draft.hit is None
        ):
            draft.gpu_hours = (draft.gpu_hours or 0.0) + hit.gpu_hours_lost
            return


def _place(
    end: PodEnd,
    drafts: list[Draft],
    own: Sequence[Draft],
    life: Life,
    acting: Container[str],
) -> None:
    """Attribute the end of a Pod to one ending.

    What took a Pod, and is no hit, is nothing to its workload: it was down or
    over.
    """
    covering = next((d for d in reversed(drafts) if d.covers(end)), None)
    if covering is not None:
        covering.ends.append(end)
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
    before = [d for d in drafts if d.at <= end.at + A_MOMENT]
    last = before[-1] if before else None
    if last is None or not last.repeats(end):
        last = Draft(by=end.by, at=end.at, ends=[end])
        # Completed work ends; a server may replace its Pods at any time; and
        # what a Pod does to its node may end it.
        last.routine = (
            end.by is EndedBy.COMPLETION
            or end.by in TAKEN
            or (serves and end.by is EndedBy.DELETION)
            or end.pod.key in acting
        )
        drafts.append(last)
        drafts.sort(key=lambda one: one.at)
    else:
        last.ends.append(end)
    last.again = None if last.routine else _loss([end], life).again()


def _loss(ends: Sequence[PodEnd], life: Life) -> Loss:
    at = ends[-1].at
    names = {end.pod.uid or end.pod.name for end in ends if end.at == at}
    lost = [p for p in life.pods if (p.pod.uid or p.pod.name) in names]
    whole = life.workload.is_gang
    gang = [
        p
        for p in life.pods
        if p.running_at is not None
        and p.running_at <= at
        and (p.over_at is None or p.over_at >= at)
    ]
    return Loss(at, gang if whole and gang else lost, lost, life.pods, whole)


def _ending(
    draft: Draft, life: Life, known: Mapping[str, Judged]
) -> EndingFound:
    """Return the ending of a draft."""
    hit = draft.hit
    last = draft.ends[-1] if draft.ends else None
    verdicts = _verdicts(draft, known)
    verdict = verdicts[0] if verdicts else None
    evidence = [s for end in draft.ends for s in end.evidence]
    evidence = _bounded(evidence) + draft.evidence
    named = {(s.entry, s.index): s for s in evidence}
    pods = {*(end.pod.name for end in draft.ends)}
    pods |= {*hit.pods_hit} if hit else set()
    stopped = {end.pod.name for end in draft.stopped} - pods
    at = draft.at if hit is not None or last is None else last.at
    repeated = draft.by in BY_ITSELF and len(draft.ends) > 1
    failed = None if last is None or hit else last.container
    members = _members(draft, life)
    node = hit.first_node if hit else last.node if last else None
    lost = sorted(members, key=lambda one: one.pod in stopped)
    found = dict.fromkeys([node, *(one.node for one in lost)])
    nodes = [one for one in found if one is not None]
    return EndingFound(
        id=lost[0].entry if pods else evidence[0].entry,
        ended_by=draft.by,
        at=at,
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
        outcome=_outcome(draft, life),
        running_again_at=None if draft.failed else draft.again,
        hit=hit,
        verdict=verdict,
        verdicts=verdicts[:VERDICTS_MAX],
        more_verdicts=_counted(verdicts[VERDICTS_MAX:]),
        every_verdict=verdicts,
        preemptor=None,
        routine=draft.routine,
        confidence=_confidence(draft, verdict),
        actor=None,
        gpu_hours_lost=draft.gpu_hours,
        sentence="",
        evidence=[StoredRecord.of(named[place]) for place in sorted(named)],
        missing=(),
    )


def _is_claimed(stored: StoredFact) -> bool:
    """Return whether Slurm says it, and no record of the cluster."""
    thing = stored.fact.object
    return thing is not None and thing.group == SLURM_GROUP


def _bounded(evidence: list[StoredFact]) -> list[StoredFact]:
    if len(evidence) <= EVIDENCE_MAX:
        return evidence
    half = EVIDENCE_MAX // 2
    return evidence[:half] + evidence[-half:]


def _members(draft: Draft, life: Life) -> list[LostMember]:
    """Return the Pods that an ending ended or stopped, each with its record.

    A Pod on a silent node may have no record of its end; the last record of
    it counts then.
    """
    every = reversed([*draft.ends, *draft.stopped])
    ended = {end.pod.name: (end.node, end.evidence[0]) for end in every}
    found = [(name, *of) for name, of in ended.items()]
    hit = draft.hit
    for pod in life.pods if hit is not None else ():
        known = life.facts.get(pod.key, ())
        if hit and known and pod.pod.name not in ended and hit.lost(pod.pod):
            before = [s for s in known if s.observed_at <= draft.at]
            found.append((pod.pod.name, pod.node, (before or known)[-1]))
    members = [
        LostMember(
            pod=name,
            node=node,
            says=says_with_object(record.fact),
            entry=record.entry,
        )
        for name, node, record in found
    ]
    return sorted(members, key=lambda one: one.entry)


def _verdicts(draft: Draft, known: Mapping[str, Judged]) -> list[Judged]:
    """Return the verdict of each node that cost Pods, the first node's first.

    Of several on one node it is the one that is charged with most.
    """
    hit = draft.hit
    if hit is None:
        return []
    most: dict[str, tuple[float, str]] = {}
    for charge in hit.charges:
        name = charge.verdict or ""
        if name in known:
            before = most.get(charge.node, (-1.0, ""))
            most[charge.node] = max(before, (charge.gpu_hours, name))
    found = [known[name] for _, name in most.values()]
    return sorted(
        found, key=lambda one: (one.node != hit.first_node, one.lost_at)
    )


def _counted(verdicts: Iterable[Judged]) -> Sequence[NodesAlike]:
    """Count verdicts by what happened and why."""
    counts = Counter((one.happened, one.cause) for one in verdicts)
    return [
        NodesAlike(happened=happened, cause=cause, nodes=nodes)
        for (happened, cause), nodes in counts.items()
    ]


def _outcome(draft: Draft, life: Life) -> Outcome | None:
    if draft.of_workload or draft.routine:
        return None
    if draft.hit is not None:
        return draft.hit.outcome
    if draft.failed:
        return Outcome.FAILED
    if draft.again is not None:
        return _loss(draft.ends, life).outcome(draft.again)
    is_pod = life.workload.kind == "Pod"
    return (
        None
        if life.workloads.decided_at(life.workload) or is_pod
        else Outcome.DOWN
    )


def _confidence(draft: Draft, verdict: Judged | None) -> Confidence:
    records = [s for end in draft.ends for s in end.evidence]
    if draft.hit is not None:
        if draft.hit.outcome is Outcome.UNKNOWN:
            return Confidence.UNKNOWN
        # An Event names a purpose, and a silent node does not show its Pods.
        doubted = (
            any(
                isinstance(s.fact.detail, EventOccurred)
                or (draft.by is EndedBy.NODE_FAILURE and _is_claimed(s))
                for s in records
            )
            if verdict is None
            else verdict.happened is Happened.DEGRADED
            or (verdict.happened is Happened.UNREACHABLE and not draft.ends)
        )
        return Confidence.LIKELY if doubted else Confidence.PROVEN
    if draft.by is EndedBy.UNRECORDED:
        return Confidence.UNKNOWN
    failed = draft.ends[-1].container if draft.ends else None
    signalled = failed is not None and (
        failed.exit_code in SIGNALLED or failed.signal is not None
    )
    if draft.by is EndedBy.CONTAINER_EXIT and signalled:
        # No record shows who sent the signal.
        return Confidence.POSSIBLE
    return Confidence.PROVEN
