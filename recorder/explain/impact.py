"""Impact: the workloads that a failure hit, and their outcomes.

The blast radius is the gangs whose Pods run on a node, not these Pods alone.
A loss by several transitions belongs to the first. Counts are lower bounds:
work since the last checkpoint is not known.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from recorder.explain.causes import LOST, STAYING
from recorder.explain.hit import Charge, Failure, Hit, Scope, said
from recorder.explain.losses import (
    OUTLIVED,
    Strike,
    Taking,
    carries_out,
    displaced,
    fell_together,
    is_late,
    position,
)
from recorder.explain.pod_end import TOGETHER
from recorder.explain.recovery import Loss, bound_at
from recorder.explain.thresholds import LIMITS
from recorder.explain.verdict import Verdict
from recorder.facts.projections import (
    SERVERS,
    Placement,
    Workload,
    Workloads,
    total,
)
from recorder.model.moment import LAST
from recorder.model.outcomes import Happened, HitBy, Outcome


@dataclass
class Gang:
    """One workload and its Pods."""

    workload: Workload
    pods: Sequence[Placement]
    workloads: Workloads
    scope: Scope
    whole: bool
    """Whether it runs in full or not at all."""

    def hits(self, failures: Sequence[Failure]) -> list[Hit]:
        """Return the hits, by failures and by preemption, in order of time.

        ``failures`` are those of the nodes of its Pods.
        """
        over = self.workloads.decided_at(self.workload)
        done = self.workloads.completed_at(self.workload)
        touched = [
            strike
            for failure in failures
            # Its Pods may still exist when it is over: kept, or terminating.
            if over is None or over + LIMITS.asynchronous >= failure.since
            for pod in self.pods
            if pod.node == failure.verdict.node
            and (
                strike := Strike(failure, pod, self.workload, self.pods)
            ).can_hit
        ]
        acting = {s.pod.key for s in touched if carries_out(s.verdict, s.pod)}
        touched = [s for s in touched if s.pod.key not in acting]
        lost = [
            s.taking(self.scope.hiding)
            for s in touched
            # What is done needs its Pods no more.
            if s.lost_at is not None and (done is None or done >= s.lost_at)
        ]
        self.whole |= fell_together(self.workload, lost, self.pods)
        found = self._blows(lost)
        given = self._displaced(acting | {one.pod.key for one in lost})
        found += [
            hit
            for hit in given
            # A workload that is down cannot be hit or counted again.
            if not self.whole
            or not any(one.is_down_at(hit.hit_at) for one in found)
        ]
        found = found or self._survived(touched)
        own = (hit for hit in found if hit.lasts_into(self.scope.since))
        return sorted(own, key=lambda hit: hit.hit_at)

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
        again = self._loss(hit_at, begun).again()
        at_once = [
            t for t in lost if again is None or t.at <= max(again, hit_at)
        ]
        first = min(at_once, key=_order)
        losses = {t.pod.key: t.pod for t in at_once}
        verdict = first.verdict
        at = first.pod.ended_at
        if verdict and verdict.happened == Happened.DEGRADED and at:
            # Pods on healthy nodes may fail first: they wait for the others.
            failed = (
                p.ended_at
                for p in self.pods
                if p.phase == "Failed" and p.deleting_at is None
            )
            ends = [end for end in failed if end and abs(end - at) <= TOGETHER]
            hit_at = min([hit_at, *ends])
        # Replacements of lost Pods may be lost later.
        pods = list(losses.values())
        unseen = all(t.unseen for t in at_once)
        first = first._replace(at=hit_at, unseen=unseen)
        hit = self._hit(first, pods, self._loss(hit_at, pods))
        return hit.charged_with(charged(at_once, hit.gpu_hours_lost))

    def _loss(self, at: datetime, lost: Sequence[Placement]) -> Loss:
        return Loss.of(at, lost, self.pods, whole=self.whole)

    def _displaced(self, touched: set[str]) -> list[Hit]:
        """Return the hits by what took Pods from nodes that stayed well."""
        taken = [
            one
            for p in self.pods
            if p.node in self.scope.nodes
            and p.key not in touched
            and p.key not in self.scope.spared
            and (one := displaced(p, self.workload, self.workloads, self.pods))
        ]
        return [
            hit
            for by in dict.fromkeys(one.by for one in taken)
            for hit in self._blows([one for one in taken if one.by is by])
        ]

    def _hit(
        self,
        first: Taking,
        pods: Sequence[Placement],
        loss: Loss,
        outcome: Outcome | None = None,
    ) -> Hit:
        """Return a hit on Pods of the gang; if it survived, it cost nothing.

        Of an unknown kind only the lost Pods cost hours for sure, but all Pods
        that ran beside them are its size.
        """
        workload, gang = self.workload, loss.gang
        again: datetime | None = first.at
        hours, worked = 0.0, None
        entries = {first.verdict_id or ""}
        if outcome is None:
            ran = loss.ends()
            again = ran[-1]
            outcome = self._outcome(first, loss, again)
            # Time in gaps does not count.
            gaps = [(h.begin, h.until or LAST) for h in self.scope.unheard]
            ends = [self._end(loss, outcome, end) for end in ran]
            lost = [total([(loss.at, end)], gaps) for end in ends]
            hours = sum(lost, timedelta()) / timedelta(hours=len(ends))
            worked = max(
                (p.running_at for p in gang if p.running_at), default=None
            )
            entries = {entry for p in pods for entry in p.entries}
        if outcome is Outcome.FAILED:
            again = None
            entries |= {*self.workloads.entries(workload)}
        hours *= sum(p.gpus for p in gang)
        is_part = self.workloads.may_be_part(workload)
        if is_part and not self.whole:
            gang = bound_at(self.pods, first.at, pods)
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
            running_again_at=again,
            gpu_hours_lost=round(hours, 4),
            evidence=sorted(entries, key=position),
            says=says + "; what owns it is not recorded" * is_part,
            workload=workload,
            is_part=is_part,
            worked_since=worked,
        )

    def _end(
        self, loss: Loss, outcome: Outcome, again: datetime | None
    ) -> datetime:
        if outcome in {Outcome.COMPLETED, Outcome.UNKNOWN}:
            return loss.at
        failed_at = self.workloads.failed_at(self.workload)
        if outcome is Outcome.FAILED and failed_at is not None:
            reported = self.workloads.reported_failure(self.workload)
            return min(failed_at, reported or failed_at)
        if again is not None or self.workload.kind == "Pod":
            return again or self.scope.until
        # The workload may have been deleted or suspended since.
        wanted = self.workloads.wanted_until(self.workload, loss.at)
        return min(wanted or self.scope.until, self.scope.until)

    def _survived(self, touched: Sequence[Strike]) -> list[Hit]:
        """Return the hits on a workload that kept running."""
        shaken = [
            strike
            for strike in touched
            if strike.verdict.happened in LOST - {Happened.REMOVED}
            and strike.pod.runs_at(strike.failure.seen)
        ]
        if not shaken:
            return []
        one = min(shaken, key=lambda strike: strike.order)
        pods = list({s.pod.key: s.pod for s in shaken}.values())
        at, by = one.failure.seen, HitBy.NODE_FAILURE
        first = Taking(one.pod, by, at, one.order, one.verdict)
        return [self._hit(first, pods, self._loss(at, pods), Outcome.SURVIVED)]

    def _outcome(
        self, first: Taking, loss: Loss, again: datetime | None
    ) -> Outcome:
        if first.unseen and again is None:
            return Outcome.UNKNOWN  # else its successors show the outcome
        done = all(p.phase == "Succeeded" for p in loss.lost)
        if again is None and done and self.workload.kind not in SERVERS:
            return Outcome.COMPLETED
        if self._failed_by(loss, again):
            return Outcome.FAILED
        if first.by is HitBy.PREEMPTION:
            return Outcome.PREEMPTED
        if again is not None:
            return loss.outcome(again)
        done_at = self.workloads.completed_at(self.workload)
        return Outcome.COMPLETED if done_at else Outcome.DOWN

    def _failed_by(self, loss: Loss, again: datetime | None) -> bool:
        """Return whether the workload failed for good because of the loss.

        If it ran in full again, that is so only if a lost Pod ended just
        before it failed: a Pod counts when it ends.
        """
        at = self.workloads.failed_at(self.workload)
        if at is None or at < loss.at:
            return False
        return again is None or any(
            abs(at - over) <= TOGETHER
            for p in loss.lost
            for over in (p.finished_at, p.ended_at)
            if over is not None and not is_late(over, self.scope.unheard)
        )


def _order(one: Taking) -> tuple[datetime, datetime, int, str]:
    return *one.order, one.pod.pod.name


DIGITS: Final = 4
"""Digits of GPU-hours: a ten-thousandth is a third of a second."""


def charged(lost: Iterable[Taking], gpu_hours: float) -> list[Charge]:
    """Return the charges of nodes and verdicts, which add up to a loss.

    What began first shares it; what took Pods without a verdict is one. A Pod
    may have been lost to several.
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
        if one.order[0] - began <= LIMITS.asynchronous
    }
    sharing = [key for key in pods if key[1] in beginning]
    share = round(gpu_hours / len(sharing), DIGITS)
    shares = dict.fromkeys(sharing, share)
    # Equal parts that add up to the whole, to the last digit.
    rest = gpu_hours - share * (len(sharing) - 1)
    shares[sharing[0]] = round(rest, DIGITS)
    return [
        Charge(
            node=node,
            verdict=verdict,
            pods=sorted(names),
            gpu_hours=shares.get((node, verdict), 0.0),
        )
        for (node, verdict), names in pods.items()
    ]


AFTERMATH: Final = timedelta(minutes=5)
"""How long after a node is back in service its losses may still show: a Pod
on a dead node becomes Failed only when its kubelet is back."""


def failure_of(verdict: Verdict) -> Failure | None:
    """Return a verdict as it affects workloads; None if it does not."""
    if verdict.happened is Happened.JOINED:
        return None
    effect = verdict.effect.stored
    seen = min(verdict.lost_at, effect.observed_at, verdict.not_after)
    since = verdict.not_before or seen
    # What empties a node costs no Pod before it begins.
    if verdict.happened in LOST | STAYING and verdict.acted_at is not None:
        since = min(since, verdict.acted_at)
    elif verdict.happened not in LOST:
        since = min(since, verdict.began_at)
    since = min(since, seen)
    back, late = verdict.back_in_service_at, AFTERMATH
    if verdict.happened is Happened.DEGRADED:
        back = _mended(verdict)
    if verdict.happened in OUTLIVED | {Happened.DEGRADED}:
        late = TOGETHER
    end = LAST if back is None else back + late
    return Failure(verdict=verdict, since=since, seen=seen, until=end)


def _mended(verdict: Verdict) -> datetime | None:
    """Return when what degraded a node was over; None if it is not."""
    subject = verdict.effect.subject
    turns = [e.sign for e in verdict.evidence if e.sign.subject == subject]
    last = max(turns, key=lambda sign: sign.order, default=None)
    return last.seen if last is not None and last.over else None


def hits(
    verdicts: Iterable[Verdict],
    placements: Iterable[Placement],
    workloads: Workloads,
    *,
    scope: Scope,
    alone: Mapping[str, Workload] | None = None,
) -> list[Hit]:
    """Return each hit on a workload, in order of time.

    Args:
        verdicts: what happened to the nodes in question.
        placements: all Pods that may have been on the nodes, or belong to
            their gangs.
        workloads: their owners.
        scope: where and when hits count.
        alone: Pods that count by themselves though they belong to their node,
            by their key.
    """
    on = _failures_of(verdicts)
    gangs: dict[Workload, list[Placement]] = {}
    for placement in placements:
        workload = workloads.of(placement) or (alone or {}).get(placement.key)
        if workload is not None:
            gangs.setdefault(workload, []).append(placement)
    found: list[Hit] = []
    for workload, pods in gangs.items():
        nodes = dict.fromkeys(pod.node or "" for pod in pods)
        gang = Gang(workload, pods, workloads, scope, workload.is_gang)
        found += gang.hits([one for node in nodes for one in on.get(node, ())])
    return sorted(found, key=_in_time)


def _in_time(hit: Hit) -> tuple[datetime, str, str]:
    return hit.hit_at, hit.workload.kind, hit.workload.name


def _failures_of(verdicts: Iterable[Verdict]) -> dict[str, list[Failure]]:
    """Return verdicts as they affect workloads, by node.

    What containers may outlive costs none that the next failure of the node
    ended, after it was back in service.
    """
    on: dict[str, list[Failure]] = {}
    for one in filter(None, map(failure_of, verdicts)):
        on.setdefault(one.verdict.node, []).append(one)
    for failures in on.values():
        for place, one in enumerate(failures):
            back = one.verdict.back_in_service_at
            if back is None or one.verdict.happened not in OUTLIVED:
                continue
            then = [
                max(back, other.since)
                for other in failures
                if other.seen > back and other.verdict.happened in LOST
            ]
            until = min([one.until, *then])
            failures[place] = dataclasses.replace(one, until=until)
    return on


def by_workload(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of time with each workload once."""
    found: dict[Workload, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.workload, []).append(hit)
    return sorted(
        (own[0] if len(own) == 1 else _merged(own) for own in found.values()),
        key=_in_time,
    )


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
