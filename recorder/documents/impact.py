"""Impact as the public interface shows it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Self

from recorder.documents.coverage import CoverageDocument
from recorder.explain.hit import Hit
from recorder.explain.verdict import Verdict
from recorder.model.document import Document
from recorder.questions.impact import Impact

__all__ = ["HitDocument", "ImpactDocument", "Totals"]


class ImpactQuestionDocument(Document, frozen=True, kw_only=True):
    """Which nodes, and when."""

    cluster: str
    nodes: Sequence[str]
    since: datetime | None
    until: datetime | None


class FailureDocument(Document, frozen=True, kw_only=True):
    """What hit workloads."""

    node: str
    happened: str
    verdict: str
    at: datetime

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return the document of a verdict that hit something."""
        return cls(
            node=verdict.node,
            happened=verdict.happened,
            verdict=verdict.id,
            at=verdict.effect.stored.at,
        )


class HitDocument(Document, frozen=True, kw_only=True):
    """A workload that was hit, and what became of it."""

    kind: str
    namespace: str
    name: str
    uid: str | None
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
    gpu_hours_attributed: float
    evidence: Sequence[str]
    says: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Return the document of a hit."""
        return cls(
            kind=hit.workload.kind,
            namespace=hit.workload.namespace,
            name=hit.workload.name,
            uid=hit.workload.uid,
            hit_by=hit.hit_by,
            first_node=hit.first_node,
            nodes=hit.nodes,
            pods_hit=hit.pods_hit,
            gang_size=hit.gang_size,
            gpus=hit.gpus,
            outcome=hit.outcome,
            hit_at=hit.hit_at,
            running_again_at=hit.running_again_at,
            gpu_hours_lost=hit.gpu_hours_lost,
            gpu_hours_attributed=hit.gpu_hours_attributed,
            evidence=hit.evidence,
            says=hit.says,
        )


class Totals(Document, frozen=True, kw_only=True):
    """What was hit, added up."""

    workloads: int
    pods: int
    gpus: int
    gpu_hours_lost: float
    gpu_hours_attributed: float

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Self:
        """Return the sums over hits."""
        hits = list(hits)
        lost = sum(hit.gpu_hours_lost for hit in hits)
        attributed = sum(hit.gpu_hours_attributed for hit in hits)
        return cls(
            workloads=len(hits),
            pods=sum(len(hit.pods_hit) for hit in hits),
            gpus=sum(hit.gpus for hit in hits),
            gpu_hours_lost=round(lost, 4),
            gpu_hours_attributed=round(attributed, 4),
        )


class ImpactDocument(Document, frozen=True, kw_only=True):
    """The workloads that failures of nodes hit."""

    question: ImpactQuestionDocument
    failures: Sequence[FailureDocument]
    workloads: Sequence[HitDocument]
    totals: Totals
    coverage: CoverageDocument

    @classmethod
    def of(cls, impact: Impact) -> Self:
        """Return the document of an answer."""
        return cls(
            question=ImpactQuestionDocument(
                cluster=impact.cluster,
                nodes=impact.nodes,
                since=impact.window.since,
                until=impact.window.until,
            ),
            failures=[FailureDocument.of(one) for one in impact.failures],
            workloads=[HitDocument.of(hit) for hit in impact.workloads],
            totals=Totals.of(impact.workloads),
            coverage=CoverageDocument.of(impact.coverage),
        )
