"""How long questions take, of ten days of five thousand nodes.

In the store and the rules, warm, without the start of a process. The log is
made by `answers_log`; ``python -m tests.bench.questions --entries N`` asks one
of another size.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from random import Random
from statistics import quantiles

import asyncpg

from recorder.knowledge import load
from recorder.report.impact import ImpactQuestion, ask_impact
from recorder.report.incidents import IncidentsQuestion, ask_incidents
from recorder.report.why import WhyQuestion, ask_why
from recorder.report.window import Window
from recorder.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.database import open_database
from tests.bench.answers_log import ENDED, Filled, fill
from tests.bench.measuring import Number, say, server_folder, summary

__all__ = ["bench"]

ENTRIES = 2_000_000
ASKED = 40
ASKED_OF_ALL = 10
RACK = 8
SPEC = LogSpec(
    cluster_name="questions",
    cluster_uid="questions",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
Ask = Callable[[], Awaitable[object]]


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked many times
    return asyncio.run(_measured(ENTRIES))


async def _measured(entries: int) -> list[Number]:
    with server_folder() as folder:
        async with open_database(Settings(data_dir=folder)) as database:
            writer = Writer(database.dsn("writer"), SPEC, holder="bench")
            await writer.take_lease()
            await writer.close()
            connection = await asyncpg.connect(database.dsn("owner"))
            began = time.monotonic()
            filled = await fill(connection, entries)
            await connection.close()
            say(
                f"questions: {filled.entries:,} entries made in"
                f" {time.monotonic() - began:.0f} s"
            )
            engine = make_engine(database.dsn("reader"))
            try:
                reading = await LogReading.at_present(engine, 1)
                return await _asked(reading, filled)
            finally:
                await engine.dispose()


async def _asked(reading: LogReading, filled: Filled) -> list[Number]:
    chance, knowledge = Random("asked"), load(())
    struck = chance.sample(list(filled.struck), ASKED)
    names = await reading.node_names()
    day = Window(ENDED - timedelta(days=1), ENDED)

    def why(node: str) -> Ask:
        question = WhyQuestion(node=node, window=Window(None, None))
        return lambda: ask_why(reading, question, knowledge, now=ENDED)

    def impact(node: str) -> Ask:
        rack = (node, *chance.sample(list(names), RACK - 1))
        question = ImpactQuestion(nodes=rack, rack=None, labels=(), window=day)
        return lambda: ask_impact(reading, question, knowledge, now=ENDED)

    def incidents() -> Ask:
        question = IncidentsQuestion(window=day)
        return lambda: ask_incidents(reading, question, knowledge, now=ENDED)

    return [
        *await _timed("why of a node", [why(n) for n in struck], 50),
        *await _timed(
            f"impact of {RACK} nodes, 24 h", [impact(n) for n in struck], 20
        ),
        *await _timed(
            "incidents of the fleet, 24 h", [incidents()] * ASKED_OF_ALL, 200
        ),
    ]


async def _timed(name: str, asks: Sequence[Ask], most: int) -> list[Number]:
    """Ask everything once to warm up, then measure."""
    for ask in asks[:5]:
        await ask()
    took = []
    for ask in asks:
        began = time.perf_counter()
        await ask()
        took.append((time.perf_counter() - began) * 1000)
    cuts = quantiles(took, n=20)
    say(f"  {name}: p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms")
    return [
        Number(
            name=f"{name}, p50",
            unit="ms",
            values=[cuts[9]],
            target=f"<= {most}",
        ),
        Number(name=f"{name}, p95", unit="ms", values=[cuts[18]]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.questions")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    arguments = parser.parse_args()
    numbers = asyncio.run(_measured(arguments.entries))
    print(summary(numbers, {"entries": arguments.entries}))


if __name__ == "__main__":
    main()
