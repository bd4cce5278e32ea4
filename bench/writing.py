"""A load: half of it new Events, half of it patches of Nodes' status.

``python -m bench.writing KUBECONFIG COUNT [--rate N] [--prefix NAME]`` writes
with 16 clients, as fast as they go or at a rate, and prints the version of
each response and the steady clock's time at which it came. Every patch changes
more than a heartbeat does, so each is an entry.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.requesting import (
    STRATEGIC,
    Connection,
    connections,
    version_of,
)
from tests.cluster.client import ApiClient

__all__ = ["MACHINES", "event", "name", "node", "patch", "prepare", "write"]

CLIENTS = 16
MACHINES = 160
NODES, EVENTS = "v1/nodes", "v1/events"
EVENTS_PATH = "/api/v1/namespaces/default/events"


async def prepare(api: ApiClient) -> None:
    """Make the Nodes."""
    for number in range(MACHINES):
        await api.create("/api/v1/nodes", node(name(number)))


def name(number: int) -> str:
    return f"gpu-{number:03}"


def node(name: str) -> dict[str, Any]:
    room = {"cpu": "192", "memory": "2Ti", "nvidia.com/gpu": "8"}
    return {
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name},
        },
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [
                {"type": kind, "status": "False", "reason": "KubeletFine"}
                for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")
            ],
        },
    }


def patch(number: int, prefix: str) -> tuple[str, str, bytes, str]:
    condition = {
        "type": "Ready",
        "status": "True" if number % 4 else "False",
        "reason": "KubeletReady",
        "message": f"kubelet is posting ready status, {prefix} {number}",
        "lastHeartbeatTime": "2026-11-21T03:18:00Z",
    }
    body = json.dumps({"status": {"conditions": [condition]}}).encode()
    path = f"/api/v1/nodes/{name(number % MACHINES)}/status"
    return "PATCH", path, body, STRATEGIC


def event(number: int, prefix: str) -> tuple[str, str, bytes, str]:
    node = name(number % MACHINES)
    body = {
        "metadata": {"name": f"{prefix}.{number:x}", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": node, "uid": node},
        "reason": "GpuCheckFailed",
        "message": f"GPU {number % 8} of {node}: XID 79 at step {number}",
        "type": "Warning",
        "source": {"component": "gpu-monitor", "host": node},
        "firstTimestamp": "2026-11-21T03:18:00Z",
        "lastTimestamp": "2026-11-21T03:18:00Z",
        "count": 1,
    }
    return "POST", EVENTS_PATH, json.dumps(body).encode(), "application/json"


async def write(
    kubeconfig: Path,
    count: int,
    *,
    rate: float,
    prefix: str,
    on_answer: Callable[[str, int], None],
) -> None:
    """Write, and pass on the resource and the version of each response."""
    began = time.monotonic()

    async def client(connection: Connection, numbers: Iterator[int]) -> None:
        # Each client has its own Nodes, so that no patch meets another.
        for number in numbers:
            if rate:
                due = began + number / rate - time.monotonic()
                await asyncio.sleep(max(0.0, due))
            half, is_event = divmod(number, 2)
            make = event if is_event else patch
            method, path, body, kind = make(half, prefix)
            answer = await connection.request(method, path, body, kind=kind)
            on_answer(EVENTS if is_event else NODES, version_of(answer))

    async with (
        connections(kubeconfig, CLIENTS) as opened,
        asyncio.TaskGroup() as group,
    ):
        for place, connection in enumerate(opened):
            numbers = range(count)[2 * place :: 2 * CLIENTS]
            turns = (n + more for n in numbers for more in (0, 1))
            began = time.monotonic()
            group.create_task(client(connection, turns))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.writing")
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("count", type=int, help="an even number")
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--prefix", default="written")
    given = parser.parse_args()
    answers: list[tuple[int, float]] = []
    asyncio.run(
        write(
            given.kubeconfig,
            given.count,
            rate=given.rate,
            prefix=given.prefix,
            on_answer=lambda _, version: answers.append(
                (version, time.monotonic())
            ),
        )
    )
    print("\n".join(f"{version} {at:.6f}" for version, at in answers))


if __name__ == "__main__":
    main()
