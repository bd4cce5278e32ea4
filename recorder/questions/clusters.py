"""Answers of `recorder clusters`: the logs that a place knows, and holes."""

from collections.abc import Sequence
from dataclasses import dataclass

from recorder.coverage.ports import Log

__all__ = ["Away", "ClustersAnswer", "Known", "KnownLog", "UnreadPlace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """A cluster of which nothing can be read now: a hole, not an error."""

    cluster: str
    why: str
    """Without what only the operator should know, such as an address."""

    uid: str | None = None
    """None where its log was never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The logs that can be read now, oldest first, and who is away."""

    logs: Sequence[Log]
    away: Sequence[Away] = ()


@dataclass(frozen=True, slots=True)
class KnownLog:
    """A log, and which database it lies in."""

    log: Log
    place: str

    @property
    def state(self) -> str:
        """``tape``, ``recording``, or ``stopped`` if nobody writes it."""
        if self.log.is_tape:
            return "tape"
        return "stopped" if self.log.holder is None else "recording"


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """A database that did not answer: a hole in what is known."""

    cluster: str | None
    """The cluster that the registry has there."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersAnswer:
    """Every log that is known, and the databases that were not read."""

    logs: Sequence[KnownLog]
    unread: Sequence[UnreadPlace]
