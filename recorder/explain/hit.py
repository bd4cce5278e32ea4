"""A failure as workloads see it, and a workload that it hit."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, Self

from recorder.coverage.hole import Hole
from recorder.explain.verdict import Verdict
from recorder.model.outcomes import HitBy, Outcome
from recorder.projections import Workload

__all__ = ["Blow", "Charge", "Failure", "Hit", "Scope", "said"]


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

    before: Sequence[Hole] = ()
    """The time before the first list of Pods, of which a sample was read."""

    spared: frozenset[str] = frozenset()
    """Keys of Pods that gave way where nobody asks."""

    @property
    def hiding(self) -> Sequence[Hole]:
        """When a Pod may have gone that was found missing after it."""
        return (*self.before, *self.unheard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one transition is charged with of a loss, or a preemption."""

    node: str
    verdict: str | None
    """The id of the verdict on the transition; None of a preemption."""

    pods: Sequence[str]
    gpu_hours: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A workload that was hit."""

    workload: Workload
    hit_by: HitBy
    first_node: str
    nodes: Sequence[str]
    pods_hit: Sequence[str]
    gang_size: int
    gpus: int
    outcome: Outcome
    hit_at: datetime
    running_again_at: datetime | None
    gpu_hours_lost: float
    evidence: Sequence[str]
    says: str
    charges: Sequence[Charge] = ()
    """The parts of the loss: together they are the whole, and each end of a
    Pod is in one of them."""

    @property
    def gpu_hours_attributed(self) -> float:
        """What the charges come to."""
        return round(sum(charge.gpu_hours for charge in self.charges), 4)

    def charged(
        self, *, nodes: Container[str] = (), verdicts: Container[str] = ()
    ) -> Self:
        """Return it with only what some nodes or verdicts are charged with."""
        kept = [
            charge
            for charge in self.charges
            if charge.node in nodes or (charge.verdict or "") in verdicts
        ]
        pods = sorted({pod for charge in kept for pod in charge.pods})
        if self.outcome is Outcome.SURVIVED:
            pods = list(self.pods_hit)
        return replace(self, charges=kept, pods_hit=pods)

    def is_down_at(self, at: datetime) -> bool:
        """Return whether the workload did not run again by a time."""
        again = self.running_again_at
        return self.hit_at <= at and (again is None or at < again)


class Blow(NamedTuple):
    """What hit a gang first."""

    hit_by: HitBy
    node: str
    at: datetime
    unseen: bool = False
    """Whether what was lost may have been over before."""


def said(
    workload: Workload, outcome: Outcome, lost: int, node: str, gpus: int
) -> str:
    """Say in a sentence how a workload was hit."""
    name = f"{workload.kind} {workload.namespace}/{workload.name}"
    size = f" of {gpus} GPUs" if gpus else ""
    if outcome is Outcome.SURVIVED:
        return f"{name}{size} kept running through it"
    pods = "1 Pod" if lost == 1 else f"{lost} Pods"
    return f"{name}{size} lost {pods}, first on {node}: {outcome}"
