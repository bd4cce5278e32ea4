"""The cost of the API: a node's page, and then news and memory.

The queries go to the log that `answers_log` makes, over HTTP, to a server in a
process of its own; ``python -m bench.serving --use FOLDER`` uses one that
`questions` kept.
"""

import argparse
import asyncio
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from statistics import quantiles

import asyncpg

from bench.answers_log import ENDED, Filled, fill, filled
from bench.measuring import (
    Number,
    cpu_seconds,
    percentiles,
    say,
    server_folder,
    summary,
)
from bench.news import news
from bench.questions import ENTRIES, SPEC
from bench.served import Served, served
from recorder.model.settings import Settings
from recorder.store.writer import Writer
from recorder.wiring.database import open_database

__all__ = ["bench"]

ASKED = 40
DAY = timedelta(days=1)
HALF_A_DAY = DAY / 2

TIMELINE = """query Timeline($node: String!, $since: DateTime,
  $until: DateTime) { node(name: $node, log: 1) {
  timeline(since: $since, until: $until) {
    service { from to state } conditions { type from to status isFault }
    boots { bootId from to } taints { key effect from to }
    cordons { from to }
    facts { entry index kind at says actor object { kind namespace name } }
    coverage { complete } } } }"""
PAGE = """query Page($node: String!, $since: DateTime, $until: DateTime) {
  node(name: $node, log: 1) {
    why(since: $since, until: $until) { verdicts { id happened cause sentence
      confidence evidence { entry role at says } rivals { cause because }
      missing { evidence } } coverage { complete says } }
    impact(since: $since, until: $until) {
      workloads { workload { kind namespace name } outcome gpuHoursLost says }
      totals { workloads gpuHoursLost } }
    timeline(since: $since, until: $until) {
      service { from to state } conditions { type from to status isFault }
      boots { bootId from to } taints { key effect from to }
      cordons { from to }
      placements { pod workload { kind name } gpus boundAt endedAt }
      facts { entry index kind at says } coverage { complete } } } }"""


def bench(runs: int) -> list[Number]:
    del runs  # each is asked many times
    return asyncio.run(_measured(ENTRIES))


async def _measured(entries: int, *, use: Path | None = None) -> list[Number]:
    return [
        *await _of_a_log(entries, use),
        *await news(),
    ]


async def _of_a_log(entries: int, use: Path | None) -> list[Number]:
    async with AsyncExitStack() as stack:
        folder = use or stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        made = await _made(
            database.dsn("writer"), database.dsn("owner"), entries, use
        )
        one = await stack.enter_async_context(served(folder))
        return await _questions(one, made)


async def _made(
    writer_dsn: str, dsn: str, entries: int, use: Path | None
) -> Filled:
    connections = [await asyncpg.connect(dsn) for _ in range(2)]
    try:
        if use is not None:
            return await filled(connections[0])
        writer = Writer(writer_dsn, SPEC, holder="bench")
        await writer.take_lease()
        await writer.close()
        return await fill(connections, entries)
    finally:
        for connection in connections:
            await connection.close()


async def _questions(one: Served, made: Filled) -> list[Number]:
    struck = made.struck[:: max(len(made.struck) // ASKED, 1)][:ASKED]
    numbers = []
    for name, query, most in (
        ("API: timeline of a node, 24 h", TIMELINE, 25),
        ("API: page of an incident", PAGE, 100),
    ):
        windows = [
            {
                "node": hit.node,
                "since": (hit.around - HALF_A_DAY).isoformat(),
                "until": min(hit.around + HALF_A_DAY, ENDED).isoformat(),
            }
            for hit in struck
        ]
        for window in windows:
            await one.ask(query, **window)
        took, bodies = [], 0
        spent = cpu_seconds(one.pid)
        for window in windows:
            began = time.perf_counter()
            bodies += len(await one.ask(query, **window))
            took.append((time.perf_counter() - began) * 1000)
        spent = (cpu_seconds(one.pid) - spent) * 1000 / len(windows)
        cuts = quantiles(took, n=20)
        say(
            f"  {name}: p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms,"
            f" {bodies // len(windows):,} bytes"
        )
        numbers += [
            *percentiles(name, cuts, most),
            Number(name=f"{name}, processor", unit="ms", values=[spent]),
        ]
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.serving")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--use", type=Path, help="a log that was kept")
    arguments = parser.parse_args()
    numbers = asyncio.run(_measured(arguments.entries, use=arguments.use))
    print(summary(numbers, {"entries": arguments.entries}))


if __name__ == "__main__":
    main()
