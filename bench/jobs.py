"""How long the first page of 100 of 100,000 workloads takes.

Compared with 1,000 incidents of the same log, each asked in turn. A block of
workloads drawn from a seed is put into the log again and again (`blocks`), and
incidents of the corpus between the copies. ``python -m bench.jobs --keep
FOLDER`` leaves the log there, ``--use FOLDER`` asks it again.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import chain
from pathlib import Path
from statistics import quantiles

import asyncpg

from bench.answers_log import INDICES, SESSION, STATES_MAX, Filler, Nothing
from bench.answers_log import batches as batches_of
from bench.blocks import Block, BlockBatch
from bench.daily_life import NAME_MARK, Again
from bench.measuring import (
    Number,
    percentiles,
    postgres_cpu_seconds,
    say,
    server_folder,
    summary,
)
from bench.struck import incident
from recorder.answers.incidents import Incidents, ask_incidents
from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import Jobs, ask_jobs
from recorder.answers.node_questions import IncidentsQuestion
from recorder.explain.knowledge import load
from recorder.intake.deriving import Deriver
from recorder.intake.state import Batch
from recorder.keeping.collector import prompt_collector
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.details import DetailEncoder
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.shipped import shipped_dictionaries
from recorder.store.timestamps import take_ticks
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.database import open_database
from tests.support.builders import START
from tests.support.seeded_jobs import drawn

__all__ = ["bench"]

WORKLOADS = 100_000
BLOCK = 1_000
INCIDENTS = 1_000
PAGE = 100
ASKED = 4

SLOT = timedelta(hours=3)
"""From one copy of the block to the next."""

AFTER = timedelta(seconds=5_500)
"""When nothing changes in the block any longer, and incidents begin."""

ON_STABLE_NODES = ("completes", "fails", "is-deleted", "is-preempted", "runs")
"""Fates of the workloads; lost nodes are those of the incidents."""

DAY = timedelta(days=1)
SPEC = LogSpec(
    cluster_name="jobs",
    cluster_uid="jobs",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
Ask = Callable[[LogReading], Awaitable[Jobs | Incidents]]


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked several times
    return asyncio.run(_measured())


async def _measured(
    *, keep: Path | None = None, use: Path | None = None
) -> list[Number]:
    """Make a log and ask it, or ask the one in a folder."""
    async with AsyncExitStack() as stack:
        folder = use or keep or stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        if use is None:
            writer = Writer(database.dsn("writer"), SPEC, holder="bench")
            await writer.take_lease()
            await writer.close()
            both = [
                await asyncpg.connect(database.dsn("owner")) for _ in range(2)
            ]
            began = time.monotonic()
            size = await _fill(both)
            took = time.monotonic() - began
            say(f"jobs: {size:,} entries made in {took:.0f} s")
            for one in both:
                await one.close()
        engine = make_engine(database.dsn("reader"))
        try:
            return await _asked(
                lambda: LogReading.at_present(engine, 1), folder
            )
        finally:
            await engine.dispose()


async def _fill(connections: Sequence[asyncpg.Connection]) -> int:
    """Fill log 1, which is empty."""
    connection, copies = connections[0], WORKLOADS // BLOCK
    for one in connections:
        await one.execute(SESSION)
        await take_ticks(one)
    for day in range((copies * SLOT) // DAY + 2):
        at = START + day * DAY
        await connection.execute("select recorder.add_partition($1)", at)
    indices = await connection.fetch(INDICES)
    for index in indices:
        await connection.execute(f"drop index recorder.{index['indexname']}")
    details = DetailEncoder(await shipped_dictionaries(connection))
    filler = Filler(connection, details)
    story = drawn(1, BLOCK, fates=ON_STABLE_NODES, mark=NAME_MARK)
    lists, *changes = story.batches()
    deriver = Deriver(Nothing(), states_max=STATES_MAX)
    made = batches_of(chain(lists, chain.from_iterable(changes)))
    block = Block(connections, 0, START, details)
    await block.create()
    await _put_block(filler, block, deriver, made)
    for number in range(copies):
        at = START + number * SLOT
        again = Again(number)
        await block.put_objects(again)
        span = 0, len(block.batches)
        end = filler.size, filler.batches
        filler.size, filler.batches = await block.put(span, end, again, at)
        few = INCIDENTS // copies
        for place in range(number * few, (number + 1) * few):
            seen = incident(place, at + AFTER)
            for batch in batches_of(seen):
                await Deriver(Nothing()).derive(batch)
                await filler.put(batch, seen[-1].observed_at)
    await block.drop()
    await filler.end(START)
    for index in indices:
        await connection.execute(index["made"])
    await connection.execute("vacuum analyze")
    return filler.size


async def _put_block(
    filler: Filler, block: Block, deriver: Deriver, made: Iterable[Batch]
) -> None:
    """Make the block beside the log; its Nodes and lists are of all copies."""
    for batch in made:
        await deriver.derive(batch)
        observed = [draft.observed_at for _, draft in batch.drafts]
        await filler.write(batch, max(observed), "block")
        block.batches.append(
            BlockBatch(
                batch.first_position - 1 + len(batch),
                len(batch),
                max(observed),
                min(observed),
                max(observed),
            )
        )
    await block.complete()


async def _asked(
    opened: Callable[[], Awaitable[LogReading]], folder: Path
) -> list[Number]:
    prompt_collector()  # as where questions are answered
    knowledge, ever = load(()), Window(None, None)
    end = START + (WORKLOADS // BLOCK) * SLOT
    night = Window(end - timedelta(hours=12), end)

    def jobs(window: Window, limit: int | None, *ended_by: str) -> Ask:
        asked = JobsQuestion(
            wanted=JobFilter(ended_by=ended_by), window=window, limit=limit
        )
        return lambda now: ask_jobs(now, asked, knowledge, now=end)

    def incidents(now: LogReading) -> Awaitable[Incidents]:
        asked = IncidentsQuestion(window=ever)
        return ask_incidents(now, asked, knowledge, now=end)

    asks = {
        "incidents, all": incidents,
        f"the newest {PAGE} jobs of all": jobs(ever, PAGE),
        f"the newest {PAGE} jobs of 12 h": jobs(night, PAGE),
        f"the newest {PAGE} that died in 12 h": jobs(night, PAGE, "any"),
    }
    took: dict[str, list[float]] = {name: [] for name in asks}
    spent: dict[str, list[float]] = {name: [] for name in asks}
    for turn in range(ASKED + 1):
        for name, ask in asks.items():
            began, cpu = time.perf_counter(), _cpu_seconds(folder)
            found = await ask(await opened())
            if turn:
                spent[name].append(_cpu_seconds(folder) - cpu)
                took[name].append((time.perf_counter() - began) * 1000)
            else:
                say(f"  {name}: {_counted(found)}")
    slow = quantiles(took["incidents, all"], n=20)[18]
    return [
        number
        for name, times in took.items()
        for number in percentiles(name, quantiles(times, n=20), int(3 * slow))
    ] + [
        Number(name=f"{name}, CPU", unit="s", values=values)
        for name, values in spent.items()
    ]


def _cpu_seconds(folder: Path) -> float:
    """Return the processor time of this process and of PostgreSQL."""
    return time.process_time() + postgres_cpu_seconds(folder)


def _counted(found: Jobs | Incidents) -> str:
    shown = found.workloads if isinstance(found, Jobs) else found.incidents
    return f"{len(shown):,}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.jobs")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--use", type=Path)
    arguments = parser.parse_args()
    numbers = asyncio.run(_measured(keep=arguments.keep, use=arguments.use))
    print(summary(numbers, {"log": arguments.use or WORKLOADS}))


if __name__ == "__main__":
    main()
