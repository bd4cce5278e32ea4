"""What the API costs: a node's page, news to subscribers, and memory.

The questions are asked of the log that `answers_log` makes, over HTTP, of a
server in a process of its own; ``python -m tests.bench.serving --use FOLDER``
asks one that `questions` kept. News are 200 changes a second, written here,
and timed from when their commit returned to when a subscriber has read them.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp
import asyncpg
import orjson

from recorder.settings import Settings
from recorder.store.writer import Writer
from recorder.wiring.database import open_database
from tests.api.telling import Telling
from tests.bench.answers_log import ENDED, Filled, fill, filled
from tests.bench.measuring import (
    Number,
    cpu_seconds,
    say,
    server_folder,
    summary,
)
from tests.bench.questions import ENTRIES, SPEC
from tests.support.builders import NODES, a_frame, a_node

__all__ = ["bench"]

ASKED = 40
DAY = timedelta(days=1)
HALF_A_DAY = DAY / 2
CHANGES_A_SECOND = 200
BATCHES_A_SECOND = 20
SECONDS = 20
FLEET_WIDE = 10
OF_A_NODE = 300
NAMES = [f"news-{n:03}" for n in range(OF_A_NODE)]
STORM = 400
STORM_AT_ONCE = 16

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
HEAVY = """{ facts(log: 1, last: 500) { nodes { entry says detail } }
  entries(log: 1, last: 500) { nodes { name says } } }"""
"""As much as one page may hold, however long the log is."""

FOLLOW = """subscription Follow($node: String) {
  facts(node: $node, cluster: "prod") { facts { entry } } }"""


@dataclass(slots=True)
class Served:
    """A server in a process of its own."""

    address: str
    pid: int
    session: aiohttp.ClientSession

    async def ask(self, query: str, **variables: Any) -> bytes:
        body = await self.post(query, **variables)
        assert b'"errors"' not in body, body[:500]
        return body

    async def post(self, query: str, **variables: Any) -> bytes:
        async with self.session.post(
            self.address + "graphql",
            json={"query": query, "variables": variables},
        ) as response:
            return await response.read()

    @property
    def mebibytes(self) -> float:
        """Its memory that is its own."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(x for x in status.splitlines() if x.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "recorder", "serve", "--listen", "127.0.0.1:0",
        env={**os.environ, "RECORDER_DATA_DIR": str(folder)},
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().strip()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Served(address, process.pid, session)
    finally:
        process.terminate()
        await process.wait()


def bench(runs: int) -> list[Number]:
    del runs  # each is asked many times
    return asyncio.run(_measured(ENTRIES))


async def _measured(entries: int, *, use: Path | None = None) -> list[Number]:
    return [
        *await _of_a_log(entries, use),
        # In a database of its own: a log that was kept stays as it is.
        *await _of_news(),
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


async def _of_news() -> list[Number]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        telling = Telling(database.dsn("writer"))
        stack.push_async_callback(telling.end)
        await telling.begin(*NAMES)
        one = await stack.enter_async_context(served(folder))
        return await _news(one, telling)


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
            Number(name=f"{name}, p50", unit="ms", values=[cuts[9]]),
            Number(
                name=f"{name}, p95",
                unit="ms",
                values=[cuts[18]],
                target=f"<= {most}",
            ),
            Number(name=f"{name}, processor", unit="ms", values=[spent]),
        ]
    return numbers


@dataclass(slots=True)
class Clock:
    """When batches were committed, and when they were read."""

    committed: dict[str, float] = field(default_factory=dict)
    read: list[tuple[str, float]] = field(default_factory=list)

    def delays(self) -> list[float]:
        """Give milliseconds from a commit to a reader."""
        return [
            max(at - self.committed[entry], 0.0) * 1000
            for entry, at in self.read
            if entry in self.committed
        ]


async def _news(one: Served, telling: Telling) -> list[Number]:
    names, version = NAMES, 2
    numbers = []
    for name, nodes in (
        (f"{FLEET_WIDE} of the fleet", [None] * FLEET_WIDE),
        (f"{OF_A_NODE} of a node each", NAMES),
    ):
        clock = Clock()
        before, spent = one.mebibytes, cpu_seconds(one.pid)
        version = await _followed(one, telling, nodes, names, clock, version)
        spent = (cpu_seconds(one.pid) - spent) / SECONDS * 100
        delays = clock.delays()
        cuts = quantiles(delays, n=100)
        say(
            f"  news to {name}: p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms,"
            f" {len(delays):,} told; {before:.0f} to {one.mebibytes:.0f} MiB;"
            f" {spent:.0f} % of a processor"
        )
        numbers += [
            Number(
                name=f"API: commit to subscriber, {name}, p50",
                unit="ms",
                values=[cuts[49]],
            ),
            Number(
                name=f"API: commit to subscriber, {name}, p99",
                unit="ms",
                values=[cuts[98]],
                target="<= 50",
            ),
            Number(
                name=f"API: 200 changes a second to {name}, processor",
                unit="%",
                values=[spent],
            ),
        ]
    return [*numbers, *await _storm(one, telling, names, version)]


async def _followed(
    one: Served,
    telling: Telling,
    nodes: Sequence[str | None],
    names: Sequence[str],
    clock: Clock,
    version: int,
) -> int:
    """Write changes while subscribers read; give the next version."""
    async with asyncio.TaskGroup() as group:
        ready = asyncio.Semaphore(0)
        readers = [
            group.create_task(_read(one, node, clock, ready)) for node in nodes
        ]
        for _ in readers:
            await ready.acquire()
        pause = 1 / BATCHES_A_SECOND
        count = CHANGES_A_SECOND // BATCHES_A_SECOND
        began = time.perf_counter()
        for batch in range(SECONDS * BATCHES_A_SECOND):
            until = began + batch * pause
            await asyncio.sleep(max(until - time.perf_counter(), 0))
            first, last = await telling.tell(
                *(_change(names, n) for n in range(version, version + count))
            )
            at = time.perf_counter()
            for position in range(first, last + 1):
                clock.committed[f"{telling.log}/{position}"] = at
            version += count
        await asyncio.sleep(1)
        for reader in readers:
            reader.cancel()
    return version


def _change(names: Sequence[str], version: int) -> Any:
    node = names[version % len(names)]
    # Each turn around the fleet every node has the other state.
    ready = ("False", "True")[version // len(names) % 2]
    return a_frame(NODES, "MODIFIED", a_node(node, version, ready=ready))


async def _read(
    one: Served, node: str | None, clock: Clock, ready: asyncio.Semaphore
) -> None:
    async with one.session.post(
        one.address + "graphql",
        json={"query": FOLLOW, "variables": {"node": node}},
        headers={"Accept": "text/event-stream"},
        timeout=aiohttp.ClientTimeout(total=None),
    ) as response:
        began = False
        async for line in response.content:
            if not line.startswith(b"data: "):
                continue
            at = time.perf_counter()
            found = orjson.loads(line.removeprefix(b"data: "))
            for fact in found["data"]["facts"]["facts"]:
                clock.read.append((fact["entry"], at))
            if not began:
                began = True
                ready.release()


async def _storm(
    one: Served, telling: Telling, names: Sequence[str], version: int
) -> list[Number]:
    """Ask as much as one can beside 300 subscribers, twice."""
    grown = []
    for turn in range(3):
        clock = Clock()
        async with asyncio.TaskGroup() as group:
            following = group.create_task(
                _followed(one, telling, names, names, clock, version)
            )
            turns = asyncio.Semaphore(STORM_AT_ONCE)

            async def ask(turns: asyncio.Semaphore = turns) -> None:
                async with turns:
                    # Some are told that it is too much: that is the bound.
                    await one.post(HEAVY)

            for _ in range(STORM // 4):
                group.create_task(ask())
            version = await following
        grown.append(one.mebibytes)
        say(f"  storm {turn + 1}: {one.mebibytes:.0f} MiB")
    return [
        Number(name="API: memory in a storm", unit="MiB", values=grown,
               best="max"),
        Number(
            name="API: memory, the third storm to the second",
            unit="ratio",
            values=[grown[2] / grown[1]],
            target="<= 1.05",
        ),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.serving")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--use", type=Path, help="a log that was kept")
    arguments = parser.parse_args()
    numbers = asyncio.run(_measured(arguments.entries, use=arguments.use))
    print(summary(numbers, {"entries": arguments.entries}))


if __name__ == "__main__":
    main()
