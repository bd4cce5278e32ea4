"""Durations as the public interface shows them."""

from typing import Self

from recorder.explain.verdict import Duration
from recorder.model.document import Document

__all__ = ["DurationDocument", "seconds_of"]


class DurationDocument(Document, frozen=True, kw_only=True):
    """How long something lasted, or at most."""

    kind: str
    seconds: float
    at_most: bool

    @classmethod
    def of(cls, duration: Duration | None) -> Self | None:
        """Return the document of a duration, where there is one."""
        if duration is None:
            return None
        return cls(
            kind=duration.kind,
            seconds=round(duration.length.total_seconds(), 3),
            at_most=duration.at_most,
        )


def seconds_of(duration: Duration | None) -> float | None:
    """Return the seconds of a duration, where there is one."""
    told = DurationDocument.of(duration)
    return None if told is None else told.seconds
