"""Flat rows for dashboards, which draw tables and know no connections."""

from datetime import datetime

from api.describing import described
from api.types.coverage import Coverage

__all__ = ["Annotation", "Annotations", "ConditionPoint", "ConditionSeries"]


@described
class ConditionPoint:
    """A condition of a node from this time on."""

    time: datetime

    node: str

    condition: str

    state: str
    """`True`, `False`, `Unknown`, or `Absent` where it went."""


@described
class ConditionSeries:
    """What a state timeline draws."""

    points: list[ConditionPoint]

    coverage: Coverage


@described
class Annotation:
    """An incident as a mark on a graph."""

    time: datetime

    time_end: datetime | None

    title: str

    text: str

    tags: list[str]

    id: str


@described
class Annotations:
    """What to mark on a graph."""

    annotations: list[Annotation]

    coverage: Coverage
