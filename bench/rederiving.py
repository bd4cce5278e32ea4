"""Rebuilding the facts of a log: entries a second, a process for each core.

From the start of the work, processes included, to the change-over.
"""

import asyncio
import os
import resource
import time
from pathlib import Path

from bench.measuring import (
    Number,
    postgres_cpu_seconds,
    run_module,
    say,
    server_folder,
)
from bench.tapes import write_tape
from recorder.keeping.rederiving import Rederiving, rederive
from recorder.model.settings import Settings
from recorder.wiring.database import open_database

__all__ = ["bench"]

DOCUMENTS = 150_000


def bench(runs: int) -> list[Number]:
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        write_tape(tape, "mixed", documents=DOCUMENTS)
        took = asyncio.run(_measured(folder, tape, runs))
    return [
        Number(
            name=f"rederive, on {os.cpu_count()} cores",
            unit="entries/s",
            values=[entries / seconds for entries, seconds, *_ in took],
            best="max",
            target=">= 15,000",
        ),
        Number(
            name="  processor time of the recorder",
            unit="us/entry",
            values=[1e6 * ours / entries for entries, _, ours, _ in took],
            best="min",
        ),
        Number(
            name="  processor time of PostgreSQL",
            unit="us/entry",
            values=[1e6 * theirs / entries for entries, *_, theirs in took],
            best="min",
        ),
    ]


async def _measured(
    folder: Path, tape: Path, runs: int
) -> list[tuple[int, float, float, float]]:
    """Play a tape; rebuild its facts several times."""
    async with open_database(Settings(data_dir=folder)) as database:
        await asyncio.to_thread(run_module, "bench.playing", folder, tape)
        return [
            await _once(folder, database.dsn("writer")) for _ in range(runs)
        ]


async def _once(folder: Path, dsn: str) -> tuple[int, float, float, float]:
    """Return entries, seconds, and processor time: ours and PostgreSQL's."""
    ours, theirs = _our_seconds(), postgres_cpu_seconds(folder)
    began = time.perf_counter()
    done = await rederive(dsn, 1, Rederiving(again=True), asyncio.Event())
    seconds = time.perf_counter() - began
    say(f"  {done.entries / seconds:,.0f} entries/s")
    return (
        done.entries,
        seconds,
        _our_seconds() - ours,
        postgres_cpu_seconds(folder) - theirs,
    )


def _our_seconds() -> float:
    """Return the processor time of this process, and of those that ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(
            resource.getrusage,
            (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN),
        )
    )
