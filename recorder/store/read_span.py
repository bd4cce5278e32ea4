"""Reading: which part of the log a window can touch.

The log is ordered by position and partitioned by ``recorded_at``, while
questions are about ``observed_at``. Partitions and batches keep the least and
greatest ``observed_at`` of their entries, so a window becomes a span of
positions and of partitions before any entry is looked at. For a live log,
where all clocks run together, that is little more than the window itself; for
a tape played today it is wherever its entries lie.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from sqlalchemy import ColumnElement, and_, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.store.tables import batch, entry, log_head, partition

__all__ = ["Span", "find_span"]

DAY = timedelta(days=1)

BISECT = text("""
    with recursive cut (low, high) as (
      select cast(1 as bigint), cast(:batches as bigint) + 1
      union all
      select case when probe.before then cut.low + (cut.high - cut.low) / 2 + 1
                  else cut.low end,
             case when probe.before then cut.high
                  else cut.low + (cut.high - cut.low) / 2 end
      from cut, lateral (
        select coalesce((select b.recorded_at < :at from recorder.batch b
                         where b.log_id = :log
                           and b.batch = cut.low + (cut.high - cut.low) / 2),
                        false) as before
      ) probe
      where cut.low < cut.high
    )
    select low from cut where low = high
""")
"""The first batch recorded at a time or later. ``recorded_at`` never
decreases along the batches of a log, so a bisection finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Positions, both inclusive, and when they were recorded."""

    log: int
    first: int
    last: int
    recorded_min: datetime
    recorded_max: datetime

    def behind(self, position: int, recorded_at: datetime) -> Self:
        """Return the part of it after an entry."""
        return replace(self, first=position + 1, recorded_min=recorded_at)

    def days(self) -> Sequence[Self]:
        """Return it day by day, oldest first: each lies in one partition."""
        found = []
        since = self.recorded_min
        while since <= self.recorded_max:
            day = _midnight(since)
            last = min(day + DAY - timedelta.resolution, self.recorded_max)
            found.append(replace(self, recorded_min=since, recorded_max=last))
            since = last + timedelta.resolution
        return found

    def widening(self) -> Iterator[Self]:
        """Yield it newest first: a day, the two before, four, and so on.

        For who looks for the newest of something by an index: what is often
        told is found on the last day, and what is rare in few steps.
        """
        until, days = self.recorded_max, 1
        while until >= self.recorded_min:
            since = max(_midnight(until) - (days - 1) * DAY, self.recorded_min)
            yield replace(self, recorded_min=since, recorded_max=until)
            until, days = since - timedelta.resolution, 2 * days

    def holds(self) -> ColumnElement[bool]:
        """Return the condition that an entry lies in it.

        The times let PostgreSQL leave out whole partitions.
        """
        return and_(
            entry.c.log_id == self.log,
            entry.c.position.between(self.first, self.last),
            entry.c.recorded_at.between(self.recorded_min, self.recorded_max),
        )


def _midnight(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )


async def find_span(
    connection: AsyncConnection,
    log: int,
    positions: tuple[int, int],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Span | None:
    """Return the span of a window between two positions, or None if empty."""
    first, last = positions
    if since is not None or until is not None:
        found = await _window(connection, log, since, until)
        if found is None:
            return None
        first, last = max(first, found[0]), min(last, found[1])
    if first > last:
        return None
    recorded_min = await _recorded_at(connection, log, first)
    recorded_max = await _recorded_at(connection, log, last)
    if recorded_min is None or recorded_max is None:
        return None
    return Span(
        log=log,
        first=first,
        last=last,
        recorded_min=recorded_min,
        recorded_max=recorded_max,
    )


async def _recorded_at(
    connection: AsyncConnection, log: int, position: int
) -> datetime | None:
    query = (
        select(batch.c.recorded_at)
        .where(batch.c.log_id == log, batch.c.first_position <= position)
        .order_by(batch.c.first_position.desc())
        .limit(1)
    )
    found: datetime | None = await connection.scalar(query)
    return found


async def _window(
    connection: AsyncConnection,
    log: int,
    since: datetime | None,
    until: datetime | None,
) -> tuple[int, int] | None:
    """Return the positions of the batches that a window touches."""
    query = select(func.min(partition.c.lower), func.max(partition.c.upper))
    if since is not None:
        query = query.where(partition.c.observed_max >= since)
    if until is not None:
        query = query.where(partition.c.observed_min < until)
    lower, upper = (await connection.execute(query)).one()
    if lower is None:
        return None
    batches = select(
        func.min(batch.c.first_position),
        func.max(batch.c.first_position + batch.c.entries - 1),
    ).where(
        batch.c.log_id == log,
        batch.c.batch >= await _first_batch(connection, log, lower),
        batch.c.batch < await _first_batch(connection, log, upper),
    )
    if since is not None:
        batches = batches.where(batch.c.observed_max >= since)
    if until is not None:
        batches = batches.where(batch.c.observed_min < until)
    first, last = (await connection.execute(batches)).one()
    return None if first is None else (first, last)


async def _first_batch(
    connection: AsyncConnection, log: int, at: datetime
) -> int:
    count = await connection.scalar(
        select(log_head.c.batches).where(log_head.c.log_id == log)
    )
    found: int = await connection.scalar(
        BISECT, {"log": log, "at": at, "batches": count}
    )
    return found
