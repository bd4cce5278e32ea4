"""Impact: the workloads that a failure hit, and their outcomes.

The blast radius is the gangs whose Pods run on a node, not these Pods alone.
A loss by several transitions belongs to the first. Counts are lower bounds:
work since the last checkpoint is not known.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from recorder.explain.causes import LOST, STAYING
from recorder.explain.hit import Charge, Failure, Hit, Scope, said
from recorder.explain.losses import (
    OUTLIVED,
    Loss,
    Strike,
    Taking,
    came_with,
    carries_out,
    displaced,
    fell_together,
    is_late,
    lasted,
    position,
)
from recorder.explain.pod_end import TOGETHER
from recorder.explain.thresholds import LIMITS
from recorder.explain.verdict import Judged
from recorder.facts.projections import (
    SERVERS,
    Placement,
    Workload,
    Workloads,
)
from recorder.model.outcomes import Happened, HitBy, Outcome

__all__ = ["Hit", "Scope", "failure_of", "hits"]


class Gang:
    """One workload and its Pods."""

    def __init__(
        self,
        workload: Workload,
        pods: Sequence[Placement],
        workloads: Workloads,
        scope: Scope,
    ) -> None:
        self._workload = workload
        self._workloads = workloads
        self._pods = pods
        self._whole = workload.is_gang
        self._failed_at = workloads.failed_at(workload)
        self._completed_at = workloads.completed_at(workload)
        self._failed_entries = workloads.entries(workload)
        self._scope = scope

    def hits(self, failures: Sequence[Failure]) -> list[Hit]:
        """Return the hits, by failures and by preemption, in order of time.

        ``failures`` are those of the nodes of its Pods.
        """
        touched = [
            strike
            for failure in failures
            if not self._was_over(failure)
            for pod in self._pods
            if pod.node == failure.verdict.node
            and (strike := Strike(failure, pod)).can_hit(
                self._workload, self._pods
            )
        ]
        acting = {s.pod.key for s in touched if carries_out(s.verdict, s.pod)}
        touched = [s for s in touched if s.pod.key not in acting]
        lost = [
            s.taking(self._scope.hiding)
            for s in touched
            if s.lost_at is not None and not self._was_done(s.lost_at)
        ]
        self._whole |= fell_together(self._workload, lost, self._pods)
        found = self._blows(lost)
        since = self._scope.since
        given = [
            hit
            for hit in self._displaced(acting | {s.pod.key for s in touched})
            if hit.lasts_into(since)
        ]
        if self._whole:
            # A workload that is down cannot be hit or counted again.
            given = [
                g
                for g in given
                if not any(f.is_down_at(g.hit_at) for f in found)
            ]
        found += given
        found = found or self._survived(touched)
        own = (hit for hit in found if hit.lasts_into(since))
        return sorted(own, key=lambda hit: hit.hit_at)

    def _was_over(self, failure: Failure) -> bool:
        """Return whether the end of the workload was certain before a failure.

        Its Pods may still exist: kept, or terminating.
        """
        at = self._workloads.decided_at(self._workload)
        return at is not None and at + LIMITS.asynchronous < failure.since

    def _was_done(self, at: datetime) -> bool:
        """Return whether it needed its Pods no more at a time."""
        return self._completed_at is not None and self._completed_at < at

    def _blows(self, lost: Sequence[Taking]) -> list[Hit]:
        """Return the hits, each on a gang that ran again after the last."""
        found: list[Hit] = []
        while lost:
            hit = self._blow(lost)
            found.append(hit)
            again = hit.running_again_at
            if again is None:
                break
            lost = [t for t in lost if t.at > max(again, hit.hit_at)]
        return found

    def _blow(self, lost: Sequence[Taking]) -> Hit:
        """Return the first hit on a gang, by the Pods lost."""
        hit_at = min(one.at for one in lost)
        begun = [one.pod for one in lost if one.at <= hit_at]
        again = self._loss(hit_at, self._gang_at(hit_at, begun), begun).again()
        at_once = [t for t in lost if again is None or t.at <= again]
        first = min(at_once, key=_order)
        losses = {t.pod.key: t.pod for t in at_once}
        verdict = first.verdict
        if verdict and verdict.happened == Happened.DEGRADED:
            # Pods on healthy nodes may fail first: they wait for the others.
            failed = self._failed_with(first.pod)
            ends = [p.ended_at for p in failed if p.ended_at is not None]
            hit_at = min([hit_at, *ends])
        gang = self._gang_at(hit_at, list(losses.values()))
        members = {p.key for p in gang}
        own = [p for p in losses.values() if p.key in members]
        later = [p for p in losses.values() if p.key not in members]
        unseen = all(t.unseen for t in at_once)
        hit = self._hit(
            first._replace(at=hit_at, unseen=unseen), gang, own, later
        )
        return hit.charged_with(charged(at_once, hit.gpu_hours_lost))

    def _loss(
        self,
        at: datetime,
        gang: Sequence[Placement],
        lost: Sequence[Placement],
    ) -> Loss:
        return Loss(at, gang, lost, self._pods, self._whole)

    def _displaced(self, touched: set[str]) -> list[Hit]:
        """Return the hits by what took Pods from nodes that stayed well."""
        taken = [
            one
            for p in self._pods
            if p.node in self._scope.nodes
            and p.key not in touched
            and p.key not in self._scope.spared
            and (one := displaced(p, self._workload, self._workloads))
        ]
        return [
            hit
            for by in dict.fromkeys(one.by for one in taken)
            for hit in self._blows([one for one in taken if one.by is by])
        ]

    def _failed_with(self, pod: Placement) -> list[Placement]:
        """Return the Pods that failed by themselves with another."""
        at = pod.ended_at
        return [
            p
            for p in self._pods
            if at is not None
            and p.phase == "Failed"
            and p.ended_at is not None
            and p.deleting_at is None
            and abs(p.ended_at - at) <= TOGETHER
        ]

    def _gang_at(
        self, at: datetime, losses: Sequence[Placement]
    ) -> list[Placement]:
        """Return the Pods that made up the gang when it was hit."""
        if not self._whole:
            # A Pod that never ran was a replacement and was refused; if none
            # ran, each of those after the first is one.
            lost = {p.key for p in losses}
            first = (p for p in self._bound_at(at, losses) if p.key in lost)
            return [p for p in losses if p.running_at] or list(first)
        return self._bound_at(at, losses)

    def _bound_at(
        self, at: datetime, losses: Sequence[Placement]
    ) -> list[Placement]:
        """Return all Pods of the workload on a node when it was hit."""
        return [
            p
            for p in self._pods
            if p.bound_at is not None
            and p.bound_at <= at
            and (p.over_at is None or p.over_at >= at)
            and (p in losses or p.left_at is None or p.left_at >= at)
            and not (came_with(p, at) and p not in losses)
        ]

    def _hit(
        self,
        first: Taking,
        gang: Sequence[Placement],
        losses: Sequence[Placement],
        later: Sequence[Placement] = (),
    ) -> Hit:
        """Return a hit; replacements of lost Pods may be lost later."""
        loss = self._loss(first.at, gang, losses)
        ran = loss.ends()
        again = ran[-1]
        outcome = self._outcome(first, loss, again)
        gpus = sum(p.gpus for p in gang)
        ends = [self._end(loss, outcome, end) for end in ran]
        lost = [lasted(first.at, end, self._scope.unheard) for end in ends]
        hours = sum(lost, timedelta()) / timedelta(hours=len(ends)) * gpus
        pods = [*losses, *later]
        evidence = {
            *(entry for p in pods for entry in p.entries),
            *(self._failed_entries if outcome is Outcome.FAILED else ()),
        }
        entries = sorted(evidence, key=position)
        return replace(
            self._shown(first, outcome, gang, pods, entries),
            running_again_at=again if outcome is not Outcome.FAILED else None,
            gpu_hours_lost=round(hours, 4),
            worked_since=max(
                (p.running_at for p in gang if p.running_at), default=None
            ),
        )

    def _shown(
        self,
        first: Taking,
        outcome: Outcome,
        gang: Sequence[Placement],
        pods: Sequence[Placement],
        evidence: Sequence[str],
    ) -> Hit:
        """Return a hit on Pods of the gang that cost nothing.

        Of an unknown kind only the lost Pods cost hours for sure, but all Pods
        that ran beside them are its size.
        """
        workload = self._workload
        is_part = self._workloads.may_be_part(workload)
        if is_part and not self._whole:
            gang = self._bound_at(first.at, pods)
        gpus = sum(p.gpus for p in gang)
        says = said(workload, outcome, len(pods), first.node, gpus)
        nodes = sorted({p.node for p in pods if p.node is not None})
        return Hit(
            kind=workload.kind,
            namespace=workload.namespace,
            name=workload.name,
            uid=workload.uid,
            hit_by=first.by,
            first_node=first.node,
            nodes=[first.node, *(n for n in nodes if n != first.node)],
            pods_hit=sorted(p.pod.name for p in pods),
            pod_keys=frozenset(p.key for p in pods),
            gang_size=len(gang),
            gpus=gpus,
            outcome=outcome,
            hit_at=first.at,
            running_again_at=first.at,
            gpu_hours_lost=0.0,
            evidence=evidence,
            says=says + "; what owns it is not recorded" * is_part,
            workload=workload,
            is_part=is_part,
        )

    def _end(
        self, loss: Loss, outcome: Outcome, again: datetime | None
    ) -> datetime:
        """Return the time until which hours were lost for sure."""
        if outcome in {Outcome.COMPLETED, Outcome.UNKNOWN}:
            return loss.at
        if outcome is Outcome.FAILED and self._failed_at is not None:
            reported = self._workloads.reported_failure(self._workload)
            return min(self._failed_at, reported or self._failed_at)
        if again is not None or self._workload.kind == "Pod":
            return again or self._scope.until
        # The workload may have been deleted or suspended since.
        wanted = self._workloads.wanted_until(self._workload, loss.at)
        return min(wanted or self._scope.until, self._scope.until)

    def _survived(self, touched: Sequence[Strike]) -> list[Hit]:
        """Return the hits on a workload that kept running."""
        shaken = [
            strike
            for strike in touched
            if strike.verdict.happened in SHAKING
            and strike.pod.runs_at(strike.failure.seen)
        ]
        if not shaken:
            return []
        one = min(shaken, key=lambda strike: strike.order)
        gang = self._gang_at(one.failure.seen, [s.pod for s in shaken])
        pods = list({s.pod.pod.name: s.pod for s in shaken}.values())
        first = Taking(
            one.pod, HitBy.NODE_FAILURE, one.failure.seen, one.order
        )
        by = [one.verdict.id]
        return [self._shown(first, Outcome.SURVIVED, gang, pods, by)]

    def _outcome(
        self, first: Taking, loss: Loss, again: datetime | None
    ) -> Outcome:
        if first.unseen and again is None:
            return Outcome.UNKNOWN  # else its successors show the outcome
        if again is None and self._is_done(loss):
            return Outcome.COMPLETED
        if self._failed_by(loss, again):
            return Outcome.FAILED
        if first.by is HitBy.PREEMPTION:
            return Outcome.PREEMPTED
        if again is not None:
            return loss.outcome(again)
        done = self._completed_at is not None
        return Outcome.COMPLETED if done else Outcome.DOWN

    def _is_done(self, loss: Loss) -> bool:
        """Return whether the lost Pods had succeeded."""
        return self._workload.kind not in SERVERS and all(
            p.phase == "Succeeded" for p in loss.lost
        )

    def _failed_by(self, loss: Loss, again: datetime | None) -> bool:
        """Return whether the workload failed for good because of the loss.

        If it ran in full again, that is so only if a lost Pod ended just
        before it failed: a Pod counts when it ends.
        """
        at = self._failed_at
        if at is None or at < loss.at:
            return False
        return again is None or any(
            abs(at - over) <= TOGETHER
            for p in loss.lost
            for over in (p.finished_at, p.ended_at)
            if over is not None and not is_late(over, self._scope.unheard)
        )


def _order(one: Taking) -> tuple[datetime, datetime, int, str]:
    return *one.order, one.pod.pod.name


ONE_SECOND: Final = timedelta(seconds=1)

DIGITS: Final = 4
"""Digits of GPU-hours: a ten-thousandth is a third of a second."""


def charged(lost: Iterable[Taking], gpu_hours: float) -> list[Charge]:
    """Return the charges of nodes and verdicts, which add up to a loss.

    What began first shares it; what took Pods without a verdict is one.

    Args:
        lost: what may have cost each of the Pods.
        gpu_hours: the whole loss.
    """
    taken: dict[str, Taking] = {}
    for one in sorted(lost, key=_order):
        taken.setdefault(one.pod.key, one)
    pods: dict[tuple[str, str | None], list[str]] = {}
    for one in taken.values():
        key = one.node, one.verdict_id
        pods.setdefault(key, []).append(one.pod.pod.name)
    began = next(iter(taken.values())).order[0]
    beginning = {
        one.verdict_id
        for one in taken.values()
        if one.order[0] - began <= ONE_SECOND
    }
    sharing = [key for key in pods if key[1] in beginning]
    share = round(gpu_hours / max(len(sharing), 1), DIGITS)
    shares = dict.fromkeys(sharing, share)
    for first in sharing[:1]:
        # Equal parts that add up to the whole, to the last digit.
        shares[first] = round(gpu_hours - share * (len(sharing) - 1), DIGITS)
    return [
        Charge(
            node=key[0],
            verdict=key[1],
            pods=sorted(names),
            gpu_hours=shares.get(key, 0.0),
        )
        for key, names in pods.items()
    ]


AFTERMATH: Final = timedelta(minutes=5)
"""How long after a node is back in service its losses may still show: a Pod
on a dead node becomes Failed only when its kubelet is back."""

ENDLESS: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Later than any recorded time."""

HIT: Final = frozenset(
    {
        Happened.REPLACED,
        Happened.REJOINED,
        Happened.REMOVED,
        Happened.REBOOT,
        Happened.UNREACHABLE,
        Happened.KUBELET_RESTART,
        Happened.DRAINED,
        Happened.CORDONED,
        Happened.DEGRADED,
    }
)
"""What can happen to a node that hits a workload."""


SHAKING: Final = HIT - {
    Happened.REMOVED,
    Happened.DRAINED,
    Happened.CORDONED,
    Happened.DEGRADED,
}
"""What a workload may survive on the node itself."""


def failure_of(verdict: Judged) -> Failure | None:
    """Return a verdict as it affects workloads; None if it does not."""
    if verdict.happened not in HIT:
        return None
    effect = verdict.effect.stored
    seen = min(verdict.lost_at, effect.observed_at)
    since = min(verdict.not_before or seen, seen)
    # What empties a node costs no Pod before it begins.
    acts = verdict.happened in LOST | STAYING
    if acts and verdict.acted_at is not None:
        since = min(since, verdict.acted_at)
    elif verdict.happened not in LOST:
        since = min(since, verdict.began_at)
    back = verdict.back_in_service_at
    end = ENDLESS if back is None else back + AFTERMATH
    return Failure(verdict=verdict, since=since, seen=seen, until=end)


def hits(
    verdicts: Iterable[Judged],
    placements: Iterable[Placement],
    workloads: Workloads,
    *,
    scope: Scope,
    each: bool = False,
    alone: Mapping[str, Workload] | None = None,
) -> list[Hit]:
    """Return the workloads that were hit, in order of time.

    Each is listed once, however often it was hit.

    Args:
        verdicts: what happened to the nodes in question.
        placements: all Pods that may have been on the nodes, or belong to
            their gangs.
        workloads: the workloads of their owners.
        scope: the nodes in question, and how far the record reaches.
        each: return each hit on a workload separately.
        alone: Pods that count by themselves though they belong to their node,
            by their key.
    """
    failures = _failures_of(verdicts)
    gangs: dict[Workload, list[Placement]] = {}
    for placement in placements:
        workload = workloads.of(placement) or (alone or {}).get(placement.key)
        if workload is not None:
            gangs.setdefault(workload, []).append(placement)
    on: dict[str | None, list[int]] = {}
    for place, failure in enumerate(failures):
        on.setdefault(failure.verdict.node, []).append(place)
    found: list[Hit] = []
    for workload, pods in gangs.items():
        near = sorted({i for pod in pods for i in on.get(pod.node, ())})
        gang = Gang(workload, pods, workloads, scope)
        own = gang.hits([failures[place] for place in near])
        found += own if each or len(own) < 2 else [_merged(own)]  # noqa: PLR2004
    return sorted(
        found, key=lambda h: (h.hit_at, h.workload.kind, h.workload.name)
    )


def _failures_of(verdicts: Iterable[Judged]) -> list[Failure]:
    """Return verdicts as they affect workloads.

    What containers may outlive costs none that the next failure of the node
    ended, after it was back in service.
    """
    found = [f for v in verdicts if (f := failure_of(v)) is not None]
    on: dict[str, list[Failure]] = {}
    for failure in found:
        on.setdefault(failure.verdict.node, []).append(failure)
    for place, failure in enumerate(found):
        verdict, back = failure.verdict, failure.verdict.back_in_service_at
        if back is None or verdict.happened not in OUTLIVED:
            continue
        then = [
            max(back, other.since)
            for other in on[verdict.node]
            if other.seen > back and other.verdict.happened in LOST
        ]
        until = min([failure.until, *then])
        found[place] = dataclasses.replace(failure, until=until)
    return found


def _merged(hits: Sequence[Hit]) -> Hit:
    """Merge several hits of one workload.

    The cause is that of the first, the outcome that of the last. A hit ends
    before the next begins, so no hour is counted twice.
    """
    first, last = hits[0], hits[-1]
    pods = sorted({pod for hit in hits for pod in hit.pods_hit})
    evidence = dict.fromkeys(entry for hit in hits for entry in hit.evidence)
    hours = sum(hit.gpu_hours_lost for hit in hits)
    return replace(
        first,
        nodes=list(dict.fromkeys(node for hit in hits for node in hit.nodes)),
        pods_hit=pods,
        pod_keys=frozenset().union(*(hit.pod_keys for hit in hits)),
        outcome=last.outcome,
        running_again_at=last.running_again_at,
        gpu_hours_lost=round(hours, 4),
        evidence=list(evidence),
        says=f"{last.says}; hit {len(hits)} times, first on"
        f" {first.first_node}, {len(pods)} {first.workload.part}s in all",
    ).charged_with([charge for hit in hits for charge in hit.charges])
