"""Reading: what is left in the database of entries that went before their day.

Only of runs that came to their end: what another one noted is not gone yet.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

import asyncpg

from recorder.integrity.thinned import Thinned

__all__ = ["thinned_batches", "thinned_of_run", "thinned_positions"]

AT_ONCE = 500
"""Batches of which the hashes are held, of at most 130 kB each."""

OF_BATCHES = """
    select t.batch, t.offsets, t.hashes
    from recorder.thinned t
    join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
    where t.log_id = $1 and t.batch between $2 and $3
    order by t.batch, t.run
"""
POSITIONS = """
    select b.first_position + o.place as position
    from recorder.batch b
    join recorder.thinned t on t.log_id = b.log_id and t.batch = b.batch
    join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
    cross join lateral unnest(t.offsets) o(place)
    where b.log_id = $1 and b.first_position <= $3 and b.first_position >= (
        select max(first_position) from recorder.batch
        where log_id = $1 and first_position <= $2)
      and b.first_position + o.place between $2 and $3
"""
OF_RUN = """
    select batch, offsets, hashes from recorder.thinned
    where log_id = $1 and run = $2 and batch > $3
    order by batch limit $4
"""


async def thinned_batches(
    connection: asyncpg.Connection, log: int, first: int, last: int
) -> Mapping[int, Sequence[Thinned]]:
    """Return what went out of the batches from one to another, by number."""
    found: dict[int, list[Thinned]] = {}
    for row in await connection.fetch(OF_BATCHES, log, first, last):
        found.setdefault(row["batch"], []).append(Thinned(*row))
    return found


async def thinned_positions(
    connection: asyncpg.Connection, log: int, first: int, last: int
) -> Collection[int]:
    """Return which positions from one to another went before their day."""
    rows = await connection.fetch(POSITIONS, log, first, last)
    return {position for (position,) in rows}


async def thinned_of_run(
    connection: asyncpg.Connection, log: int, run: int
) -> AsyncIterator[Thinned]:
    """Yield what one run took out of a log, in the order of batches."""
    after = 0
    while rows := await connection.fetch(OF_RUN, log, run, after, AT_ONCE):
        for row in rows:
            yield Thinned(*row)
        after = rows[-1]["batch"]
