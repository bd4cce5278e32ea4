"""How far a log is: what has been committed, asked of its tables."""

from dataclasses import dataclass
from datetime import datetime

from tests.survival.database import ask

__all__ = ["Head", "Point", "read_head", "read_points"]

POINTS = """
    select r.name, p.state, p.completed, p.pending, p.vouched_until,
      p.settled_until, p.began_at, p.gap_position
    from recorder.resume_point p join recorder.resource r using (resource_id)
    where p.source = 'watch'
"""
HEAD = """
    select h.term, h.holder, h.epoch, h.size from recorder.log_head h
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where one resource is."""

    state: str
    pending: int
    vouched_until: datetime | None
    settled_until: datetime | None
    is_open: bool
    """Whether it has a gap that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of the log, and who writes it."""

    term: int
    holder: str | None
    epoch: int
    size: int


async def read_points(dsn: str) -> dict[str, Point]:
    """Return the committed place of every resource that is watched."""
    return {
        row["name"]: Point(
            state=row["state"],
            pending=int(row["pending"] or 0),
            vouched_until=row["vouched_until"],
            settled_until=row["settled_until"],
            is_open=row["gap_position"] is not None,
        )
        for row in await ask(dsn, POINTS)
    }


async def read_head(dsn: str) -> Head:
    """Return the end of the log; a log that is not there yet has none."""
    for row in await ask(dsn, HEAD):
        return Head(
            term=row["term"],
            holder=row["holder"],
            epoch=row["epoch"],
            size=row["size"],
        )
    return Head(term=0, holder=None, epoch=1, size=0)
