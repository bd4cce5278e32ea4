"""Questions about one object: its versions, itself at a time, differences."""

from dataclasses import dataclass
from datetime import datetime

from api import context
from api.answers.paging import Page
from api.types.objects import Difference, ObjectAt, VersionConnection
from recorder.report.references import Reference
from recorder.report.window import Window
from recorder.wiring.reading import LogReading

__all__ = ["Asked", "difference", "page", "shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which versions are wanted."""

    reference: Reference
    window: Window
    all_fields: bool


async def page(
    asked: context.Asked, reading: LogReading, wanted: Asked, page: Page
) -> VersionConnection:
    """Give one page of versions."""
    raise NotImplementedError


async def shown(
    asked: context.Asked,
    reading: LogReading,
    reference: Reference,
    at: datetime | None,
) -> ObjectAt:
    """Give an object as it was."""
    raise NotImplementedError


async def difference(
    asked: context.Asked,
    reading: LogReading,
    reference: Reference,
    *,
    ends: tuple[str, str | None],
    all_fields: bool,
) -> Difference:
    """Compare an object at two ends."""
    raise NotImplementedError
