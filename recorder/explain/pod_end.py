"""What ended a Pod: the one judgement of its own facts.

The first reason counts, not what was recorded afterwards: a container that
is killed because its Pod was evicted did not fail by itself. What happened to
the node of a Pod comes before its own facts (`recorder.explain.losses`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recorder.explain.thresholds import LIMITS
from recorder.facts.projections import (
    EVICTIONS,
    PREEMPTING,
    UNKNOWN_ENDS,
    Placement,
)
from recorder.facts.slurm import BY_REQUEUE, NODE_LOST
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    ConditionChanged,
    ContainerEnded,
    DeletionRequested,
    Ended,
    EventOccurred,
    Vanished,
)
from recorder.model.outcomes import EndedBy, HitBy
from recorder.model.state import Condition

BY_ITSELF: Final = frozenset({EndedBy.CONTAINER_OOM, EndedBy.CONTAINER_EXIT})
"""Ends that are caused by a container of the Pod."""

TAKEN: Final = frozenset(EndedBy(by) for by in HitBy) - {EndedBy.DELETION}
"""What takes a Pod from its node; the other causes are of its own."""

OOM_KILLED: Final = "OOMKilled"
PREEMPTED: Final = "PreemptionByScheduler"
REQUESTED: Final = "EvictionByEvictionAPI"
BY_KUBELET: Final = "TerminationByKubelet"
BY_TAINT: Final = "DeletionByTaintManager"
"""Reasons of the condition DisruptionTarget."""

DISRUPTED: Final[Mapping[str, EndedBy]] = {
    PREEMPTED: EndedBy.PREEMPTION,
    "DeletionByPodGC": EndedBy.NODE_FAILURE,
    **dict.fromkeys(EVICTIONS, EndedBy.EVICTION),
}
"""The cause by the reason of the condition DisruptionTarget."""

FAILED_FOR: Final[Mapping[str, EndedBy]] = {
    "DeadlineExceeded": EndedBy.DEADLINE,
    NODE_LOST: EndedBy.NODE_FAILURE,
    PREEMPTING: EndedBy.PREEMPTION,
    BY_REQUEUE: EndedBy.EVICTION,
    # kubernetes: pkg/kubelet/eviction, pkg/kubelet/nodeshutdown
    "Evicted": EndedBy.EVICTION,
    "Terminated": EndedBy.EVICTION,
}
"""The cause by the reason of a failed Pod; for others its kubelet refused it,
also one that ran before the kubelet restarted."""

SIGNALLED: Final = frozenset({137, 143})
"""Exit codes of containers that received SIGKILL or SIGTERM."""

STOPPED: Final = SIGNALLED | {255}
"""Exit codes of containers that their machine may have stopped."""

TOGETHER: Final = timedelta(seconds=60)
"""How far apart the Pods of a gang react to one cause."""


def is_refusal(reason: str | None) -> bool:
    """Return whether the reason of a failed Pod is that of a refusal."""
    return reason is not None and reason not in FAILED_FOR


def is_preempted(pod: Placement) -> bool:
    """Return whether a Pod had to go for another: by scheduler or kubelet."""
    return pod.disruption == PREEMPTED or (
        pod.disruption == BY_KUBELET and pod.refusal == PREEMPTING
    )


def taken(
    pod: Placement, by_queue: Iterable[datetime] = ()
) -> tuple[EndedBy, datetime] | None:
    """Return what took a Pod from its node, as its own facts say, and when.

    Args:
        pod: the Pod.
        by_queue: when a queue gave the place of its workload to another.
    """
    left, by = pod.deleting_at, DISRUPTED.get(pod.disruption or "")
    at = pod.ended_at if by is None else pod.disrupted_at
    if pod.failed_at is not None:
        return None
    if left and any(abs(left - when) <= TOGETHER for when in by_queue):
        return EndedBy.PREEMPTION, left
    if by is None and pod.phase == "Failed" and pod.refusal is not None:
        by = FAILED_FOR.get(pod.refusal, EndedBy.EVICTION)
    if by is None or at is None or (left and left + LIMITS.astray < at):
        return None
    return EndedBy.PREEMPTION if is_preempted(pod) else by, at


class PodEnd(NamedTuple):
    """One end of a Pod, or of a container that restarted."""

    pod: Placement
    by: EndedBy
    evidence: Sequence[StoredFact]
    """The first record of it, then those that followed."""

    @property
    def at(self) -> datetime:
        """When its first record was observed."""
        return self.evidence[0].observed_at

    @property
    def container(self) -> ContainerEnded | None:
        """The container that ended by itself, if one did."""
        first = self.evidence[0].fact.detail
        return first if isinstance(first, ContainerEnded) else None

    @property
    def lasting(self) -> bool:
        """Whether the Pod itself ended."""
        return self.container is None or len(self.evidence) > 1


def ends_of(pod: Placement, facts: Iterable[StoredFact]) -> Iterator[PodEnd]:
    """Yield every end of a Pod by the facts about it, as the log has them."""
    own: list[StoredFact] = []
    signs: list[StoredFact] = []
    over = False
    about = (stored for stored in facts if _is_of_end(stored, pod))
    for stored in sorted(about, key=in_order):
        detail = stored.fact.detail
        if isinstance(detail, ContainerEnded):
            (signs if any(map(_is_reason, signs)) else own).append(stored)
        elif isinstance(detail, Ended | Vanished) or not over:
            signs.append(stored)
            over |= isinstance(detail, Ended | Vanished)
    failures = [(_failure(stored), stored) for stored in own]
    for failed, stored in failures[:-1]:
        if failed:
            yield PodEnd(pod, failed, [stored])
    failed = failures[-1][0] if failures else None
    by = _by(pod, signs, failed) if signs else None
    if failed is not None:
        more = signs if by is None and over else []
        yield PodEnd(pod, failed, own[-1:] + more)
    if signs and (by is not None or failed is None):
        yield PodEnd(pod, by or EndedBy.UNRECORDED, signs)


def in_order(stored: StoredFact) -> tuple[int, bool]:
    """Order the facts of one version: why a Pod ends precedes its end."""
    detail = stored.fact.detail
    return stored.entry.position, not isinstance(detail, ConditionChanged)


def _is_of_end(stored: StoredFact, pod: Placement) -> bool:
    match stored.fact.detail:
        case ConditionChanged(
            type="DisruptionTarget",
            new=Condition(status="True", reason=reason),
        ):
            return reason in DISRUPTED
        case EventOccurred():
            return str(stored.entry) == pod.displaced_by
        case ContainerEnded(init=True, exit_code=code):
            return bool(code)
        case detail:
            return isinstance(
                detail, ContainerEnded | DeletionRequested | Ended | Vanished
            )


def _is_reason(stored: StoredFact) -> bool:
    """Return whether a fact says why a Pod ends: its containers follow."""
    match stored.fact.detail:
        case Ended(phase="Failed", reason=None) | Vanished():
            return False
        case _:
            return True


def _failure(stored: StoredFact) -> EndedBy | None:
    """Return how a container failed; None if it did not."""
    detail = stored.fact.detail
    assert isinstance(detail, ContainerEnded), "only these fail"
    if detail.reason == OOM_KILLED:
        return EndedBy.CONTAINER_OOM
    if not (detail.exit_code or detail.signal):
        return None
    unknown = detail.reason in UNKNOWN_ENDS
    return EndedBy.UNRECORDED if unknown else EndedBy.CONTAINER_EXIT


def _by(
    pod: Placement, signs: Sequence[StoredFact], failed: EndedBy | None
) -> EndedBy | None:
    """Return what ended a Pod; None if that is its container, or unknown."""
    found = taken(pod)
    if found is not None or pod.failed_at is not None:
        return found[0] if found else None
    details = [stored.fact.detail for stored in signs]
    if any(isinstance(detail, DeletionRequested) for detail in details):
        return EndedBy.DELETION
    match next((d for d in details if isinstance(d, Ended | Vanished)), None):
        case Ended(phase="Succeeded"):
            return EndedBy.COMPLETION
        case Vanished(inferred=inferred) if failed is None:
            return EndedBy.UNRECORDED if inferred else EndedBy.DELETION
        case _:
            return None
