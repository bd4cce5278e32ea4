"""A failure as workloads see it, and a workload that it hit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.explain.answer import Hole
from recorder.explain.verdict import Verdict
from recorder.projections import Workload

__all__ = ["Failure", "Hit", "Scope", "said"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A happening of a node, as workloads see it."""

    verdict: Verdict
    since: datetime
    """The last proof that the node was well."""

    seen: datetime
    """The first proof that it was not."""

    until: datetime
    """Until when its Pods may be lost by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is asked of, and how far it is known."""

    nodes: frozenset[str]
    until: datetime
    """The end of what is known, to which a hit that lasts costs."""

    unheard: Sequence[Hole] = ()
    """When nobody heard of Pods."""

    spared: frozenset[str] = frozenset()
    """Keys of Pods that gave way where nobody asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A workload that was hit."""

    workload: Workload
    hit_by: str
    first_node: str
    nodes: Sequence[str]
    pods_hit: Sequence[str]
    gang_size: int
    gpus: int
    outcome: str
    hit_at: datetime
    running_again_at: datetime | None
    gpu_hours_lost: float
    evidence: Sequence[str]
    says: str

    def is_down_at(self, at: datetime) -> bool:
        """Return whether the workload did not run again by a time."""
        again = self.running_again_at
        return self.hit_at <= at and (again is None or at < again)


def said(
    workload: Workload, outcome: str, lost: int, node: str, gpus: int
) -> str:
    """Say in a sentence how a workload was hit."""
    name = f"{workload.kind} {workload.namespace}/{workload.name}"
    size = f" of {gpus} GPUs" if gpus else ""
    if outcome == "survived":
        return f"{name}{size} kept running through it"
    pods = "1 Pod" if lost == 1 else f"{lost} Pods"
    return f"{name}{size} lost {pods}, first on {node}: {outcome}"
