"""A failure of a node, a workload that it hit, and the totals."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from msgspec import field
from msgspec.structs import replace

from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import Workload
from recorder.model.document import Document
from recorder.model.moment import LAST
from recorder.model.outcomes import Happened, HitBy, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What happened to a node, as it affects workloads."""

    verdict: Verdict
    since: datetime
    """The last proof that the node was healthy."""

    seen: datetime
    """The first proof that it was not."""

    until: datetime
    """Until when it may still cost Pods."""

    @property
    def is_silent(self) -> bool:
        """Whether the node was lost and has not been heard of again.

        Its Pods are down until it is back with their containers alive.
        """
        one = self.verdict
        return (
            one.happened == Happened.UNREACHABLE
            and one.back_in_service_at is None
            and one.down is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The nodes in question, and how far the record reaches."""

    nodes: frozenset[str]
    until: datetime
    """The end of the record; a hit that lasts is counted until then."""

    since: datetime | None = None
    """The begin of the window; a hit that ended before it is not returned."""

    unheard: Sequence[Hole] = ()
    """When no Pods were recorded."""

    before: Sequence[Hole] = ()
    """The time before the first list of Pods, which is read in part."""

    spared: frozenset[str] = frozenset()
    """Keys of Pods that were preempted or evicted on other nodes."""

    @property
    def hiding(self) -> Sequence[Hole]:
        """When a Pod may have ended that was missing afterwards."""
        return (*self.before, *self.unheard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The part of a loss charged to one transition, or to a preemption."""

    node: str
    verdict: str | None
    """The ID of the verdict on the transition; None for a preemption."""

    pods: Sequence[str]
    gpu_hours: float


class Hit(Document, frozen=True, kw_only=True):
    """A disrupted workload and its outcome."""

    workload: Workload = field(name="_workload")
    kind: str
    namespace: str
    name: str
    uid: str | None
    hit_by: HitBy
    first_node: str
    """The first node of the gang that failed."""

    nodes: Sequence[str]
    pods_hit: Sequence[str]
    gang_size: int
    """Number of Pods in the gang."""

    gpus: int
    """GPUs of the whole gang."""

    outcome: Outcome
    hit_at: datetime
    running_again_at: datetime | None
    gpu_hours_lost: float
    """Lower bound; work since the last checkpoint is not known."""

    gpu_hours_since_checkpoint: float | None = None
    """What its GPUs had computed since its last checkpoint, by claims of type
    `job.checkpoint`; lost in addition. Null without a checkpoint."""

    gpu_hours_attributed: float = 0.0
    """The share attributed to the nodes in the query."""

    evidence: Sequence[str]
    """Entries, `LOG/POSITION`."""

    says: str
    pod_keys: frozenset[str] = field(name="_pod_keys", default=frozenset())
    """Keys of the Pods that were hit, as a Pod that is created again may have
    the same name."""

    worked_since: datetime | None = field(name="_worked_since", default=None)
    """Since when all its Pods had run when it was hit."""

    is_part: bool = field(name="_is_part", default=False)
    """Whether it may belong to a workload that is not recorded."""

    charges: Sequence[Charge] = field(name="_charges", default=())
    """The parts of the loss, which add up to it; each end of a Pod is in
    one of them."""

    def charged_with(self, charges: Sequence[Charge]) -> Self:
        """Return the hit with these charges and their sum."""
        hours = round(sum(charge.gpu_hours for charge in charges), 4)
        return replace(self, charges=charges, gpu_hours_attributed=hours)

    def charged(
        self, *, nodes: Container[str] = (), verdicts: Container[str] = ()
    ) -> Self:
        """Return the hit with only the charges to some nodes or verdicts."""
        kept = [
            charge
            for charge in self.charges
            if charge.node in nodes or (charge.verdict or "") in verdicts
        ]
        pods = sorted({pod for charge in kept for pod in charge.pods})
        if self.outcome is Outcome.SURVIVED:
            pods = list(self.pods_hit)
        return replace(self.charged_with(kept), pods_hit=pods)

    def lasts_into(self, since: datetime | None) -> bool:
        """Return whether it began after a time, or lasted until then."""
        end = max(self.hit_at, self.running_again_at or LAST)
        return since is None or end >= since

    def is_down_at(self, at: datetime) -> bool:
        """Return whether the workload was down at a time."""
        return self.hit_at <= at < (self.running_again_at or LAST)


class Totals(Document, frozen=True, kw_only=True):
    """Totals of what was affected."""

    workloads: int
    pods: int
    gpus: int
    gpu_hours_lost: float
    """Lower bound."""

    gpu_hours_attributed: float
    """The attributed share: it adds up over nodes and incidents."""

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> Self:
        """Return the sums over hits."""
        return cls(
            workloads=len(hits),
            pods=sum(len(hit.pods_hit) for hit in hits),
            gpus=sum(hit.gpus for hit in hits),
            gpu_hours_lost=round(sum(hit.gpu_hours_lost for hit in hits), 4),
            gpu_hours_attributed=round(
                sum(hit.gpu_hours_attributed for hit in hits), 4
            ),
        )


def said(
    workload: Workload, outcome: Outcome, lost: int, node: str, gpus: int
) -> str:
    """Return a sentence that states how a workload was hit."""
    name = f"{workload.kind} {workload.namespace}/{workload.name}"
    size = f" of {gpus} GPU{'s' * (gpus > 1)}" if gpus else ""
    if outcome is Outcome.SURVIVED:
        return f"{name}{size} kept running through it"
    pods = f"{lost} {workload.part}{'s' * (lost != 1)}"
    return f"{name}{size} lost {pods}, first on {node}: {outcome}"
