"""News to subscribers, and memory in a storm of queries beside them.

News are 200 changes a second, written here, and timed from when their commit
returned to when a subscriber has read them.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

import aiohttp
import orjson

from bench.measuring import Number, cpu_seconds, say, server_folder
from bench.served import Served, served
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.support.builders import NODES, a_frame, a_node
from tests.support.written_log import WrittenLog

__all__ = ["news"]

CHANGES_A_SECOND = 200
BATCHES_A_SECOND = 20
SECONDS = 20
FLEET_WIDE = 10
OF_A_NODE = 300
NAMES = [f"news-{n:03}" for n in range(OF_A_NODE)]
STORM = 100
STORM_AT_ONCE = 16

HEAVY = """{ facts(log: 1, last: 500) { nodes { entry says detail } }
  entries(log: 1, last: 500) { nodes { name says } } }"""
"""As much as one page may hold, however long the log is."""

FOLLOW = """subscription Follow($node: String) {
  facts(node: $node, cluster: "prod") { facts { entry } } }"""


async def news() -> list[Number]:
    """Measure in a database of its own: a log that was kept stays as it is."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        written_log = WrittenLog(database.dsn("writer"))
        stack.push_async_callback(written_log.end)
        await written_log.begin(*NAMES)
        one = await stack.enter_async_context(served(folder))
        return await _news(one, written_log)


@dataclass(slots=True)
class Clock:
    """When batches were committed, and when they were read."""

    committed: dict[str, float] = field(default_factory=dict)
    read: list[tuple[str, float]] = field(default_factory=list)

    def delays(self) -> list[float]:
        """Return milliseconds from a commit to a reader."""
        return [
            max(at - self.committed[entry], 0.0) * 1000
            for entry, at in self.read
            if entry in self.committed
        ]


async def _news(one: Served, written_log: WrittenLog) -> list[Number]:
    names, version = NAMES, 2
    numbers = []
    for name, nodes in (
        (f"{FLEET_WIDE} of the fleet", [None] * FLEET_WIDE),
        (f"{OF_A_NODE} of a node each", NAMES),
    ):
        clock = Clock()
        before, spent = one.mebibytes, cpu_seconds(one.pid)
        version = await _followed(
            one, written_log, nodes, names, clock, version
        )
        spent = (cpu_seconds(one.pid) - spent) / SECONDS * 100
        delays = clock.delays()
        cuts = quantiles(delays, n=100)
        say(
            f"  news to {name}: p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms,"
            f" {len(delays):,} sent; {before:.0f} to {one.mebibytes:.0f} MiB;"
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
    return [*numbers, *await _storm(one, written_log, names, version)]


async def _followed(
    one: Served,
    written_log: WrittenLog,
    nodes: Sequence[str | None],
    names: Sequence[str],
    clock: Clock,
    version: int,
) -> int:
    """Write changes while subscribers read; return the next version."""
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
            first, last = await written_log.append(
                *(_change(names, n) for n in range(version, version + count))
            )
            at = time.perf_counter()
            for position in range(first, last + 1):
                clock.committed[f"{written_log.log}/{position}"] = at
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
    one: Served, written_log: WrittenLog, names: Sequence[str], version: int
) -> list[Number]:
    """Query as much as possible beside 300 subscribers, three times."""
    grown = []
    for turn in range(3):
        clock = Clock()
        async with asyncio.TaskGroup() as group:
            following = group.create_task(
                _followed(one, written_log, names, names, clock, version)
            )
            turns = asyncio.Semaphore(STORM_AT_ONCE)

            async def ask(turns: asyncio.Semaphore = turns) -> None:
                async with turns:
                    # Some are rejected as too many: that is the bound.
                    await one.post(HEAVY)

            for _ in range(STORM):
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
