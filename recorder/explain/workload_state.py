"""The state of a workload: how it was last seen, with what disrupted it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recorder.explain.ending import Ending
from recorder.facts.projections import Placement, Workload, Workloads
from recorder.facts.slurm import SLURM_JOB
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, FieldChanged
from recorder.model.outcomes import EndedBy, Outcome, WorkloadState

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

    What is suspended is queued if Kueue has an object for it, which Kueue
    suspends until there is room. Of what has no Pods it is known since when
    it waits. Pods are in the order they were seen, the facts about the
    workload and its Pods in that of the log.
    """
    if is_pod:
        last = pods[-1]
        end, gone = FINISHED.get(last.phase or ""), last.gone_at
        ended = last.ended_before or last.ended_at
    else:
        ended = workloads.decided_at(workload)
        done = workloads.completed_at(workload) is not None
        end = FINISHED["Succeeded" if done else "Failed"] if ended else None
        first = facts[0].observed_at if facts else None
        gone = first and workloads.wanted_until(workload, first)
    if end is None and gone is not None:
        end, ended = WorkloadState.DELETED, gone
    if end is not None:
        return end, ended if pods else None
    here = [p.running_at for p in pods if p.ended_at is None]
    if here:
        runs = any(here)
        return (WorkloadState.RUNNING if runs else WorkloadState.PENDING), None
    if pods and workload.kind != SLURM_JOB:
        return WorkloadState.UNKNOWN, None
    suspended, since = _suspended(facts, workload.uid or "")
    if suspended:
        queued = workloads.is_queued(workload)
        return (
            WorkloadState.QUEUED if queued else WorkloadState.SUSPENDED,
            since,
        )
    if pods:
        return WorkloadState.UNKNOWN, None
    return WorkloadState.PENDING, since


def _suspended(
    facts: Iterable[StoredFact], uid: str
) -> tuple[bool, datetime | None]:
    """Return whether an object is suspended, and since when it is so."""
    suspended, since = False, None
    for stored in facts:
        thing = stored.fact.object
        if thing is None or thing.uid != uid:
            continue
        match stored.fact.detail:
            case Appeared(state=seen):
                now = seen.fields.get("suspend") is True
            case FieldChanged(field="suspend", new=new):
                now = new is True
            case _:
                continue
        if since is None or now is not suspended:
            suspended, since = now, stored.observed_at
    return suspended, since


def state_after(
    state: WorkloadState,
    endings: Sequence[Ending],
    pods: Iterable[Placement],
) -> WorkloadState:
    """Return the state of a workload with what disrupted it last.

    Its endings are in order of time.
    """
    by = endings[-1].ended_by if endings else None
    if state is WorkloadState.UNKNOWN and by is EndedBy.SUSPENSION:
        return WorkloadState.SUSPENDED
    last = next((e for e in reversed(endings) if e.outcome is not None), None)
    if (
        last is None
        or last.running_again_at is not None
        or last.outcome not in {Outcome.DOWN, Outcome.PREEMPTED}
    ):
        return state
    # What is left of a workload that runs may be on lost nodes.
    if state is WorkloadState.RUNNING and not any(
        p.running_at and p.ended_at is None and p.pod.name not in last.pods
        for p in pods
    ):
        return WorkloadState.DOWN
    return DISRUPTED.get(state, state)
