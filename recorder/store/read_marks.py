"""Computes marks that change when rows are written again.

PostgreSQL moves an updated row, and has the transaction that wrote it. A mark
is a sum of both, and takes a fraction of the time of reading the rows. It
shows changes by statements, not changes to the files of the server.
"""

from collections.abc import Mapping

import asyncpg
import orjson

from recorder.store.read_batches import LogEnd
from recorder.store.statement import Statement

ENTRIES = Statement.of("""
    with span as (
      select min(first_position) as first,
        max(first_position + entries - 1) as last,
        min(recorded_at) as since, max(recorded_at) as until
      from recorder.batch
      where log_id = :log and batch > :after and batch <= :until)
    select count(*) || '/' || coalesce(sum(hashtextextended(
      concat_ws('/', e.position, e.tableoid, e.ctid, e.xmin), 0)), 0)
    from span join recorder.entry e on e.log_id = :log
      and e.position between span.first and span.last
      and e.recorded_at between span.since and span.until
""")
NAMES = """
    select '{table}' as name, max(upto) as upto, count(*) || '/' || coalesce(
      sum(hashtextextended(concat_ws('/', upto, ctid, xmin), 0)), 0) as mark
    from (select {key} as upto, ctid, xmin from recorder.{table}
      where {key} <= coalesce((:upto::jsonb ->> '{table}')::int8, {key})
        and {whose}) rows
"""
TABLES = {
    "object": ("object_id", "log_id = :log"),
    "node": ("node_id", "log_id = :log"),
    "word": ("word_id", "true"),
    "kind": ("kind_id", "true"),
    "resource": ("resource_id", "true"),
    "dictionary": ("dictionary_id", "true"),
}
ALL_NAMES = Statement.of(
    " union all ".join(
        NAMES.format(table=table, key=key, whose=whose)
        for table, (key, whose) in TABLES.items()
    )
)


async def entries_mark(
    connection: asyncpg.Connection, end: LogEnd, after: int, until: int
) -> str:
    """Return the mark of the entries of batches after one, up to another."""
    mark: str = await ENTRIES.fetch_value(
        connection, log=end.log, after=after, until=until
    )
    return mark


async def names_mark(
    connection: asyncpg.Connection,
    end: LogEnd,
    upto: Mapping[str, int | None] | None = None,
) -> tuple[dict[str, int | None], str]:
    """Return the greatest numbers of the names of entries, and their mark.

    ``upto`` are those of an earlier mark, to compare with it.
    """
    given = orjson.dumps(upto or {}).decode()
    rows = await ALL_NAMES.fetch(connection, upto=given, log=end.log)
    return (
        {row["name"]: row["upto"] for row in rows},
        " ".join(f"{row['name']}={row['mark']}" for row in rows),
    )
