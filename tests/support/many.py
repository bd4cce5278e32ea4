"""A log of many entries over several days, written without the writer.

The writer records at PostgreSQL's own time, so it cannot make yesterday.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.conftest import migrated
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
    make_template,
)

__all__ = ["DAYS", "PER_DAY", "filled"]

TEMPLATE = "recorder_many"
_prepared: set[str] = set()
"""Servers that have the template already."""

DAYS = 5
PER_DAY = 6000
PER_BATCH = 100
NODES = 50

FILL = f"""
insert into recorder.log (kind, cluster_name, cluster_uid, kubernetes)
  values ('live', 'many', 'uid-many', 'v1.36.3');
insert into recorder.log_head (log_id, size, batches, recorded_at)
  values (1, {DAYS * PER_DAY}, {DAYS * PER_DAY // PER_BATCH},
          '2026-11-16T00:00:00Z');
insert into recorder.resource (name)
  values ('v1/pods'), ('v1/events'), ('v1/nodes');
insert into recorder.kind (api_group, name) values ('', 'Pod'), ('', 'Node');
insert into recorder.word (text) select 'word-' || n
  from generate_series(1, 20) n;
insert into recorder.node (log_id, name) select 1, 'node-' || n
  from generate_series(1, {NODES}) n;
insert into recorder.object (object_id, log_id, kind_id, namespace, name, uid)
  select n, 1, 1, 'train', 'pod-' || n, 'uid-' || n
  from generate_series(1, 10000) n;
select recorder.add_partition('2026-11-10T00:00:00Z'::timestamptz
  + n * interval '1 day') from generate_series(0, {DAYS}) n;
create temporary view filling as
  select n as position, '2026-11-10T00:00:00Z'::timestamptz
    + (n - 1) / {PER_DAY} * interval '1 day'
    + (n - 1) % {PER_DAY} / {PER_BATCH} * interval '10 minutes' as recorded_at,
    (n - 1) / {PER_BATCH} + 1 as batch
  from generate_series(1, {DAYS * PER_DAY}) n;
insert into recorder.entry (recorded_at, observed_at, position, object_id,
  version, log_id, node_id, reason_id, epoch, resource_id, operation, source,
  encoding, payload)
  select recorded_at, recorded_at - interval '1 s', position,
    case when position % 1000 <> 0 then position % 10000 + 1 end, position, 1,
    case when position % 3 = 0 then position % {NODES} + 1 end,
    case when position % 2 = 0 then position % 20 + 1 end, 1,
    case when position % 2 = 0 then 2 else 1 end,
    case when position % 1000 = 0 then 102 else 3 end, 1, 0,
    convert_to(case when position % 1000 = 0 then format(
      '{{"opened":"1/%s","from":"%s","to":"%s","reason":"relisted",'
      '"resource_version_before":"1","resource_version_after":"2",'
      '"proved":"a list","possible":[]}}', position - 1,
      to_char(recorded_at - interval '9 s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      to_char(recorded_at - interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
    else '{{"n":' || position || '}}' end, 'UTF8')
  from filling;
insert into recorder.batch
  select 1, batch, min(position), count(*), 1, min(recorded_at),
    min(recorded_at) - interval '1 s', min(recorded_at) - interval '1 s'
  from filling group by batch;
update recorder.partition p set
  observed_min = coalesce(f.least, 'infinity'),
  observed_max = coalesce(f.greatest, '-infinity')
  from (select date_trunc('day', recorded_at, 'UTC') as day,
          min(observed_min) as least, max(observed_max) as greatest
        from recorder.batch group by 1) f
  where p.lower = f.day;
"""


@asynccontextmanager
async def filled(server: DatabaseServer) -> AsyncIterator[Database]:
    """Yield log 1: five days of 6,000 entries, observed a second before.

    Entry n is of object n % 10,000 + 1, every third of a node, every second
    an Event, every thousandth the end of a healed gap.
    """
    if server.name not in _prepared:
        await make_template(server, TEMPLATE, _fill)
        _prepared.add(server.name)
    async with fresh_database(server, TEMPLATE) as database:
        yield database


async def _fill(database: Database) -> None:
    await migrated(database)
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute("set timezone = 'UTC'")
        await connection.execute(FILL)
        await connection.execute("analyze")
