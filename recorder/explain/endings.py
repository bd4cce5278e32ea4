"""Endings: each end of a Pod of a workload, attributed once.

To what hit the workload, to a container that failed by itself, or to the end
of the workload; what a gang stops because it cannot go on belongs to what
stopped it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recorder.explain.ending import EndingFound, FailedContainer, StoredRecord
from recorder.explain.ending_draft import (
    A_MOMENT,
    Draft,
    Life,
    conclude,
    own_ends,
)
from recorder.explain.happened import LOST
from recorder.explain.hit import Failure, Hit
from recorder.explain.impact import failure_of
from recorder.explain.losses import TOGETHER
from recorder.explain.pod_end import BY_ITSELF, PodEnd, ends_of
from recorder.explain.regained import Loss
from recorder.explain.verdict import Judged
from recorder.facts.projections import SERVERS
from recorder.model.fact import StoredFact
from recorder.model.outcomes import (
    Cause,
    Confidence,
    EndedBy,
    Happened,
    Outcome,
)

__all__ = ["endings_of"]

EVIDENCE_MAX: Final = 24
"""Facts that one ending names, so that a large gang fits on a screen."""

SIGNALLED: Final = frozenset({137, 143})
"""Exit codes of a container that something else killed or told to stop."""


def endings_of(
    life: Life, hits: Iterable[Hit], verdicts: Iterable[Judged]
) -> list[EndingFound]:
    """Return what ended a workload and its Pods, in order of time."""
    known = {verdict.id: verdict for verdict in verdicts}
    drafts = [
        Draft(
            by=EndedBy(hit.hit_by),
            at=hit.hit_at,
            again=hit.running_again_at,
            hit=hit,
            failed=hit.outcome is Outcome.FAILED,
        )
        for hit in hits
        if hit.workload == life.workload and _ended(hit, known)
    ]
    own = own_ends(life)
    ends = [
        end
        for pod in life.pods
        for end in ends_of(pod, life.facts.get(pod.key, ()))
    ]
    ends.sort(key=lambda end: (end.at, end.pod.name))
    failures = [f for v in known.values() if (f := failure_of(v)) is not None]
    for end in ends:
        _place(end, drafts, own, life, failures)
    conclude(drafts, own)
    drafts += own
    drafts.sort(key=lambda one: one.at)
    return [_ending(draft, life, known) for draft in drafts]


def _ended(hit: Hit, known: Mapping[str, Judged]) -> bool:
    """Whether a hit ended anything that was not the workload's own doing."""
    if hit.outcome in {Outcome.SURVIVED, Outcome.COMPLETED}:
        return False
    names = (charge.verdict or "" for charge in hit.charges)
    charged = [known[name] for name in names if name in known]
    return not charged or any(
        verdict.cause != Cause.CONTAINER_OOM for verdict in charged
    )


def _place(
    end: PodEnd,
    drafts: list[Draft],
    own: Sequence[Draft],
    life: Life,
    failures: Sequence[Failure],
) -> None:
    """Attribute the end of a Pod to one ending."""
    before = [d for d in drafts if d.at <= end.at + A_MOMENT]
    covering = next((d for d in reversed(drafts) if d.covers(end)), None)
    if covering is not None:
        covering.ends.append(end)
        return
    serves = life.workload.kind in SERVERS
    stopping = [] if serves else [d for d in drafts if d.stops(end)]
    if end.by in {EndedBy.DELETION, EndedBy.UNRECORDED}:
        stopping += [d for d in own if d.at - TOGETHER <= end.at]
    if stopping:
        stopping[0].stopped.append(end)
        return
    last = before[-1] if before else None
    if last is None or not last.repeats(end):
        last = _begun(end, failures)
        # Work that is done ends; a server replaces its Pods as it likes.
        last.routine = end.by is EndedBy.COMPLETION or (
            serves and end.by is EndedBy.DELETION
        )
        drafts.append(last)
        drafts.sort(key=lambda one: one.at)
    else:
        last.ends.append(end)
    last.again = None if last.routine else _again(end, life)


def _begun(end: PodEnd, failures: Sequence[Failure]) -> Draft:
    """Return the ending that a Pod begins, with the node that it went with.

    Pods that belong to their node are no workload that a node could hit.
    """
    if end.by in {EndedBy.UNRECORDED, EndedBy.NODE_FAILURE}:
        for failure in failures:
            if (
                failure.verdict.node == end.node
                and failure.verdict.happened in LOST
                and failure.since <= end.at <= failure.until
            ):
                return Draft(
                    by=EndedBy.NODE_FAILURE,
                    at=end.at,
                    ends=[end],
                    verdict=failure.verdict,
                )
    return Draft(by=end.by, at=end.at, ends=[end])


def _again(end: PodEnd, life: Life) -> datetime | None:
    """Return when as many Pods ran as before one ended."""
    return _loss([end], life).again()


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
    """Return what a draft came to."""
    hit = draft.hit
    last = draft.ends[-1] if draft.ends else None
    verdict = draft.verdict if hit is None else _verdict(hit, known)
    evidence = [s for end in draft.ends for s in end.evidence]
    evidence = _bounded(evidence) + draft.evidence
    named = {(s.entry, s.index): s for s in evidence}
    pods = {end.pod.name for end in draft.ends} | {
        *(hit.pods_hit if hit else ())
    }
    stopped = {end.pod.name for end in draft.stopped} - pods
    at = draft.at if hit is not None or last is None else last.at
    repeated = draft.by in BY_ITSELF and len(draft.ends) > 1
    failed = None if last is None or hit else last.container
    return EndingFound(
        ended_by=draft.by,
        at=at,
        pods=sorted(pods),
        stopped=sorted(stopped),
        node=hit.first_node if hit else last.node if last else None,
        count=len(draft.ends) if repeated else 1,
        first_at=draft.ends[0].at if repeated else None,
        container=None if failed is None else FailedContainer.of(failed),
        outcome=_outcome(draft, life),
        running_again_at=None if draft.failed else draft.again,
        hit=hit,
        verdict=verdict,
        routine=draft.routine,
        confidence=_confidence(draft, verdict),
        actor=None,
        gpu_hours_lost=None if hit is None else hit.gpu_hours_lost,
        sentence="",
        evidence=[StoredRecord.of(named[place]) for place in sorted(named)],
        missing=(),
    )


def _bounded(evidence: list[StoredFact]) -> list[StoredFact]:
    if len(evidence) <= EVIDENCE_MAX:
        return evidence
    half = EVIDENCE_MAX // 2
    return evidence[:half] + evidence[-half:]


def _verdict(hit: Hit, known: Mapping[str, Judged]) -> Judged | None:
    """Return the verdict that is charged with most of a loss."""
    charged = [
        (known[name].node == hit.first_node, charge.gpu_hours, name)
        for charge in hit.charges
        if (name := charge.verdict or "") in known
    ]
    return known[max(charged)[2]] if charged else None


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
    return None if life.is_over or is_pod else Outcome.DOWN


def _confidence(draft: Draft, verdict: Judged | None) -> Confidence:
    if draft.hit is not None:
        if draft.hit.outcome is Outcome.UNKNOWN:
            return Confidence.UNKNOWN
        if verdict is None:
            return Confidence.PROVEN
        # Of a node that is silent nobody knows what still runs on it.
        silent = verdict.happened is Happened.UNREACHABLE and not draft.ends
        degraded = verdict.happened is Happened.DEGRADED
        return Confidence.LIKELY if silent or degraded else Confidence.PROVEN
    if draft.by is EndedBy.UNRECORDED:
        return Confidence.UNKNOWN
    failed = draft.ends[-1].container if draft.ends else None
    signalled = failed is not None and (
        failed.exit_code in SIGNALLED or failed.signal is not None
    )
    if draft.by is EndedBy.CONTAINER_EXIT and signalled:
        # Whoever sent the signal left no record of it.
        return Confidence.POSSIBLE
    return Confidence.PROVEN
