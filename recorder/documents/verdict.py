"""Answers of `recorder why` as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType

from recorder.coverage.coverage import Coverage
from recorder.explain.verdict import Verdict
from recorder.model.document import Document
from recorder.questions.why import Why

__all__ = ["WhyDocument"]


class WhyQuestionDocument(Document, frozen=True, kw_only=True):
    """Which node, and when."""

    cluster: str
    node: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class WhyDocument(Document, frozen=True, kw_only=True):
    """What happened to a node, and how sure that is."""

    question: WhyQuestionDocument
    verdicts: Sequence[Verdict]
    coverage: Coverage

    @classmethod
    def of(cls, why: Why) -> Self:
        """Return the document of an answer."""
        question = why.question
        return cls(
            question=WhyQuestionDocument(
                cluster=why.cluster,
                node=question.node,
                since=question.window.since,
                until=question.window.until,
                at=question.at or UNSET,
            ),
            verdicts=why.verdicts,
            coverage=why.coverage,
        )
