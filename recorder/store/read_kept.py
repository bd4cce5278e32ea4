"""Reads which days of a log are archived, and whether it was recorded here.

A log that was attached has only hashes here, and its archive has the rest. A
recorded log that was emptied to look attached still has rows that only
recording leaves.
"""

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from recorder.integrity.chain import Problem
from recorder.store.read_batches import LogEnd
from recorder.store.statement import Statement

KEPT = Statement.of("""
    select uri, encode(manifest_sha256, 'hex') as sha256,
      encode(range, 'hex') as range, first_batch
    from (
      select log_id, uri, manifest_sha256, range, first_batch
      from recorder.archived_day where uri is not null
      union all
      select log_id, uri, manifest_sha256, range, first_batch
      from recorder.attached_day) days
    where :log::int4 is null or log_id = :log order by log_id, first_batch
""")
# Rows that only recording leaves: `recorder.attach_log` creates a log of kind
# "tape" without them.
ORIGIN = Statement.of("""
    select exists (select from recorder.attached_day a
        where a.log_id = h.log_id) as attached,
      l.kind = 'live' or h.term > 0
        or exists (select from recorder.batch where log_id = h.log_id)
        or exists (select from recorder.checkpoint where log_id = h.log_id)
        or exists (select from recorder.archived_day where log_id = h.log_id)
        or exists (select from recorder.resume_point where log_id = h.log_id)
        as recorded
    from recorder.log_head h join recorder.log l on l.log_id = h.log_id
    where h.log_id = :log
""")
LOST = Statement.of("""
    select found.log_id, max(c.note) as note from (
      select log_id from recorder.log_head
      union select log_id from recorder.checkpoint
      union select log_id from recorder.archived_day
      union select log_id from recorder.attached_day
      union select log_id from recorder.resume_point) found
    left join recorder.checkpoint c on c.log_id = found.log_id
    where not exists (
      select from recorder.log l where l.log_id = found.log_id)
    group by found.log_id order by found.log_id
""")


class KeptRow(NamedTuple):
    """A day that is archived, according to the database."""

    uri: str
    sha256: str
    range: str
    first_batch: int


async def kept_days(
    connection: asyncpg.Connection, log: int
) -> Sequence[KeptRow]:
    """Return the archived days of a log, according to the database."""
    return [KeptRow(*row) for row in await KEPT.fetch(connection, log=log)]


async def all_kept_days(
    connection: asyncpg.Connection,
) -> Sequence[KeptRow]:
    """Return the archived days of all logs, according to the database."""
    return [KeptRow(*row) for row in await KEPT.fetch(connection, log=None)]


async def attached_wrongly(
    connection: asyncpg.Connection, end: LogEnd
) -> list[Problem]:
    """Return a problem if a log recorded here is marked as attached."""
    row = await ORIGIN.fetch_row(connection, log=end.log)
    if row is None:
        return []
    if row["attached"] and row["recorded"]:
        return [
            Problem(
                kind="attached-forged",
                says=f"log {end.log} was recorded by this database, and its"
                " days are said to be attached from another one's archive",
            )
        ]
    return []


async def lost_logs(
    connection: asyncpg.Connection,
) -> Sequence[tuple[int, str | None]]:
    """Return the numbers of logs with rows but no row in `log`.

    Each with a signed checkpoint, if there is one.
    """
    return [tuple(row) for row in await LOST.fetch(connection)]
