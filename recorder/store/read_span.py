"""Reading: which part of the log a window can touch.

The log is ordered by position and partitioned by ``recorded_at``, while
questions are about ``observed_at``. Partitions and batches keep the least and
greatest ``observed_at`` of their entries, so a window becomes a span of
positions and of partitions before any entry is looked at. For a live log,
where all clocks run together, that is little more than the window itself; for
a tape played today it is wherever its entries lie.

Of days that were dropped, entries that still matter lie in one partition
before all others, and have no batches any more: a span that reaches there
reaches to its beginning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from sqlalchemy import ColumnElement, and_, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.model.moment import FIRST, shifted
from recorder.store.tables import QueryRow, batch, entry, partition

__all__ = ["BISECT", "Span", "find_span"]

DAY = timedelta(days=1)

BISECT = text("""
    with recursive cut (low, high) as (
      select cast(:first as bigint), cast(:batches as bigint) + 1
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

EXTENT = text("""
    select batches, pruned_batches, pruned_positions,
      case when pruned_batches > 0 then (
        select max(upper) from recorder.partition where state = 'dropped')
      end as kept_until
    from recorder.log_head where log_id = :log
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Positions, both inclusive, and when they were recorded."""

    log: int
    first: int
    last: int
    recorded_min: datetime
    recorded_max: datetime
    kept_until: datetime = FIRST
    """Before it lies, in one partition, what was kept of dropped days."""

    def behind(self, position: int, recorded_at: datetime) -> Self:
        """Return the part of it after an entry."""
        return replace(self, first=position + 1, recorded_min=recorded_at)

    def days(self) -> Sequence[Self]:
        """Return it day by day, oldest first: each lies in one partition."""
        found = []
        since = self.recorded_min
        while since <= self.recorded_max:
            end = self.kept_until
            if since >= end:
                end = _midnight(since) + DAY
            last = min(end - timedelta.resolution, self.recorded_max)
            found.append(replace(self, recorded_min=since, recorded_max=last))
            since = last + timedelta.resolution
        return found

    def widening(self) -> Iterator[Self]:
        """Yield it newest first: a day, the two before, four, and so on.

        For who looks for the newest of something by an index: what is often
        told is found on the last day, and what is rare in few steps.
        """
        until, days = self.recorded_max, 1
        while True:
            since = self.recorded_min
            if until >= self.kept_until:
                before = _midnight(until) - (days - 1) * DAY
                since = max(before, self.kept_until, since)
            yield replace(self, recorded_min=since, recorded_max=until)
            if since == self.recorded_min:
                return
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
    extent = (await connection.execute(EXTENT, {"log": log})).first()
    if extent is None:
        return None
    if since is not None or until is not None:
        found = await _window(connection, log, extent, since, until)
        if found is None:
            return None
        first, last = max(first, found[0]), min(last, found[1])
    if first > last:
        return None
    kept_until = extent.kept_until or FIRST
    recorded_min: datetime | None = FIRST
    if first > extent.pruned_positions:
        recorded_min = await _recorded_at(connection, log, first)
    if last > extent.pruned_positions:
        recorded_max = await _recorded_at(connection, log, last)
    else:
        recorded_max = shifted(kept_until, -timedelta.resolution)
    if recorded_min is None or recorded_max is None:
        return None
    return Span(
        log=log,
        first=first,
        last=last,
        recorded_min=recorded_min,
        recorded_max=recorded_max,
        kept_until=kept_until,
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
    extent: QueryRow,
    since: datetime | None,
    until: datetime | None,
) -> tuple[int, int] | None:
    """Return the positions of the batches that a window touches."""
    query = select(
        func.min(partition.c.lower),
        func.max(partition.c.upper),
        func.bool_or(partition.c.state == "dropped"),
    )
    if since is not None:
        query = query.where(partition.c.observed_max >= since)
    if until is not None:
        query = query.where(partition.c.observed_min < until)
    lower, upper, is_kept = (await connection.execute(query)).one()
    if lower is None:
        return None
    kept = (1, extent.pruned_positions) if is_kept else None
    batches = select(
        func.min(batch.c.first_position),
        func.max(batch.c.first_position + batch.c.entries - 1),
    ).where(
        batch.c.log_id == log,
        batch.c.batch >= await _first_batch(connection, log, extent, lower),
        batch.c.batch < await _first_batch(connection, log, extent, upper),
    )
    if since is not None:
        batches = batches.where(batch.c.observed_max >= since)
    if until is not None:
        batches = batches.where(batch.c.observed_min < until)
    first, last = (await connection.execute(batches)).one()
    if first is None:
        return kept
    return (first, last) if kept is None else (kept[0], last)


async def _first_batch(
    connection: AsyncConnection, log: int, extent: QueryRow, at: datetime
) -> int:
    first = extent.pruned_batches + 1
    given = {"log": log, "at": at, "first": first, "batches": extent.batches}
    found: int = await connection.scalar(BISECT, given)
    return found
