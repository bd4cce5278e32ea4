"""Checks for entries outside of batches, and for altered dictionaries.

A log has no entries outside of its batches, and a dictionary has the digest
that identifies it.
"""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

import asyncpg

from recorder.integrity.chain import Problem
from recorder.model.moment import written
from recorder.store.read_batches import LogEnd
from recorder.store.statement import Statement

# One statement sees one state, even while a writer appends. Entries carried
# forward from dropped days are not counted; those removed early are.
MISCOUNTED = Statement.of("""
    select h.size - h.pruned_positions <> (
      select count(*) from recorder.entry
      where log_id = h.log_id and position > h.pruned_positions) + (
      select coalesce(sum(cardinality(t.offsets)), 0) from recorder.thinned t
      join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
      where t.log_id = h.log_id and t.batch > h.pruned_batches)
      or exists (select from recorder.entry
        where log_id = h.log_id and position < 1)
    from recorder.log_head h where h.log_id = :log
""")
# Up to this position only entries carried forward are checked.
MISPRUNED = Statement.of("""
    select h.pruned_positions, d.last_position from recorder.log_head h,
    lateral (select coalesce(max(last_position), 0) as last_position from (
      select last_position from recorder.archived_day
      where log_id = h.log_id and last_batch = h.pruned_batches
      union all
      select last_position from recorder.attached_day
      where log_id = h.log_id and last_batch = h.pruned_batches) t) d
    where h.log_id = :log and h.pruned_positions <> d.last_position
""")
# An epoch begins with an entry, and the next entry is recorded no earlier.
BEHIND = Statement.of("""
    select h.epoch, e.epoch as newest, h.recorded_at, e.recorded_at as least
    from recorder.log_head h join recorder.entry e
      on e.log_id = h.log_id and e.position = h.size
    where h.log_id = :log and h.size > h.pruned_positions
      and (h.epoch <> e.epoch or h.recorded_at < e.recorded_at)
""")
OUTSIDE = Statement.of("""
    select e.position from recorder.log_head h join recorder.entry e
      on e.log_id = h.log_id and (e.position < 1 or e.position > h.size)
    where h.log_id = :log order by e.position limit 10
""")
DOUBLED = Statement.of("""
    select position from recorder.entry where log_id = :log
    group by position having count(*) > 1 order by position limit 10
""")
DICTIONARIES = Statement.of(
    "select dictionary_id, sha256, bytes from recorder.dictionary"
)


async def leftovers(
    connection: asyncpg.Connection, end: LogEnd
) -> Sequence[Problem]:
    """Return problems of entries outside of batches, and of dictionaries."""
    problems = []
    if await MISCOUNTED.fetch_value(connection, log=end.log):
        outside = await OUTSIDE.fetch(connection, log=end.log)
        doubled = await DOUBLED.fetch(connection, log=end.log)
        problems += [_outside(position) for (position,) in outside]
        problems += [_doubled(position) for (position,) in doubled]
    for pruned, dropped in await MISPRUNED.fetch(connection, log=end.log):
        problems.append(_mispruned(pruned, dropped))
    for row in await BEHIND.fetch(connection, log=end.log):
        problems.append(_other_head(end, *row))
    for number, digest, content in await DICTIONARIES.fetch(connection):
        if sha256(content).digest() != digest:
            says = (
                f"dictionary {number} is not the one that it was: documents"
                " that name it cannot be trusted"
            )
            problems.append(Problem(kind="dictionary-altered", says=says))
    return problems


def _mispruned(pruned: int, dropped: int) -> Problem:
    return Problem(
        kind="head-altered",
        position=pruned,
        says=f"the head of the log says that entries up to {pruned} were"
        f" dropped, and the days that were end at {dropped}",
    )


def _other_head(
    end: LogEnd, epoch: int, newest: int, at: datetime, least: datetime
) -> Problem:
    return Problem(
        kind="head-altered",
        position=end.size,
        says=f"the head of the log is of epoch {epoch}, recorded at"
        f" {written(at)}, and its newest entry of epoch {newest}, recorded at"
        f" {written(least)}",
    )


def _outside(position: int) -> Problem:
    return Problem(
        kind="entry-stray",
        position=position,
        says=f"the entry at position {position} is of no batch",
    )


def _doubled(position: int) -> Problem:
    return Problem(
        kind="entry-doubled",
        position=position,
        says=f"there is more than one entry at position {position}",
    )
