"""Spans that a log cannot vouch for."""

from api.publishing import publish
from api.types.coverage import Hole
from recorder.answers.gaps import Gaps

__all__ = ["Gaps"]


class _Gaps:
    gaps: list[Hole]


publish(Gaps, adds=_Gaps, shows=["more"])
