"""From the start of the process until every stream is proven live again.

A real API server holds 20,000 pods that the log knows and that nothing changed
since the recorder was stopped. Each stream continues at its version; it counts
as live when it is committed that the server accepted that version. The API
server itself counts how many pods its lists returned: none but the few that
prove that history was not rewound.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg

from bench import manifests
from bench.listing import recording
from bench.live import LIVE, SIZE
from bench.measuring import Number, say, server_folder
from bench.requesting import Connection, connections
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until

__all__ = ["bench"]

PODS = 20_000
CLIENTS = 16
NAMESPACE = "many"
PROVEN = """
    select bool_and(state = 'live' and coalesce(vouched_until > $1, false))
    from recorder.resume_point where source = 'watch'
"""
LISTED = re.compile(
    rb"^apiserver_(?:cache|storage)_list_returned_objects_total"
    rb'\{[^}]*resource="pods"[^}]*\} (\S+)$',
    re.MULTILINE,
)
PROOFS = 40
"""Pods read one by one, as they were when last seen, to detect a rewound
history; the API counts a request for one in the past as a list."""


def bench(runs: int) -> list[Number]:
    seconds, listed = asyncio.run(_restarted(runs))
    return [
        Number(
            name=f"restart to live on {PODS:,} pods",
            unit="s",
            values=seconds,
            target="<= 5",
        ),
        Number(
            name="  pods listed meanwhile",
            unit="pods",
            values=listed,
            target=f"<= {PROOFS}",
        ),
    ]


async def _restarted(runs: int) -> tuple[list[float], list[float]]:
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    with server_folder() as data, server_folder() as folder:
        async with (
            Cluster.start(folder / "cluster", options) as cluster,
            open_database(Settings(data_dir=data)) as database,
            connections(cluster.kubeconfig, CLIENTS) as opened,
        ):
            await _fill(opened)
            say(f"  {PODS:,} pods")
            reader = await asyncpg.connect(database.dsn("reader"))
            with recording(data, cluster.kubeconfig):
                await until(
                    lambda: reader.fetchval(LIVE), "it records", seconds=120
                )
            times, listed = [], []
            for _ in range(runs):
                before = await _listed(opened[0])
                size = await reader.fetchval(SIZE)
                times.append(await _restart(reader, data, cluster.kubeconfig))
                listed.append(await _listed(opened[0]) - before)
                assert await reader.fetchval(SIZE) == size, "nothing is new"
                say(f"  {times[-1]:.2f} s, {listed[-1]:.0f} pods listed")
            await reader.close()
    return times, listed


async def _fill(opened: list[Connection]) -> None:
    """Make the pods."""
    body = {"metadata": {"name": NAMESPACE}}
    await opened[0].request(
        "POST", "/api/v1/namespaces", json.dumps(body).encode()
    )
    numbers = iter(range(PODS))

    async def client(connection: Connection, numbers: Iterator[int]) -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods"
        for number in numbers:
            pod = manifests.pod(f"pod-{number:05}")
            await connection.request("POST", path, json.dumps(pod).encode())

    async with asyncio.TaskGroup() as group:
        for connection in opened:
            group.create_task(client(connection, numbers))


async def _restart(
    reader: asyncpg.Connection, data: Path, kubeconfig: Path
) -> float:
    started, began = datetime.now(UTC), time.monotonic()
    with recording(data, kubeconfig):
        await until(
            lambda: reader.fetchval(PROVEN, started),
            "every stream is proven",
            seconds=90,
            every=0.02,
        )
        return time.monotonic() - began


async def _listed(connection: Connection) -> float:
    """Count the pods that lists of the API server returned."""
    said = await connection.request("GET", "/metrics")
    return sum(float(count) for count in LISTED.findall(said))
