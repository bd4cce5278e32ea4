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
    """`True`, `False`, `Unknown`, or `Absent` if it was removed."""


@described
class ConditionSeries:
    """Rows of a state timeline."""

    points: list[ConditionPoint]

    coverage: Coverage


@described
class Annotation:
    """An incident as an annotation."""

    time: datetime

    time_end: datetime | None

    title: str

    text: str

    tags: list[str]

    id: str


@described
class Annotations:
    """Dashboard annotations."""

    annotations: list[Annotation]

    coverage: Coverage
