"""Impact: the workloads that a failure hit, and what became of them.

The blast radius is not the Pods on a node but the gangs that they belong to.
What is counted is a lower bound: work since the last checkpoint of a job is
not known.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from recorder.explain.gang import Gang
from recorder.explain.happened import LOST
from recorder.explain.hit import Failure, Hit, Scope
from recorder.explain.verdict import Judged
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.outcomes import Happened

__all__ = ["Failure", "Hit", "Scope", "failure_of", "hits"]

AFTERMATH: Final = timedelta(minutes=5)
"""How long after a node is back in service what it lost may still show: a
Pod on a dead node turns Failed only when its kubelet is back."""

ENDLESS: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Later than anything is known."""

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
"""Happenings that can hit a workload."""


def failure_of(verdict: Judged) -> Failure | None:
    """Return what workloads see of a verdict; None if they see nothing."""
    if verdict.happened not in HIT:
        return None
    effect = verdict.effect.stored
    seen = min(verdict.lost_at, effect.observed_at)
    since = min(verdict.not_before or seen, seen)
    if verdict.happened not in LOST:
        since = min(since, verdict.began_at)
    elif verdict.acted_at is not None:
        since = min(since, verdict.acted_at)
    back = verdict.back_in_service_at
    end = ENDLESS if back is None else back + AFTERMATH
    return Failure(verdict=verdict, since=since, seen=seen, until=end)


def hits(
    verdicts: Iterable[Judged],
    placements: Placements,
    workloads: Workloads,
    *,
    scope: Scope,
    each: bool = False,
) -> list[Hit]:
    """Return the workloads that happenings hit, in order of time.

    A workload is named once, however often it was hit.

    Args:
        verdicts: what happened to the nodes in question.
        placements: of all Pods that can have been there, or belong to
            these.
        workloads: of their owners.
        scope: what is asked of, and how far it is known.
        each: give each hit of a workload by itself.
    """
    failures = [f for v in verdicts if (f := failure_of(v)) is not None]
    gangs: dict[Workload, list[Placement]] = {}
    for placement in placements:
        workload = workloads.of(placement)
        if workload is not None:
            gangs.setdefault(workload, []).append(placement)
    found: list[Hit] = []
    for workload, pods in gangs.items():
        own = Gang(workload, pods, workloads, scope).hits(failures)
        found += own if each or len(own) < 2 else [_merged(own)]  # noqa: PLR2004
    return sorted(
        found, key=lambda h: (h.hit_at, h.workload.kind, h.workload.name)
    )


def _merged(hits: Sequence[Hit]) -> Hit:
    """Merge several hits of one workload.

    It was hit first as the first says, and is as the last left it. A hit
    ends before the next begins, so that no hour is counted twice.
    """
    first, last = hits[0], hits[-1]
    pods = sorted({pod for hit in hits for pod in hit.pods_hit})
    evidence = dict.fromkeys(entry for hit in hits for entry in hit.evidence)
    hours = sum(hit.gpu_hours_lost for hit in hits)
    return replace(
        first,
        nodes=list(dict.fromkeys(node for hit in hits for node in hit.nodes)),
        pods_hit=pods,
        outcome=last.outcome,
        running_again_at=last.running_again_at,
        gpu_hours_lost=round(hours, 4),
        evidence=list(evidence),
        says=f"{last.says}; hit {len(hits)} times, first on"
        f" {first.first_node}, {len(pods)} Pods in all",
    ).charged_with([charge for hit in hits for charge in hit.charges])
