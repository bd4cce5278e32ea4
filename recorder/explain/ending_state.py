"""How a workload or a Pod was last seen."""

from collections.abc import Sequence
from datetime import datetime

from recorder.explain.ending import Ending
from recorder.facts.projections import Placement, Workload, Workloads
from recorder.model.fact import StoredFact
from recorder.model.outcomes import Outcome, WorkloadState

__all__ = ["is_down", "state_of"]

FINISHED = {
    "Succeeded": WorkloadState.COMPLETED,
    "Failed": WorkloadState.FAILED,
}


def state_of(
    pods: Sequence[Placement],
    workload: Workload,
    workloads: Workloads,
    facts: Sequence[StoredFact],
    *,
    is_pod: bool,
) -> tuple[WorkloadState, datetime | None]:
    """Return how a workload or a Pod was last seen, and since when.

    Args:
        pods: that are asked about, in the order in which they were seen.
        workload: that they are of.
        workloads: folded from the facts.
        facts: about all of it, in the order of the log.
        is_pod: whether a Pod is asked about, and not the workload.
    """
    decided = workloads.decided_at(workload)
    if not is_pod and decided is not None:
        completed = workloads.completed(workload)
        ended = WorkloadState.COMPLETED if completed else WorkloadState.FAILED
        return ended, decided
    last = facts[0].observed_at if facts else None
    gone = None
    if not is_pod and last is not None:
        gone = workloads.wanted_until(workload, last)
    if gone is not None:
        return WorkloadState.DELETED, gone
    if is_pod:
        pod = pods[-1]
        if pod.phase in FINISHED:
            return FINISHED[pod.phase], pod.ended_at
        if pod.gone_at is not None:
            return WorkloadState.DELETED, pod.gone_at
    here = [p for p in pods if p.ended_at is None]
    if any(p.running_at is not None for p in here):
        return WorkloadState.RUNNING, None
    return (WorkloadState.PENDING if here else WorkloadState.UNKNOWN), None


def is_down(state: WorkloadState, endings: Sequence[Ending]) -> bool:
    """Return whether what is there does not run in full again."""
    last = next((e for e in reversed(endings) if e.outcome is not None), None)
    return (
        last is not None
        and state
        in {
            WorkloadState.RUNNING,
            WorkloadState.PENDING,
            WorkloadState.UNKNOWN,
        }
        and last.running_again_at is None
        and last.outcome in {Outcome.DOWN, Outcome.PREEMPTED}
    )
