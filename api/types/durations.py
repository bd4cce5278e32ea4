"""Durations: how long a node was down, or away from service."""

from typing import Self

from api.describing import described
from api.types.words import DurationKind
from recorder.documents.durations import DurationDocument
from recorder.explain import verdict as judged

__all__ = ["Duration"]


@described
class Duration:
    """How long something lasted."""

    kind: DurationKind

    seconds: float

    at_most: bool
    """Whether it is an upper bound: only a proof before it and one after it
    are recorded."""

    @classmethod
    def of(cls, duration: judged.Duration | None) -> Self | None:
        """Take it from an answer, where there is one."""
        told = DurationDocument.of(duration)
        if duration is None or told is None:
            return None
        return cls(
            kind=duration.kind, seconds=told.seconds, at_most=told.at_most
        )
