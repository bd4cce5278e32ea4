"""Nodes as they were, as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.questions.nodes import NodeAtTime, Nodes

__all__ = ["NodesDocument"]


class NodesQuestionDocument(Document, frozen=True, kw_only=True):
    """Of which cluster, and when."""

    cluster: str
    at: datetime | None


class NodesDocument(Document, frozen=True, kw_only=True):
    """The nodes that there were at a time."""

    question: NodesQuestionDocument
    nodes: Sequence[NodeAtTime]
    coverage: Coverage

    @classmethod
    def of(cls, answer: Nodes) -> Self:
        """Return the document of an answer."""
        return cls(
            question=NodesQuestionDocument(
                cluster=answer.cluster, at=answer.at
            ),
            nodes=answer.nodes,
            coverage=answer.coverage,
        )
