"""Incidents, page by page, and one of them by its id."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from api.answers.paging import Page
from api.context import Asked
from api.types.incidents import IncidentConnection
from api.types.words import Cause, Confidence, Happened
from recorder.report.incidents import Incidents
from recorder.wiring.reading import LogReading

__all__ = ["IncidentFilter", "incident_page", "one_incident"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Which incidents are wanted."""

    since: datetime | None
    until: datetime | None
    happened: Sequence[Happened] | None
    causes: Sequence[Cause] | None
    confidence: Sequence[Confidence] | None
    node: str | None
    workload: str | None
    steps: int


async def incident_page(
    asked: Asked, reading: LogReading, wanted: IncidentFilter, page: Page
) -> IncidentConnection:
    """Give one page of incidents."""
    raise NotImplementedError


async def one_incident(
    asked: Asked, name: str
) -> tuple[LogReading, Incidents]:
    """Find one incident; give it alone."""
    raise NotImplementedError
