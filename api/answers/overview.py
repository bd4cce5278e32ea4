"""The fleet at a glance: what is recorded, gaps, rows for dashboards."""

from datetime import datetime

from api.context import Asked
from api.types.clusters import Status
from api.types.gaps import Gaps
from api.types.series import Annotations, ConditionSeries
from recorder.report.window import Window
from recorder.wiring.reading import LogReading

__all__ = ["annotations", "condition_series", "gaps", "status"]


async def status(asked: Asked) -> Status:
    """Give everything at a glance."""
    raise NotImplementedError


async def gaps(asked: Asked, reading: LogReading, span: Window) -> Gaps:
    """Give the gaps of a window."""
    raise NotImplementedError


async def condition_series(
    asked: Asked,
    reading: LogReading,
    wanted: tuple[list[str], list[str] | None],
    span: Window,
) -> ConditionSeries:
    """Give conditions as flat rows."""
    raise NotImplementedError


async def annotations(
    asked: Asked,
    reading: LogReading,
    span: tuple[datetime | None, datetime | None],
) -> Annotations:
    """Give incidents as marks."""
    raise NotImplementedError
