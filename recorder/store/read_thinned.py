"""Reads the hashes of entries that retention removed before their day.

Only complete runs count: entries noted by another run are not removed yet.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

import asyncpg

from recorder.integrity.thinned import Thinned
from recorder.store.statement import Statement

AT_ONCE = 500
"""Batches that are read at once; each has at most 130 kB of hashes."""

OF_BATCHES = Statement.of("""
    select t.batch, t.offsets, t.hashes
    from recorder.thinned t
    join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
    where t.log_id = :log and t.batch between :first and :last
    order by t.batch, t.run
""")
POSITIONS = Statement.of("""
    select b.first_position + o.place as position
    from recorder.batch b
    join recorder.thinned t on t.log_id = b.log_id and t.batch = b.batch
    join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
    cross join lateral unnest(t.offsets) o(place)
    where b.log_id = :log and b.first_position <= :last
      and b.first_position >= (
        select max(first_position) from recorder.batch
        where log_id = :log and first_position <= :first)
      and b.first_position + o.place between :first and :last
""")
OF_RUN = Statement.of("""
    select batch, offsets, hashes from recorder.thinned
    where log_id = :log and run = :run and batch > :after
    order by batch limit :most
""")


async def thinned_batches(
    connection: asyncpg.Connection, log: int, first: int, last: int
) -> Mapping[int, Sequence[Thinned]]:
    """Return what was removed from batches, by number; ends included."""
    found: dict[int, list[Thinned]] = {}
    for row in await OF_BATCHES.fetch(
        connection, log=log, first=first, last=last
    ):
        found.setdefault(row["batch"], []).append(Thinned(*row))
    return found


async def thinned_positions(
    connection: asyncpg.Connection, log: int, first: int, last: int
) -> Collection[int]:
    """Return the positions of removed entries, from one to another."""
    rows = await POSITIONS.fetch(connection, log=log, first=first, last=last)
    return {position for (position,) in rows}


async def thinned_of_run(
    connection: asyncpg.Connection, log: int, run: int
) -> AsyncIterator[Thinned]:
    """Yield what one run removed from a log, in the order of batches."""
    after = 0
    while rows := await OF_RUN.fetch(
        connection, log=log, run=run, after=after, most=AT_ONCE
    ):
        for row in rows:
            yield Thinned(*row)
        after = rows[-1]["batch"]
