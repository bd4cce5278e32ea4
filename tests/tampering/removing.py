"""What a superuser may do to pass off a removal as retention's, at random.

Hashes are computed as retention does, so that every root stays what it was.
"""

from collections.abc import Awaitable, Callable
from random import Random

import asyncpg

from recorder.integrity.thinned import Digest, Thinned
from recorder.store.checking import check_batches
from recorder.store.read_batches import read_end
from recorder.store.read_thinned import thinned_of_run

__all__ = ["REMOVALS"]

Removal = Callable[[asyncpg.Connection, Random], Awaitable[None]]
REMOVALS: dict[str, tuple[Removal, str]] = {}
"""By what is done: who does it, and the kind of problem that reports it."""


def reported_as(kind: str) -> Callable[[Removal], Removal]:
    def note(made: Removal) -> Removal:
        REMOVALS[made.__name__.replace("_", " ")] = made, kind
        return made

    return note


async def any_row(
    connection: asyncpg.Connection, random: Random, query: str
) -> asyncpg.Record:
    return random.choice(await connection.fetch(query))


THINNED = "select * from recorder.thinned where log_id = 1 order by batch, run"
ENTRY = """
    select e.*, b.batch, b.first_position from recorder.entry e
    join recorder.batch b on b.log_id = e.log_id and e.position
      between b.first_position and b.first_position + b.entries - 1
    where e.log_id = 1 and e.operation <> 13 order by e.position
"""


@reported_as("batch-altered")
async def a_hash_edited(c: asyncpg.Connection, random: Random) -> None:
    row = await any_row(c, random, THINNED)
    bit = random.randrange(8 * len(row["hashes"]))
    await c.execute(
        "update recorder.thinned"
        " set hashes = set_bit(hashes, $3, 1 - get_bit(hashes, $3))"
        " where batch = $1 and run = $2",
        row["batch"],
        row["run"],
        bit,
    )


@reported_as("thinned-altered")
async def an_offset_edited(c: asyncpg.Connection, random: Random) -> None:
    row = await any_row(c, random, THINNED)
    offsets = list(row["offsets"])
    offsets[random.randrange(len(offsets))] += random.choice([-1, 1, 7])
    await c.execute(
        "update recorder.thinned set offsets = $3"
        " where batch = $1 and run = $2",
        row["batch"],
        row["run"],
        offsets,
    )


@reported_as("thinned-altered")
async def hashes_removed(c: asyncpg.Connection, random: Random) -> None:
    row = await any_row(c, random, THINNED)
    await c.execute(
        "delete from recorder.thinned where batch = $1 and run = $2",
        row["batch"],
        row["run"],
    )


@reported_as("entry-missing")
async def a_run_removed(c: asyncpg.Connection, random: Random) -> None:
    row = await any_row(c, random, THINNED)
    await c.execute("delete from recorder.thinning where run = $1", row["run"])


@reported_as("thinned-altered")
async def an_entry_put_back(c: asyncpg.Connection, random: Random) -> None:
    row = await any_row(c, random, THINNED)
    other = await any_row(c, random, ENTRY)
    await c.execute(
        "insert into recorder.entry (recorded_at, observed_at, position,"
        " log_id, epoch, operation, source, encoding, payload)"
        " select b.recorded_at, b.observed_min, b.first_position + $2, 1, 1,"
        " 3, 1, 0, $3 from recorder.batch b"
        " where log_id = 1 and batch = $1",
        row["batch"],
        random.choice(row["offsets"]),
        other["payload"],
    )


@reported_as("removal-unrecorded")
async def an_entry_of_retention_removed(
    c: asyncpg.Connection, random: Random
) -> None:
    await record_otherwise(c, random, "delete from recorder.entry")


@reported_as("removal-unrecorded")
async def an_entry_of_retention_edited(
    c: asyncpg.Connection, random: Random
) -> None:
    await record_otherwise(
        c,
        random,
        "update recorder.entry set base_distance = null, encoding = 0,"
        ' payload = \'{"action": "ran"}\'',
    )


async def record_otherwise(
    c: asyncpg.Connection, random: Random, change: str
) -> None:
    """Change every entry of a removal, whichever run it was."""
    del random
    await c.execute(
        f"{change} where operation = 13 and position >"
        " (select pruned_positions from recorder.log_head where log_id = 1)"
    )


@reported_as("removal-unrecorded")
async def an_entry_removed_with_those_of_a_run(
    c: asyncpg.Connection, random: Random
) -> None:
    """And the run recorded again, so that it is consistent."""
    run = (await any_row(c, random, THINNED))["run"]
    gone = await taken(c, random)
    same = "where batch = $1 and run = $2"
    row = await c.fetchrow(
        f"select * from recorder.thinned {same}", gone.batch, run
    )
    if row is None:
        await c.execute(
            "insert into recorder.thinned values (1, $1, $2, $3, $4)",
            gone.batch,
            run,
            gone.offsets,
            gone.hashes,
        )
    else:
        pairs = sorted(
            [
                (offset, row["hashes"][32 * place : 32 * place + 32])
                for place, offset in enumerate(row["offsets"])
            ]
            + [(gone.offsets[0], gone.hashes)]
        )
        await c.execute(
            f"update recorder.thinned set offsets = $3, hashes = $4 {same}",
            gone.batch,
            run,
            [offset for offset, _ in pairs],
            b"".join(leaf for _, leaf in pairs),
        )
    await note_anew(c, run)


@reported_as("removal-unrecorded")
async def an_entry_removed_as_by_a_run(
    c: asyncpg.Connection, random: Random
) -> None:
    gone = await taken(c, random)
    await c.execute(
        "insert into recorder.thinning (run, log_id, partition, rules,"
        " entries, sha256) select 999, 1, p.name, '[]', 1, ''"
        " from recorder.batch b join recorder.partition p"
        " on b.recorded_at >= p.lower and b.recorded_at < p.upper"
        " where b.log_id = 1 and b.batch = $1",
        gone.batch,
    )
    await c.execute(
        "insert into recorder.thinned values (1, $1, 999, $2, $3)",
        gone.batch,
        gone.offsets,
        gone.hashes,
    )
    await note_anew(c, 999)


@reported_as("removal-unrecorded")
async def the_oldest_day_removed_as_by_retention(
    c: asyncpg.Connection, random: Random
) -> None:
    """With all that a drop leaves, but for the entry."""
    days = await c.fetch(
        "select d.* from recorder.archived_day d join recorder.log_head h"
        " using (log_id) where log_id = 1"
        " and d.last_batch > h.pruned_batches"
        " and d.last_batch < h.batches order by d.last_batch"
    )
    day = random.choice(days)
    await c.execute(
        "delete from recorder.entry where log_id = 1 and position <= $1",
        day["last_position"],
    )
    await c.execute(
        "delete from recorder.batch where log_id = 1 and batch <= $1",
        day["last_batch"],
    )
    await c.execute(
        "update recorder.log_head set pruned_batches = $1,"
        " pruned_positions = $2 where log_id = 1",
        day["last_batch"],
        day["last_position"],
    )
    await c.execute(
        "update recorder.partition set state = 'dropped', dropped_at = now()"
        " where name <= $1",
        day["partition"],
    )


async def taken(c: asyncpg.Connection, random: Random) -> Thinned:
    """Take an entry out of the log; return what replaces it."""
    end = await read_end(c, 1)
    row = await any_row(
        c,
        random,
        ENTRY.replace(
            "where", f"where e.position > {end.pruned_positions} and"
        ),
    )
    offset = row["position"] - row["first_position"]
    number = row["batch"]
    checked = check_batches(c, end, after=number - 1, until=number)
    (leaves,) = [one.leaves async for one in checked]
    await c.execute(
        "delete from recorder.entry where log_id = 1 and position = $1",
        row["position"],
    )
    return Thinned(number, [offset], leaves[offset])


async def note_anew(c: asyncpg.Connection, run: int) -> None:
    digest, count = Digest(), 0
    async for one in thinned_of_run(c, 1, run):
        digest.add(one)
        count += len(one.offsets)
    await c.execute(
        "update recorder.thinning set sha256 = $2, entries = $3"
        " where run = $1",
        run,
        digest.value(),
        count,
    )
