"""Flat rows for dashboards, which draw tables, not connections."""

from datetime import datetime

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from api.resolvers.types.publishing import publish
from recorder.answers.series import ConditionPoint, ConditionSeries

__all__ = ["Annotation", "Annotations", "ConditionSeries"]


publish(ConditionPoint)
publish(ConditionSeries)


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
