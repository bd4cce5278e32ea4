"""Impact: the workloads that failures hit."""

from collections.abc import Iterable
from datetime import datetime
from typing import Self

import strawberry
from msgspec.structs import asdict

from api.describing import described
from api.types.coverage import Coverage, Window
from api.types.words import Happened, HitBy, Outcome
from recorder.documents.impact import Totals
from recorder.explain.hit import Hit
from recorder.explain.verdict import Verdict
from recorder.projections import Workload
from recorder.questions import impact as answered

__all__ = ["Impact", "ImpactTotals", "WorkloadHit", "WorkloadReference"]


@described
class WorkloadReference:
    """The workload at the top of the owner chain."""

    kind: str
    """As in Kubernetes; `SlurmJob` for Slurm."""

    namespace: str

    name: str

    uid: str | None

    group: str | None
    """Of a LeaderWorkerSet: which of its groups."""

    @classmethod
    def of(cls, workload: Workload) -> Self:
        """Take it from a projection."""
        return cls(
            kind=workload.kind,
            namespace=workload.namespace,
            name=workload.name,
            uid=workload.uid,
            group=workload.group or None,
        )


@described
class WorkloadHit:
    """A disrupted workload and its outcome."""

    workload: WorkloadReference

    hit_by: HitBy

    first_node: str
    """The first node of the gang that failed."""

    nodes: list[str]

    pods_hit: list[str]

    gang_size: int
    """Number of Pods in the gang."""

    gpus: int
    """GPUs of the whole gang."""

    outcome: Outcome

    hit_at: datetime

    running_again_at: datetime | None

    gpu_hours_lost: float
    """Lower bound; work since the last checkpoint is not known."""

    gpu_hours_attributed: float
    """The share attributed to the nodes in the query."""

    evidence: list[strawberry.ID]
    """Entries, `LOG/POSITION`."""

    says: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Take it from an answer."""
        return cls(
            workload=WorkloadReference.of(hit.workload),
            hit_by=hit.hit_by,
            first_node=hit.first_node,
            nodes=list(hit.nodes),
            pods_hit=list(hit.pods_hit),
            gang_size=hit.gang_size,
            gpus=hit.gpus,
            outcome=hit.outcome,
            hit_at=hit.hit_at,
            running_again_at=hit.running_again_at,
            gpu_hours_lost=hit.gpu_hours_lost,
            gpu_hours_attributed=hit.gpu_hours_attributed,
            evidence=[strawberry.ID(entry) for entry in hit.evidence],
            says=hit.says,
        )


@described
class Failure:
    """What affected them."""

    node: str

    happened: Happened

    verdict: strawberry.ID
    """Its id."""

    at: datetime

    sentence: str

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Take it from an answer."""
        return cls(
            node=verdict.node,
            happened=verdict.happened,
            verdict=strawberry.ID(verdict.id),
            at=verdict.effect.stored.at,
            sentence=verdict.sentence,
        )


@described
class ImpactTotals:
    """Totals of what was affected."""

    workloads: int

    pods: int

    gpus: int

    gpu_hours_lost: float
    """Lower bound."""

    gpu_hours_attributed: float
    """The attributed share: it adds up over nodes and incidents."""

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Self:
        """Add up."""
        return cls(**asdict(Totals.of(hits)))


@described
class Impact:
    """The workloads affected by node failures."""

    nodes: list[str]
    """The nodes named in the query or selected by labels."""

    window: Window

    failures: list[Failure]

    workloads: list[WorkloadHit]

    totals: ImpactTotals

    coverage: Coverage

    @classmethod
    def of(cls, impact: answered.Impact) -> Self:
        """Take it from an answer."""
        return cls(
            nodes=list(impact.nodes),
            window=Window(
                since=impact.window.since, until=impact.window.until
            ),
            failures=[Failure.of(one) for one in impact.failures],
            workloads=[WorkloadHit.of(hit) for hit in impact.workloads],
            totals=ImpactTotals.of(impact.workloads),
            coverage=Coverage.of(impact.coverage),
        )
