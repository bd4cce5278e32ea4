"""The cost of proving: hashes while recording, and verifying afterwards.

A tape is played with hashes and without, in turns; a log is verified, and read
by as many processes without a hash, in turns.
"""

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import asyncpg

from bench.measuring import Number, run_module, say, server_folder
from bench.mixed import played
from bench.tapes import write_tape
from recorder.facts.coverage.ports import Log
from recorder.integrity.verified import FactsMode
from recorder.keeping.checking import Span, spans_of
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_database import verify
from recorder.keeping.workers import Report, in_processes
from recorder.model.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.entry_drafts import EntryDrafts
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd, headers, read_end
from recorder.store.read_logs import read_logs
from recorder.wiring.database import open_database

__all__ = ["bench"]

DOCUMENTS = 100_000
KIB = 1024


def bench(runs: int) -> list[Number]:
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        write_tape(tape, "mixed", documents=DOCUMENTS)
        # In turns, so that other load on the machine affects both.
        both = [
            (
                played(tape, "mixed"),
                played(tape, "mixed", leaving_out=("hashes",)),
            )
            for _ in range(runs)
        ]
        verifying, reading, deriving, memory = asyncio.run(
            _verify(folder, tape, runs)
        )
    return [
        Number(
            name="rate with hashes, relative to without",
            unit="",
            values=[
                b.recorder["seconds"] / a.recorder["seconds"] for a, b in both
            ],
            target=">= 0.95",
        ),
        Number(
            name="  processor time of both processes, the other way round",
            unit="",
            values=[
                (b.recorder["cpu_seconds"] + b.postgres_cpu_seconds)
                / (a.recorder["cpu_seconds"] + a.postgres_cpu_seconds)
                for a, b in both
            ],
        ),
        Number(
            name=f"verify, on {os.cpu_count()} cores",
            unit="entries/s",
            values=[DOCUMENTS / seconds for seconds in verifying],
            best="max",
        ),
        Number(
            name="  relative to reading the same without hashing",
            unit="",
            values=[b / a for a, b in zip(verifying, reading, strict=True)],
            target=">= 0.5",
        ),
        Number(
            name="  with all facts derived again, relative to without",
            unit="",
            values=[b / a for a, b in zip(verifying, deriving, strict=True)],
        ),
        Number(
            name="  memory of a process at most",
            unit="MiB",
            values=[memory / KIB],
        ),
    ]


async def _verify(
    folder: Path, tape: Path, runs: int
) -> tuple[list[float], list[float], list[float], int]:
    """Play a tape; verify it, read it and derive its facts, in turns."""
    verifying, reading, deriving = [], [], []
    async with open_database(Settings(data_dir=folder)) as database:
        await asyncio.to_thread(run_module, "bench.playing", folder, tape)
        dsn = database.dsn("writer")
        engine = make_engine(database.dsn("reader"))
        (log,) = await read_logs(engine)
        await engine.dispose()
        for _ in range(runs):
            verifying.append(await _timed(lambda: _verified(dsn, log, "none")))
            deriving.append(await _timed(lambda: _verified(dsn, log, "all")))
            reading.append(await _timed(lambda: _read(dsn, log.id)))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return verifying, reading, deriving, memory


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def _verified(dsn: str, log: Log, facts: FactsMode) -> None:
    how = Verifying(facts=Proving(mode=facts))
    found = await verify(dsn, log, how, asyncio.Event())
    assert found.ok, found.problems
    say(f"  verified {found.checked_entries:,} entries")


async def _read(dsn: str, log: int) -> None:
    connection = await connect_to(dsn)
    end = await read_end(connection, log)
    spans = await spans_of(connection, end, None, None)
    connection.terminate()
    count = min(os.cpu_count() or 1, len(spans))
    jobs = [(dsn, end, spans[part::count]) for part in range(count)]
    never = asyncio.Event()
    async for _ in in_processes(read_spans, jobs, never, most=count):
        pass


async def read_spans(
    dsn: str, end: LogEnd, spans: Sequence[Span], *, report: Report
) -> None:
    """Read the entries of spans as verifying does, without a hash."""
    connection: asyncpg.Connection = await connect_to(dsn)
    for span in spans:
        drafts = await EntryDrafts.opened(connection, end.log)
        stored = [
            one.header
            async for one in headers(
                connection, end, after=span.after, until=span.until
            )
        ]
        at, last = stored[0].first_position - 1, stored[-1].last_position
        while at < last:
            until = min(at + 5_000, last)
            await drafts.read(at, until)
            at = until
        report(span.until)
    connection.terminate()
