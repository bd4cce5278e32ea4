"""Holds: what retention must keep, by whom and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from recorder.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHold:
    """What is to be kept, by whom and why."""

    log: int
    since: datetime | None
    until: datetime | None
    node: str | None
    incident: str | None
    who: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A hold that was placed."""

    number: int
    kept: Sequence[date]
    """Days that are here and that it keeps, oldest first."""

    dropped: Sequence[date]
    """Days in its window that were dropped before."""


class Hold(Document, frozen=True, kw_only=True):
    """A hold, and whether it was lifted."""

    hold: int
    log: int | None
    since: datetime | None
    until: datetime | None
    node: str | None
    incident: str | None
    who: str
    why: str
    placed_at: datetime
    lifted_at: datetime | None
    lifted_by: str | None
    lifted_why: str | None


class Holds(Document, frozen=True, kw_only=True):
    """Every hold."""

    holds: Sequence[Hold]
