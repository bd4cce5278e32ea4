"""How long queries take, of ten days of five thousand nodes.

In the store and the rules, warm, without the start of a process. The log is
made by `answers_log`; ``python -m bench.questions --entries N`` queries one of
another size, ``--keep FOLDER`` keeps it there, and ``--use FOLDER`` queries it
again.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import quantiles

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine

from bench.answers_log import ENDED, Filled, Struck, fill, filled
from bench.measuring import (
    Number,
    percentiles,
    postgres_cpu_seconds,
    say,
    server_folder,
    summary,
)
from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyQuestion,
)
from recorder.answers.nouns import Selection
from recorder.answers.queries import FactListQuery
from recorder.answers.why import ask_why
from recorder.explain.knowledge import load
from recorder.keeping.collector import prompt_collector
from recorder.model.fact import StoredFact
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.database import open_database

__all__ = ["bench"]

ENTRIES = 2_000_000
ASKED = 40
ASKED_OF_ALL = 10
HALF_A_DAY = timedelta(hours=12)
PROCESSES = 5
SPEC = LogSpec(
    cluster_name="questions",
    cluster_uid="questions",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
Ask = Callable[[LogReading], Awaitable[object]]


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked many times
    return asyncio.run(_measured(ENTRIES))


async def _measured(
    entries: int, *, keep: Path | None = None, use: Path | None = None
) -> list[Number]:
    """Make a log and query it, or query the one of a folder."""
    async with AsyncExitStack() as stack:
        folder = use or keep or stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        connections = [
            await asyncpg.connect(database.dsn("owner")) for _ in range(2)
        ]
        if use is None:
            made = await _made(database.dsn("writer"), connections, entries)
        else:
            made = await filled(connections[0])
        for connection in connections:
            await connection.close()
        engine = make_engine(database.dsn("reader"))
        try:
            numbers = await _asked(engine, folder, made)
        finally:
            await engine.dispose()
        return [*numbers, *_postmortem(folder, made)]


async def _made(
    dsn: str, connections: Sequence[asyncpg.Connection], entries: int
) -> Filled:
    writer = Writer(dsn, SPEC, holder="bench")
    await writer.take_lease()
    await writer.close()
    began = time.monotonic()
    made = await fill(connections, entries)
    say(
        f"questions: {made.entries:,} entries made in"
        f" {time.monotonic() - began:.0f} s"
    )
    return made


async def _asked(
    engine: AsyncEngine, folder: Path, made: Filled
) -> list[Number]:
    """Ask each question of the log as it is when it is asked."""
    prompt_collector()  # as where questions are answered
    chance, knowledge = Random("asked"), load(())
    struck = chance.sample(list(made.struck), ASKED)
    day = Window(ENDED - timedelta(days=1), ENDED)

    def why(node: str) -> Ask:
        question = WhyQuestion(node=node, window=Window(None, None))
        return lambda now: ask_why(now, question, knowledge, now=ENDED)

    def impact(hit: Struck) -> Ask:
        window = Window(hit.around - HALF_A_DAY, hit.around + HALF_A_DAY)
        question = ImpactQuestion(
            nodes=(), rack=hit.rack, labels=(), window=window
        )
        return lambda now: ask_impact(now, question, knowledge, now=ENDED)

    def incidents() -> Ask:
        question = IncidentsQuestion(window=day)
        return lambda now: ask_incidents(now, question, knowledge, now=ENDED)

    def timeline(node: str) -> Ask:
        wanted = Selection(node=node, since=day.since, until=day.until)
        return lambda now: _read(now.pages(FactListQuery(wanted), after=0))

    timed = partial(_timed, engine, folder)
    return [
        *await timed("why of a node", [why(s.node) for s in struck], 50),
        *await timed(
            "impact of a rack of 8 nodes, 24 h",
            [impact(s) for s in struck],
            20,
        ),
        *await timed(
            "incidents of the fleet, 24 h", [incidents()] * ASKED_OF_ALL, 200
        ),
        *await timed(
            "facts of a node, 24 h", [timeline(s.node) for s in struck], 25
        ),
    ]


async def _read(
    pages: AsyncIterator[Sequence[StoredFact]],
) -> list[StoredFact]:
    return [stored async for page in pages for stored in page]


async def _timed(
    engine: AsyncEngine,
    folder: Path,
    name: str,
    asks: Sequence[Ask],
    most: int,
) -> list[Number]:
    """Run everything once to warm up, then measure.

    Besides the elapsed time, the processor time of the client and of the
    server, which other work on the machine lengthens less.
    """
    for ask in asks:
        await _one(engine, ask)
    took = []
    ours, theirs = time.process_time(), postgres_cpu_seconds(folder)
    for ask in asks:
        began = time.perf_counter()
        await _one(engine, ask)
        took.append((time.perf_counter() - began) * 1000)
    ours = (time.process_time() - ours) * 1000 / len(asks)
    theirs = (postgres_cpu_seconds(folder) - theirs) * 1000 / len(asks)
    cuts = quantiles(took, n=20)
    say(f"  {name}: p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms")
    return [
        *percentiles(name, cuts, most),
        Number(name=f"{name}, processor", unit="ms", values=[ours]),
        Number(name=f"{name}, PostgreSQL's", unit="ms", values=[theirs]),
    ]


async def _one(engine: AsyncEngine, ask: Ask) -> object:
    return await ask(await LogReading.at_present(engine, 1))


def _postmortem(folder: Path, made: Filled) -> list[Number]:
    """Time the whole process, as a person starts it."""
    took = []
    for hit in made.struck[:PROCESSES]:
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "recorder", "postmortem",
             f"node/{hit.node}", "-o", "json"],
            env={**os.environ, "RECORDER_DATA_DIR": str(folder)},
            capture_output=True,
            check=False,
        )  # fmt: skip
        took.append(time.perf_counter() - began)
        # 4: no recorder writes this log, so nothing vouches for the present.
        assert done.returncode in {0, 4}, done.stderr.decode()
    return [
        Number(
            name="recorder postmortem, the process",
            unit="s",
            values=took,
            target="<= 1.5",
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.questions")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument(
        "--keep", type=Path, help="make the log in this folder, and leave it"
    )
    parser.add_argument(
        "--use", type=Path, help="ask the log that was kept in this folder"
    )
    arguments = parser.parse_args()
    numbers = asyncio.run(
        _measured(arguments.entries, keep=arguments.keep, use=arguments.use)
    )
    print(summary(numbers, {"log": arguments.use or arguments.entries}))


if __name__ == "__main__":
    main()
