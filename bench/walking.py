"""The cost of an absence, and what remains of it after reading the past.

Pods change at a steady rate while no recorder runs. The API server restarts,
so that its watch cache has forgotten all of it, and then the recorder does,
while the pods continue to change. The writer knows the version of each change:
the log must hold it. The cost of the walk for the API server is its processor
time in each second of it, relative to the seconds before, under the same load
without a recorder.

``python -m bench.walking --nodes 5000 --pods 20000`` does it once beside so
many idle Nodes and Pods.
"""

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import orjson

from bench import manifests, patching
from bench.listing import recording
from bench.live import SIZE
from bench.measuring import Number, cpu_seconds, say, server_folder
from recorder.model.entry import Operation
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.client import ApiClient
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.support.read_log import read_log

__all__ = ["bench"]

RATE = 200.0
"""Changes a second."""

AWAY_SECONDS = 60.0
BESIDE_SECONDS = 15.0
"""How long the API server is watched without a recorder."""

AFTER_SECONDS = 75.0
"""How long the load lasts after the absence: longer than the walk."""

REACH_BACK = "40s"
"""Longer than the default, so that all of the absence can be read."""

PODS = "v1/pods"
WATCHED = f"""
    select bool_or(p.state = 'live') and max(h.size) > $1
    from recorder.resume_point p join recorder.log_head h using (log_id)
      join recorder.resource r using (resource_id)
    where r.name = '{PODS}'
"""
WALKED = re.compile(r"with (\d+) requests: (\d+) versions")


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of one absence."""

    share: float
    """Of the changes that were made meanwhile: in the log, in percent."""

    cost: float
    """Processor time of the API server, relative to before the recorder."""

    seconds: float
    """From the start of the recorder until it watches the pods."""

    requests: float
    """For each version that was recovered."""

    proved: str
    """The text of the gap."""


AT_ONCE = 20
"""Requests in flight that make what is beside."""


def bench(runs: int) -> list[Number]:
    walks = asyncio.run(_walked(runs))
    return [
        Number(
            name=f"changes of {AWAY_SECONDS:.0f} s without a recorder, held",
            unit="%",
            values=[walk.share for walk in walks],
            target=">= 99.5",
        ),
        Number(
            name="  requests for a recovered version",
            unit="ratio",
            values=[walk.requests for walk in walks],
            target="<= 1.5",
        ),
        Number(
            name="  API server's processor time meanwhile",
            unit="ratio",
            values=[walk.cost for walk in walks],
            target="<= 1.3",
        ),
        Number(
            name="  until the pods are watched again",
            unit="s",
            values=[walk.seconds for walk in walks],
        ),
    ]


async def _walked(runs: int, nodes: int = 0, pods: int = 0) -> list[Walk]:
    options = Options(
        controller_manager=False,
        scheduler=False,
        json_storage=False,
        etcd_compaction_interval="0",
    )
    with server_folder() as data, server_folder() as folder:
        async with (
            Cluster.start(folder / "cluster", options) as cluster,
            open_database(Settings(data_dir=data)) as database,
        ):
            await patching.prepare(cluster.api)
            await _crowd(cluster.api, nodes, pods)
            dsn = database.dsn("reader")
            walks = []
            for _ in range(runs):
                walks.append(await _absence(cluster, data, dsn))
                say(f"  {walks[-1]}")
            return walks


async def _absence(cluster: Cluster, data: Path, dsn: str) -> Walk:
    with recording(data, cluster.kubeconfig, reach_back=REACH_BACK):
        await _watched(dsn, await _size(dsn) - 1, seconds=60)
    before = await _size(dsn)
    missed = await _load(cluster, AWAY_SECONDS)
    await cluster.api_server.kill()
    await cluster.api_server.start()
    async with asyncio.TaskGroup() as group:
        after = group.create_task(_load(cluster, AFTER_SECONDS))
        await asyncio.sleep(2)
        alone = await _spent(cluster, asyncio.sleep(BESIDE_SECONDS))
        began = time.monotonic()
        with recording(data, cluster.kubeconfig, reach_back=REACH_BACK):
            beside = await _spent(cluster, _watched(dsn, before, seconds=90))
            seconds = time.monotonic() - began
            await after
            await asyncio.sleep(2)
    log = await read_log(dsn)
    held = {
        int(draft.resource_version or 0)
        for _, draft in log.entries
        if draft.resource == PODS
    }
    proved = [
        orjson.loads(draft.raw)["proved"]
        for _, draft in log.entries[before:]
        if draft.operation is Operation.GAP_CLOSED and draft.resource == PODS
    ]
    stages = WALKED.findall(" ".join(proved))
    asked = sum(int(requests) for requests, _ in stages)
    found = sum(int(versions) for _, versions in stages)
    return Walk(
        100 * len(missed & held) / len(missed),
        beside / alone,
        seconds,
        asked / max(1, found),
        proved[-1],
    )


async def _crowd(api: ApiClient, nodes: int, pods: int) -> None:
    """Make idle Nodes and Pods."""
    turns = asyncio.Semaphore(AT_ONCE)
    path = f"/api/v1/namespaces/{patching.NAMESPACE}/pods"

    async def make(path: str, body: dict[str, Any]) -> None:
        async with turns:
            await api.create(path, body)

    async with asyncio.TaskGroup() as group:
        for number in range(nodes):
            named = {"metadata": {"name": f"crowd-{number:05}"}}
            group.create_task(make("/api/v1/nodes", named))
        for number in range(pods):
            idle = manifests.pod(f"crowd-{number:05}")
            group.create_task(make(path, idle))


async def _load(cluster: Cluster, seconds: float) -> set[int]:
    """Change pods; return the version of each change."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.patching", str(cluster.kubeconfig)),
        *(str(RATE), str(seconds)),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, "the writer wrote"
    return {int(line.split()[0]) for line in out.decode().splitlines()}


async def _spent(cluster: Cluster, work: Awaitable[object]) -> float:
    """Return how much of a processor the API server takes meanwhile."""
    pid = cluster.api_server.pid
    assert pid is not None, "it runs"
    began, before = time.monotonic(), cpu_seconds(pid)
    await work
    return (cpu_seconds(pid) - before) / (time.monotonic() - began)


async def _size(dsn: str) -> int:
    connection = await asyncpg.connect(dsn)
    try:
        return int(await connection.fetchval(SIZE))
    finally:
        await connection.close()


async def _watched(dsn: str, size: int, *, seconds: float) -> None:
    """Wait until the pods are live, and the log has grown."""
    connection = await asyncpg.connect(dsn)
    try:
        await until(
            lambda: connection.fetchval(WATCHED, size),
            "the pods are watched",
            seconds=seconds,
            every=0.05,
        )
    finally:
        await connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.walking")
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--pods", type=int, default=0)
    given = parser.parse_args()
    asyncio.run(_walked(1, given.nodes, given.pods))


if __name__ == "__main__":
    main()
