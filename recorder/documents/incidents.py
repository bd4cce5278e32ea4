"""Incidents as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import field

from recorder.coverage.coverage import Coverage
from recorder.explain.hit import Totals
from recorder.explain.verdict import Duration
from recorder.model.document import Document
from recorder.questions.incidents import Incident, Incidents

__all__ = ["IncidentDocument", "IncidentsDocument"]


class IncidentDocument(Document, frozen=True, kw_only=True):
    """Verdicts that belong together."""

    id: str
    happened: str
    cause: str
    nodes: Sequence[str]
    since: datetime = field(name="from")
    until: datetime | None = field(name="to")
    duration: Duration | None
    group: str
    sentence: str
    confidence: str
    verdicts: Sequence[str]
    workloads: int
    gpu_hours_lost: float

    @classmethod
    def of(cls, incident: Incident) -> Self:
        """Return the document of an incident."""
        first, totals = incident.first, Totals.of(incident.workloads)
        return cls(
            id=first.id,
            happened=first.happened,
            cause=first.cause,
            nodes=incident.nodes,
            since=incident.began_at,
            until=incident.until,
            duration=incident.duration,
            group=incident.group,
            sentence=incident.sentence,
            confidence=first.confidence,
            verdicts=[verdict.id for verdict in incident.verdicts],
            workloads=totals.workloads,
            gpu_hours_lost=totals.gpu_hours_attributed,
        )


class IncidentsDocument(Document, frozen=True, kw_only=True):
    """What happened to any node, oldest first."""

    incidents: Sequence[IncidentDocument]
    coverage: Coverage

    @classmethod
    def of(cls, answer: Incidents) -> Self:
        """Return the document of an answer."""
        return cls(
            incidents=[IncidentDocument.of(one) for one in answer.incidents],
            coverage=answer.coverage,
        )
