"""The speed of recording a tape, as a part of PostgreSQL's own speed.

Numerator: documents a second of one process that plays the mixed tape.
Denominator: rows a second at which the same PostgreSQL takes the resulting
rows, by COPY in binary form, already encoded and held in memory: the same
table with its indices, one connection, as many rows in a transaction, fsync
on. Both in every run, so that the ratio is of one machine at one time.
"""

import asyncio
import time
from io import BytesIO

import asyncpg

from bench.measuring import Number, say, server_folder
from bench.mixed import DOCUMENTS, played
from bench.tapes import write_tape
from recorder.intake.committing import Policy
from recorder.model.settings import Settings
from recorder.store.rows import ENTRY_COLUMNS
from recorder.wiring.database import open_database

__all__ = ["bench"]

BATCH = Policy().batch_entries
TAPE = "select max(log_id) from recorder.log"
SIZE = "select size from recorder.log_head where log_id = $1"
DAYS = """
    select distinct date_trunc('day', recorded_at) from recorder.entry
    where log_id = $1
"""
ROWS = f"""
    select {", ".join(ENTRY_COLUMNS)} from recorder.entry
    where log_id = $1 and position > $2 and position <= $3
    order by position
"""

Encoded = tuple[int, list[object], list[bytes]]
"""Rows, their days, and one COPY for each batch of them."""


def bench(runs: int) -> list[Number]:
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        write_tape(tape, "mixed", documents=DOCUMENTS)
        speeds = []
        for _ in range(runs):
            play = played(tape, "mixed", _encoded)
            documents = DOCUMENTS / play.recorder["seconds"]
            rows = asyncio.run(_copied(play.found[1]))
            say(f"  COPY takes {rows:,.0f} rows/s: {documents / rows:.2%}")
            speeds.append((documents, rows))
    return [
        Number(
            name="mixed tape, part of what COPY takes",
            unit="%",
            values=[100 * documents / rows for documents, rows in speeds],
            target=">= 6",
        ),
        Number(
            name="  one process, from the tape",
            unit="documents/s",
            values=[documents for documents, _ in speeds],
        ),
        Number(
            name="  COPY of the same rows, encoded",
            unit="rows/s",
            values=[rows for _, rows in speeds],
        ),
    ]


async def _encoded(dsn: str) -> Encoded:
    """Read the log of the tape that was played last."""
    connection = await asyncpg.connect(dsn)
    try:
        log = await connection.fetchval(TAPE)
        size = await connection.fetchval(SIZE, log)
        days = [day for (day,) in await connection.fetch(DAYS, log)]
        batches = []
        for start in range(0, size, BATCH):
            batch = BytesIO()
            await connection.copy_from_query(
                ROWS,
                log,
                start,
                start + BATCH,
                output=batch,
                format="binary",
            )
            batches.append(batch.getvalue())
    finally:
        await connection.close()
    return size, days, batches


async def _copied(encoded: Encoded) -> float:
    """Copy all rows into a new server; return rows a second."""
    size, days, batches = encoded
    with server_folder() as folder:
        async with open_database(Settings(data_dir=folder)) as database:
            connection = await asyncpg.connect(database.dsn("writer"))
            for day in days:
                await connection.execute(
                    "select recorder.add_partition($1)", day
                )
            began = time.perf_counter()
            for batch in batches:
                await connection.copy_to_table(
                    "entry",
                    schema_name="recorder",
                    columns=ENTRY_COLUMNS,
                    source=BytesIO(batch),
                    format="binary",
                )
            seconds = time.perf_counter() - began
            rows = await connection.fetchval(
                "select count(*) from recorder.entry"
            )
            await connection.close()
    assert rows == size, "every row, once"
    return size / seconds
