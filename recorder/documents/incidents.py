"""Incidents as the public interface shows them."""

from collections.abc import Sequence
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.questions.incidents import Incident, Incidents

__all__ = ["IncidentsDocument"]


class IncidentsDocument(Document, frozen=True, kw_only=True):
    """What happened to any node, oldest first."""

    incidents: Sequence[Incident]
    coverage: Coverage

    @classmethod
    def of(cls, answer: Incidents) -> Self:
        """Return the document of an answer."""
        return cls(
            incidents=answer.incidents,
            coverage=answer.coverage,
        )
