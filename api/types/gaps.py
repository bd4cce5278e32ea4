"""Spans that a log cannot vouch for."""

from api.describing import described
from api.types.coverage import Coverage, Gap

__all__ = ["Gaps"]


@described
class Gaps:
    """The gaps of a window, oldest first, healed ones included."""

    gaps: list[Gap]

    more: int
    """How many older ones are not shown."""

    coverage: Coverage
