"""The cost of verifying a log of many days, and whether memory is flat.

``python -m bench.verifying [ENTRIES]`` makes a log of so many entries, 20
million by default and 250,000 a day, and verifies it in a process of its own:
at a sixteenth of its size, and whenever it has doubled.

The first day is a tape that is played. The later ones are its rows once more,
at other positions and times, so that each batch has a hash of its own: made
like those of a log from before there were hashes, but by several processes.
Facts are left out: verifying does not read them here.
"""

import argparse
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import asyncpg
from msgspec.structs import replace

from bench.measuring import (
    Number,
    machine,
    run_module,
    say,
    server_folder,
    summary,
)
from bench.tapes import write_tape
from recorder.integrity.tree import CompactRange
from recorder.keeping.checking import Span, spans_of
from recorder.keeping.workers import Report, in_processes
from recorder.model.settings import Settings
from recorder.store.checking import check_batches
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd, headers, read_end
from recorder.store.rows import ENTRY_COLUMNS
from recorder.wiring.database import Database, open_database

__all__: list[str] = []

ENTRIES = 20_000_000
OF_A_DAY = 250_000
KIB = 1024

MOVED = {
    "recorded_at": "recorded_at + $1::int4 * interval '1 day'",
    "observed_at": "observed_at + $1::int4 * interval '1 day'",
    "position": "position + $1::int4 * $2::int8",
}
COPY = f"""
    insert into recorder.entry ({", ".join(ENTRY_COLUMNS)})
    select {", ".join(MOVED.get(name, name) for name in ENTRY_COLUMNS)}
    from recorder.entry where position <= $2 order by position
"""
COPY_BATCHES = """
    insert into recorder.batch (log_id, batch, first_position, entries, term,
      recorded_at, observed_min, observed_max)
    select log_id, batch + $1::int4 * $3::int8,
      first_position + $1 * $2::int8, entries, term,
      recorded_at + $1 * interval '1 day',
      observed_min + $1 * interval '1 day',
      observed_max + $1 * interval '1 day'
    from recorder.batch where batch <= $3 order by batch
"""
ADD_DAY = """
    select recorder.add_partition(
      date_trunc('day', min(recorded_at) + $1::int4 * interval '1 day', 'UTC'))
    from recorder.batch
"""
END = """
    update recorder.log_head h set peaks = null, size = b.size,
      batches = b.batches, recorded_at = b.recorded_at
    from (select max(first_position + entries - 1) as size,
      max(batch) as batches, max(recorded_at) as recorded_at
      from recorder.batch) b
"""
"""As of a log of before there were hashes."""

HASHED = """
    select greatest((select max(batch) from recorder.seal),
      (select max(batch) from recorder.batch where root is not null))
"""
SEAL = ("log_id", "batch", "root", "tree", "sealed_at")
SET_PEAKS = "update recorder.log_head set peaks = $1"


@dataclass(frozen=True, slots=True)
class Taken:
    """The cost of one verification."""

    entries: int
    seconds: float
    worker: int
    """KiB of the largest of the processes that read rows."""

    leader: int
    """KiB of the one that follows the headers."""


def measured(entries: int) -> list[Number]:
    days = max(2, entries // OF_A_DAY)
    sizes = sorted({max(1, days >> halves) for halves in range(5)})
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        write_tape(tape, "mixed", documents=entries // days)
        taken = asyncio.run(_all_sizes(folder, tape, sizes))
    few, many = taken[0], taken[-1]
    return [
        *(number for one in taken for number in _numbers(one)),
        Number(
            name="  memory, relative to that of a sixteenth of the log",
            unit="",
            values=[(many.worker + many.leader) / (few.worker + few.leader)],
            target="<= 1.1",
        ),
    ]


def _numbers(taken: Taken) -> list[Number]:
    return [
        Number(
            name=f"verify {taken.entries:,} entries",
            unit="entries/s",
            values=[taken.entries / taken.seconds],
        ),
        Number(
            name="  memory of a process that reads rows",
            unit="MiB",
            values=[taken.worker / KIB],
        ),
        Number(
            name="  memory of the one that follows the headers",
            unit="MiB",
            values=[taken.leader / KIB],
        ),
    ]


async def _all_sizes(
    folder: Path, tape: Path, sizes: Sequence[int]
) -> list[Taken]:
    """Let a log grow to sizes, in days; verify it at each."""
    async with open_database(Settings(data_dir=folder)) as database:
        played = await asyncio.to_thread(
            run_module, "bench.playing", folder, tape
        )
        rate = played["entries"] / played["seconds"]
        say(f"  played {played['entries']:,} entries at {rate:,.0f}/s")
        taken = []
        for begin, end in pairwise([1, *sizes]):
            await _extend(database, played, begin, end)
            await _seal(database)
            taken.append(
                await asyncio.to_thread(_verified, database.dsn("writer"))
            )
        return taken


async def _extend(
    database: Database, played: Mapping[str, Any], begin: int, end: int
) -> None:
    """Put the first day again as the days from one to before another."""
    size, batches = played["entries"], played["batches"]
    connection = await asyncpg.connect(database.dsn("owner"))
    try:
        for day in range(begin, end):
            await connection.execute(ADD_DAY, day)
            await connection.execute(COPY, day, size)
            await connection.execute(COPY_BATCHES, day, size, batches)
        await connection.execute(END)
        await connection.execute("vacuum analyze")
        held = await connection.fetchval(
            "select pg_database_size(current_database())"
        )
    finally:
        await connection.close()
    say(f"  {end} days, {held / (1 << 30):.1f} GiB")


async def _seal(database: Database) -> None:
    """Store the hash of each batch, and the tree of the log."""
    dsn = database.dsn("owner")
    connection = await asyncpg.connect(dsn)
    try:
        end = await read_end(connection, 1)
        known = await connection.fetchval(HASHED)
        spans = [
            span
            for span in await spans_of(connection, end, None, None)
            if span.until > known
        ]
        count = os.cpu_count() or 1
        jobs = [(dsn, end, spans[part::count]) for part in range(count)]
        never = asyncio.Event()
        roots: dict[int, bytes] = {}
        async for _, some in in_processes(send_roots, jobs, never, most=count):
            roots.update(some)
        tree, rows, at = CompactRange(), [], datetime.now(UTC)
        async for one in headers(connection, end, after=0, until=end.batches):
            header, root = one.header, roots.get(one.header.batch)
            if root is not None:
                header = replace(header, root=root, sealed_at=at)
            tree.append(header.hash())
            if root is not None:
                rows.append((1, header.batch, root, tree.root(), at))
        await connection.copy_records_to_table(
            "seal", schema_name="recorder", columns=SEAL, records=rows
        )
        await connection.execute(SET_PEAKS, tree.pack())
    finally:
        await connection.close()


async def send_roots(
    dsn: str, end: LogEnd, spans: Sequence[Span], *, report: Report
) -> None:
    """Send the hashes of batches that have none, span by span."""
    connection = await connect_to(dsn)
    for span in spans:
        checked = check_batches(
            connection, end, after=span.after, until=span.until
        )
        report(
            [
                (one.stored.header.batch, one.root)
                async for one in checked
                if not one.stored.is_hashed
            ]
        )
    connection.terminate()


def _verified(dsn: str) -> Taken:
    """Verify in a process of its own, so that its memory is its own."""
    taken = Taken(**run_module("bench.verified", dsn))
    say(
        f"  verified {taken.entries:,} entries in {taken.seconds:.0f} s,"
        f" {taken.worker / KIB:.0f} and {taken.leader / KIB:.0f} MiB, load"
        f" {os.getloadavg()[0]:.1f}"
    )
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.verifying")
    parser.add_argument("entries", type=int, nargs="?", default=ENTRIES)
    numbers = measured(parser.parse_args().entries)
    print(summary(numbers, machine()))


if __name__ == "__main__":
    main()
