"""What ended a workload, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.coverage.coverage import Coverage
from recorder.explain.ending import Ending
from recorder.model.document import Document
from recorder.model.outcomes import WorkloadState
from recorder.projections import Workload
from recorder.questions.why_workload import WhyWorkload

__all__ = ["WhyWorkloadDocument"]


class WhyWorkloadQuestionDocument(Document, frozen=True, kw_only=True):
    """Which object, and when."""

    cluster: str
    object: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class WhyWorkloadDocument(Document, frozen=True, kw_only=True):
    """What ended a workload or a Pod, and how it was last seen."""

    question: WhyWorkloadQuestionDocument
    workload: Workload
    pod: str | None
    state: WorkloadState
    state_since: datetime | None = field(name="since")
    sentence: str
    endings: Sequence[Ending]
    coverage: Coverage

    @classmethod
    def of(cls, answer: WhyWorkload) -> Self:
        """Return the document of an answer."""
        question = answer.question
        return cls(
            question=WhyWorkloadQuestionDocument(
                cluster=answer.cluster,
                object=str(question.object),
                since=question.window.since,
                until=question.window.until,
                at=question.at or UNSET,
            ),
            workload=answer.workload,
            pod=answer.pod,
            state=answer.state,
            state_since=answer.since,
            sentence=answer.sentence,
            endings=answer.endings,
            coverage=answer.coverage,
        )
