"""Reads the size of the database, its days, and how fast a log grows."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.status import Days
from recorder.store.engine import fetch
from recorder.store.statement import Statement

DAYS = Statement.of("""
    select count(*) filter (where state in ('open', 'sealed', 'archived')
        and upper <= clock_timestamp()) as hot,
      count(*) filter (where archived_at is not null) as archived,
      count(*) filter (where state = 'dropped') as dropped,
      (select count(*) from recorder.hold h where not exists (
        select from recorder.hold_lifted l where l.hold_id = h.hold_id)
      ) as holds,
      max(upper) filter (where archived_at is not null) as archived_until,
      min(lower) filter (where state <> 'dropped') as kept_since
    from recorder.partition
""")

FACTS = Statement.of("""
    select current_setting('server_version') as version,
      pg_database_size(current_database()) as bytes, clock_timestamp() as now
""")

EXTENT = Statement.of("""
    select
      (select observed_min from recorder.batch
        where log_id = :log order by batch limit 1) as since,
      (select observed_max from recorder.batch
        where log_id = :log order by batch desc limit 1) as until,
      (select made_at from recorder.checkpoint
        where log_id = :log order by batches desc, made_at desc limit 1)
        as proven_at
""")

RATE_WINDOW = timedelta(minutes=5)
BATCHES_MAX = 6000
"""In five minutes: a batch takes at least 50 ms."""

RATE = Statement.of("""
    select coalesce(sum(entries), 0)::int8 as entries
    from (select entries, recorded_at from recorder.batch
      where log_id = :log order by batch desc limit :batches) newest
    where recorded_at > clock_timestamp() - :window::interval
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExtent:
    """Where a log begins, and its last proof."""

    since: datetime | None
    """When its first entry in the database was observed."""

    until: datetime | None
    """When the last of its newest entries was observed."""

    proven_at: datetime | None
    """When its newest checkpoint was signed."""


async def extent_of(engine: AsyncEngine, log: int) -> LogExtent:
    """Return where a log begins, and when it was proven last."""
    (row,) = await fetch(engine, "read the extent of the log", EXTENT, log=log)
    return LogExtent(since=row.since, until=row.until, proven_at=row.proven_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """Version, size and clock of PostgreSQL."""

    version: str
    bytes: int
    """Size of the whole database, including indices."""

    now: datetime
    """Its clock."""


async def database_facts(engine: AsyncEngine) -> DatabaseFacts:
    """Return version, size and time."""
    (row,) = await fetch(engine, "read the database's size", FACTS)
    return DatabaseFacts(
        version=row.version.split()[0], bytes=row.bytes, now=row.now
    )


async def days_of(engine: AsyncEngine) -> Days:
    """Return counts of days, and since when they are complete."""
    rows = await fetch(engine, "read the days of the log", DAYS)
    days = Days(**rows[0])
    return days if days.dropped else replace(days, kept_since=None)


async def entries_per_minute(engine: AsyncEngine, log: int) -> float:
    """Return the rate of the last five minutes, by PostgreSQL's clock."""
    ((entries,),) = await fetch(
        engine,
        "read the rate",
        RATE,
        log=log,
        batches=BATCHES_MAX,
        window=RATE_WINDOW,
    )
    return float(entries) / (RATE_WINDOW.total_seconds() / 60)
