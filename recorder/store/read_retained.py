"""Reads the entries of retention in a log, and the notices before them.

Retention leaves a notice in the transaction of each action, and the writer of
the log makes it an entry, which is hashed and signed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import asyncpg

from recorder.model.entry import Operation
from recorder.store.codes import OPERATION_CODES
from recorder.store.lookback import documents
from recorder.store.read_batches import LogEnd
from recorder.store.statement import Statement

READ_AT_ONCE = 500

LATE = timedelta(hours=1)
"""If a log was recorded this long after a notice without making it an entry,
the notice is being suppressed."""

RECORDED = Statement.of("""
    select position from recorder.entry
    where log_id = :log and operation = :operation and position > :pruned
      and recorded_at >= coalesce(:since, '-infinity'::timestamptz)
    order by position
""")
WAITING = Statement.of("""
    select n.document from recorder.notice n
    where n.log_id = :log and n.at <= clock_timestamp()
      and n.notice_id > coalesce((
      select p.completed::int8 from recorder.resume_point p
      join recorder.resource r on r.resource_id = p.resource_id
      where p.log_id = :log and p.source = 'recorder'
        and r.name = 'retention'), 0)
      and not exists (select from recorder.batch b
        where b.log_id = :log and b.batch = :batches
          and b.recorded_at > n.at + :late)
    order by n.notice_id
""")


async def recorded_of_retention(
    connection: asyncpg.Connection,
    end: LogEnd,
    since: datetime | None = None,
) -> Mapping[int, bytes]:
    """Return the documents of retention's entries, by position, in order."""
    rows = await RECORDED.fetch(
        connection,
        log=end.log,
        operation=OPERATION_CODES[Operation.RETENTION],
        pruned=end.pruned_positions,
        since=since,
    )
    positions = [position for (position,) in rows]
    found: dict[int, bytes] = {}
    for start in range(0, len(positions), READ_AT_ONCE):
        some = positions[start : start + READ_AT_ONCE]
        found |= await documents(connection, end.log, some)
    return dict(sorted(found.items()))


async def waiting_of_retention(
    connection: asyncpg.Connection, end: LogEnd
) -> Sequence[str]:
    """Return the notices that are not entries yet, but may become some.

    They remain until a process records the log.
    """
    rows = await WAITING.fetch(
        connection, log=end.log, batches=end.batches, late=LATE
    )
    return [document for (document,) in rows]
