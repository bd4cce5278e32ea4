"""Impact with its coverage as the public interface shows it."""

from collections.abc import Sequence
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.explain.hit import Hit, Totals
from recorder.model.document import Document
from recorder.questions.impact import Impact, ImpactSubject, NodeFailure

__all__ = ["ImpactDocument"]


class ImpactDocument(Document, frozen=True, kw_only=True):
    """The workloads that failures of nodes hit."""

    question: ImpactSubject
    failures: Sequence[NodeFailure]
    workloads: Sequence[Hit]
    totals: Totals
    coverage: Coverage

    @classmethod
    def of(cls, impact: Impact) -> Self:
        """Return the document of an answer."""
        return cls(
            question=impact.question,
            failures=impact.failures,
            workloads=impact.workloads,
            totals=impact.totals,
            coverage=impact.coverage,
        )
