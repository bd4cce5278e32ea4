"""Checks the partitions of a database, and rows that belong to no log.

Days are partitions that statements choose by the bounds in a table: a bound
that is too narrow hides rows. Rows of a log that does not exist are in no
other check.
"""

from collections.abc import Iterator

import asyncpg

from recorder.integrity.chain import Problem
from recorder.store.statement import Statement

DAYS = Statement.of("""
    select name from recorder.partition
    where lower <> date_trunc('day', lower, 'UTC')
      or upper <> lower + interval '24 hours'
      or name <> 'entry_' || to_char(lower at time zone 'UTC', 'YYYYMMDD')
    order by name
""")
ATTACHED = Statement.of("""
    with wanted as (
      select 'recorder.' || parent || substr(p.name, 6) as name,
        format('FOR VALUES FROM (%L) TO (%L)', p.lower, p.upper) as bound
      from recorder.partition p, unnest(array['entry', 'fact']) parent
      where p.state <> 'dropped'
      union all
      select 'recorder.' || parent || '_kept',
        format('FOR VALUES FROM (MINVALUE) TO (%L)', max(p.upper))
      from recorder.partition p, unnest(array['entry', 'fact']) parent
      where p.state = 'dropped' group by parent),
    attached as (
      select format('%I.%I', n.nspname, c.relname) as name,
        pg_get_expr(c.relpartbound, c.oid) as bound
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      join pg_namespace n on n.oid = c.relnamespace
      where i.inhparent in
        ('recorder.entry'::regclass, 'recorder.fact'::regclass))
    select coalesce(w.name, a.name) as name, w.bound as wanted,
      a.bound as found
    from wanted w full join attached a on a.name = w.name
    where w.bound is distinct from a.bound
    order by 1
""")
# Batches are proven by their hashes. One statement sees one state.
OBSERVED = Statement.of("""
    select p.name from recorder.partition p
    left join (
      select date_trunc('day', recorded_at, 'UTC') as lower,
        min(observed_min) as first, max(observed_max) as last
      from recorder.batch group by 1) b on b.lower = p.lower
    where p.state <> 'dropped'
      and (p.observed_min, p.observed_max) is distinct from
        (coalesce(b.first, 'infinity'), coalesce(b.last, '-infinity'))
    order by p.name
""")
# The index leads from one number to the next, however many rows each has.
WITHOUT_LOG = """
    with recursive found as (
      select min(log_id) as log_id from recorder.{table}
      union all
      select (select min(log_id) from recorder.{table}
        where log_id > found.log_id)
      from found where found.log_id is not null)
    select log_id from found where log_id is not null
      and log_id not in (select log_id from recorder.log)
"""
OF_LOGS = (
    "entry", "batch", "object", "object_head", "resume_point", "seal",
    "checkpoint", "thinned",
)  # fmt: skip
"""Tables that have a log in each row, without a foreign key."""

UNPLACED = Statement.of(
    "select hold_id from recorder.hold where log_id is null"
)


async def surrounding_problems(
    connection: asyncpg.Connection,
) -> list[Problem]:
    """Return problems of partitions, and of rows that belong to no log."""
    problems = []
    async with connection.transaction():
        await connection.execute("set local datestyle = 'ISO'")
        await connection.execute("set local timezone = 'UTC'")
        for (name,) in await DAYS.fetch(connection):
            problems.append(_altered(f"{name} does not begin or end as a day"))
        for name, wanted, found in await ATTACHED.fetch(connection):
            problems.append(_altered(_attached(name, wanted, found)))
        for (name,) in await OBSERVED.fetch(connection):
            says = f"the times observed in {name} are not those of its batches"
            problems.append(_altered(says))
    for table in OF_LOGS:
        rows = await Statement.of(WITHOUT_LOG.format(table=table)).fetch(
            connection
        )
        problems += _of_no_log(table, [log for (log,) in rows])
    for (number,) in await UNPLACED.fetch(connection):
        says = f"hold {number} is of no log"
        problems.append(Problem(kind="hold-unrecorded", says=says))
    return problems


def _attached(name: str, wanted: str | None, found: str | None) -> str:
    if wanted is None:
        return f"{name} is attached, and is no day that is here"
    if found is None:
        return f"{name} is missing or not attached"
    return f'{name} is attached "{found}" instead of "{wanted}"'


def _altered(says: str) -> Problem:
    return Problem(kind="partition-altered", says=says)


def _of_no_log(table: str, logs: list[int]) -> Iterator[Problem]:
    for log in logs:
        yield Problem(
            kind="entry-stray" if table == "entry" else "row-stray",
            says=f"recorder.{table} has rows of log {log}, which is no log"
            " of this database",
        )
