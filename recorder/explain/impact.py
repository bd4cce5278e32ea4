"""Impact: the workloads that a failure hit, and what became of them.

The blast radius is not the Pods on a node but the gangs that they belong to.
What is counted is a lower bound: nobody knows here what was lost since the
last checkpoint of a job.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from recorder.explain.gang import Gang
from recorder.explain.hit import Failure, Hit
from recorder.explain.verdict import Happened, Verdict
from recorder.projections import Placement, Placements, Workload, Workloads

__all__ = ["ENDLESS", "Failure", "Hit", "failure_of", "hits"]

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
        Happened.DEGRADED,
    }
)
"""Happenings that can hit a workload."""


def failure_of(
    verdict: Verdict, until: datetime | None = None
) -> Failure | None:
    """Give what workloads see of a verdict; None if they see nothing.

    ``until`` is the end of what is known.
    """
    if verdict.happened not in HIT:
        return None
    effect = verdict.effect.stored
    seen = min(verdict.lost_at, effect.observed_at)
    since = min(verdict.between[0] or seen, seen, verdict.began_at)
    back = verdict.back_in_service_at
    until = until or ENDLESS
    end = until if back is None else min(until, back + AFTERMATH)
    return Failure(verdict=verdict, since=since, seen=seen, until=end)


def hits(
    verdicts: Iterable[Verdict],
    placements: Placements,
    workloads: Workloads,
    *,
    nodes: Iterable[str],
    until: datetime,
) -> list[Hit]:
    """Give the workloads that happenings hit, in order of time.

    Args:
        verdicts: what happened to the nodes in question.
        placements: of all Pods that can have been there, or belong to
            these.
        workloads: of their owners.
        nodes: that are asked about.
        until: the end of what is known.
    """
    failures = [f for v in verdicts if (f := failure_of(v, until)) is not None]
    asked = frozenset(nodes)
    gangs: dict[Workload, list[Placement]] = {}
    for placement in placements:
        workload = workloads.of(placement)
        if workload is not None:
            gangs.setdefault(workload, []).append(placement)
    found = []
    for workload, pods in gangs.items():
        gang = Gang(workload, pods, workloads, until)
        hit = gang.hit_by(failures, asked)
        if hit is not None:
            found.append(hit)
    return sorted(
        found, key=lambda h: (h.hit_at, h.workload.kind, h.workload.name)
    )
