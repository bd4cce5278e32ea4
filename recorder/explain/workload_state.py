"""The state of a workload: how it was last seen, with what disrupted it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recorder.explain.ending import Ending
from recorder.facts.projections import Placement, Workload, Workloads
from recorder.model.fact import StoredFact
from recorder.model.outcomes import EndedBy, Outcome, WorkloadState

__all__ = ["state_after", "state_of"]

DISRUPTED: Final[Mapping[WorkloadState, WorkloadState]] = {
    WorkloadState.RUNNING: WorkloadState.DEGRADED,
    WorkloadState.PENDING: WorkloadState.DOWN,
    WorkloadState.UNKNOWN: WorkloadState.DOWN,
}
"""The state of a workload that does not run in full again."""

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
    """Return the last known state of a workload or a Pod, and since when.

    Args:
        pods: the Pods in question, in the order they were seen.
        workload: their workload.
        workloads: all workloads, folded from the facts.
        facts: about the workload and its Pods, in the order of the log.
        is_pod: whether the question is about a Pod, not the workload.
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


def state_after(
    state: WorkloadState,
    endings: Sequence[Ending],
    pods: Iterable[Placement],
) -> WorkloadState:
    """Return the state of a workload with what disrupted it last.

    Args:
        state: how it was last seen.
        endings: all of its endings, in order of time.
        pods: its Pods.
    """
    last = endings[-1] if endings else None
    if (
        state is WorkloadState.UNKNOWN
        and last is not None
        and last.ended_by is EndedBy.SUSPENSION
    ):
        return WorkloadState.SUSPENDED
    last = next((e for e in reversed(endings) if e.outcome is not None), None)
    if (
        last is None
        or last.running_again_at is not None
        or last.outcome not in {Outcome.DOWN, Outcome.PREEMPTED}
    ):
        return state
    if state is WorkloadState.RUNNING and all(
        p.ended_at is not None or p.pod.name in last.pods
        for p in pods
        if p.running_at is not None
    ):
        return WorkloadState.DOWN  # what is left is on lost nodes
    return DISRUPTED.get(state, state)
