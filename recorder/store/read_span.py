"""Finds the part of the log that may have entries of a window.

The log is ordered by position and partitioned by ``recorded_at``, while
queries are about ``observed_at``. Partitions and batches have the least and
greatest ``observed_at`` of their entries, so that a window becomes a span of
positions and partitions before any entry is read. For a live log the span is
little more than the window; for a tape played today it is where its entries
are.

Entries of dropped days that are still needed are in one partition before all
others, and have no batches: a span that reaches that partition includes its
beginning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from recorder.model.moment import FIRST, shifted
from recorder.store.engine import Engine, fetch
from recorder.store.statement import Condition, Statement, question

DAY = timedelta(days=1)

PLACED = "e.log_id = :log and e.position between :first and :last"
RECORDED = """e.recorded_at between :recorded_min::timestamptz
      and :recorded_max::timestamptz"""

BISECT = """
    cut (time, low, high) as (
      select e.time, head.pruned_batches + 1, head.batches + 1
      from head, touched, lateral (
        values (touched.lower), (touched.upper)) e (time)
      where touched.lower is not null
      union all
      select cut.time,
        case when probe.before then cut.low + (cut.high - cut.low) / 2 + 1
          else cut.low end,
        case when probe.before then cut.high
          else cut.low + (cut.high - cut.low) / 2 end
      from cut, lateral (
        select coalesce((
          select b.recorded_at < cut.time from recorder.batch b
          where b.log_id = :log
            and b.batch = cut.low + (cut.high - cut.low) / 2), false) as before
      ) probe
      where cut.low < cut.high),
    edge as (
      select min(low) as lower, max(low) as upper from cut where low = high)
"""
"""The first batches recorded at two times or later. ``recorded_at`` never
decreases along the batches of a log, so a bisection finds them."""

HEAD = """
    head as (
      select h.batches, h.pruned_batches, h.pruned_positions,
        case when h.pruned_batches > 0 then (
          select max(upper) from recorder.partition where state = 'dropped')
        end as kept_until
      from recorder.log_head h where h.log_id = :log)
"""
ENDS = """
    select s.first, s.last, head.pruned_positions, head.kept_until,
      (select b.recorded_at from recorder.batch b
        where b.log_id = :log and b.first_position <= s.first
        order by b.first_position desc limit 1) as first_at,
      (select b.recorded_at from recorder.batch b
        where b.log_id = :log and b.first_position <= s.last
        order by b.first_position desc limit 1) as last_at
"""
POSITIONS = question(f"""
    with {HEAD} {ENDS}
    from head, (select :first::int8 as first, :last::int8 as last) s
""")


def window_statement(first_batches: str) -> Statement:
    """Return the statement that makes a window a span.

    Args:
        first_batches: common table expressions that end with ``edge``: the
            first batch of the first day, and the one after the last day.
    """
    return question(f"""
    with recursive {HEAD},
    touched as (
      select min(p.lower) as lower, max(p.upper) as upper,
        bool_or(p.state = 'dropped') as is_kept
      from recorder.partition p
      where (:since::timestamptz is null or p.observed_max >= :since)
        and (:until::timestamptz is null or p.observed_min < :until)),
    {first_batches},
    found as (
      select min(b.first_position) as first,
        max(b.first_position + b.entries - 1) as last
      from recorder.batch b
      where b.log_id = :log and b.batch >= (select lower from edge)
        and b.batch < (select upper from edge)
        and (:since::timestamptz is null or b.observed_max >= :since)
        and (:until::timestamptz is null or b.observed_min < :until)),
    touching as (
      select case when touched.is_kept then 1 else found.first end as first,
        coalesce(found.last,
          case when touched.is_kept then head.pruned_positions end) as last
      from head, touched, found)
    {ENDS}
    from head, (
      select greatest(t.first, :first::int8) as first,
        least(t.last, :last::int8) as last
      from touching t where t.first is not null and t.last is not null) s
    """)


WINDOW = window_statement(BISECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Positions, both inclusive, and when they were recorded."""

    log: int
    first: int
    last: int
    recorded_min: datetime
    recorded_max: datetime
    kept_until: datetime = FIRST
    """Before it is the one partition with what is kept of dropped days."""

    def behind(self, position: int, recorded_at: datetime) -> Self:
        """Return the part of the span after an entry."""
        return replace(self, first=position + 1, recorded_min=recorded_at)

    def days(self) -> Sequence[Self]:
        """Return the span by days, oldest first; each is one partition."""
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
        """Yield parts of the span, newest first: one day, two, four, ...

        With an index, frequent entries are found on the last day, and rare
        ones in few steps.
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

    def holds(self) -> Condition:
        """Return the condition that an entry ``e`` is in the span.

        The times let PostgreSQL skip partitions.
        """
        place, values = self._placed()
        return f"{place} and {RECORDED}", {
            **values,
            "recorded_min": self.recorded_min,
            "recorded_max": self.recorded_max,
        }

    def holds_on_its_days(self) -> Condition:
        """Return the same condition, with the days as literals.

        A generic plan then knows the partitions, and reads them in order
        instead of sorting them. The text remains the same during a day.
        """
        first, last = FIRST, self.kept_until
        if self.recorded_min >= self.kept_until:
            first = max(self.kept_until, _midnight(self.recorded_min))
        if self.recorded_max >= self.kept_until:
            last = _midnight(self.recorded_max) + DAY
        place, values = self._placed()
        within = (
            f"e.recorded_at >= '{first.isoformat()}'::timestamptz"
            f" and e.recorded_at < '{last.isoformat()}'::timestamptz"
        )
        return f"{place} and {within}", values

    def _placed(self) -> Condition:
        return PLACED, {
            "log": self.log,
            "first": self.first,
            "last": self.last,
        }


def _midnight(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )


async def find_span(
    engine: Engine,
    log: int,
    positions: tuple[int, int],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Span | None:
    """Return the span of a window between two positions, or None if empty.

    One statement finds it, which sees one state of the log even while a day
    is dropped.
    """
    first, last = positions
    if first > last:
        return None
    given = {"log": log, "first": first, "last": last}
    action = "find what a window touches"
    if since is None and until is None:
        rows = await fetch(engine, action, POSITIONS, **given)
    else:
        rows = await fetch(
            engine, action, WINDOW, **given, since=since, until=until
        )
    if not rows:
        return None
    first, last, pruned, kept_until, first_at, last_at = rows[0]
    if first > last:
        return None
    kept_until = kept_until or FIRST
    if first <= pruned:
        first_at = FIRST
    if last <= pruned:
        last_at = shifted(kept_until, -timedelta.resolution)
    if first_at is None or last_at is None:
        return None
    return Span(
        log=log,
        first=first,
        last=last,
        recorded_min=first_at,
        recorded_max=last_at,
        kept_until=kept_until,
    )
