"""Thousands of nodes, where real kubelets would be too many.

kwok plays the kubelets of all of them in one process: nodes are Ready and
renew their Leases, pods on them run, and nothing is behind it. It is built
only when a test asks for it.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.cluster.binaries import KWOK, built
from tests.cluster.cluster import Cluster
from tests.cluster.processes import Part

__all__ = ["crowd"]

MARK = "kwok.x-k8s.io/node"

AT_ONCE = 16
"""Requests in flight; more only wait for two cores."""

LEASE_SECONDS = 40


@asynccontextmanager
async def crowd(
    cluster: Cluster,
    count: int,
    *,
    gpus: int = 8,
    seconds: float = 120,
    lease_seconds: int = LEASE_SECONDS,
) -> AsyncIterator[list[str]]:
    """Add simulated nodes to a cluster; yield their names when all are Ready.

    They stay when the block ends, and go silent. Each renews its Lease four
    times in ``lease_seconds``.
    """
    program = await asyncio.to_thread(built, KWOK)
    part = Part(
        "kwok",
        [str(cluster.binary), "exec", str(program)],
        {
            "kubeconfig": str(cluster.user("kwok", ["system:masters"])),
            "manage-nodes-with-annotation-selector": f"{MARK}=fake",
            "node-lease-duration-seconds": str(lease_seconds),
            "config": str(KWOK.folder / "stages.yaml"),
        },
        folder=cluster.folder,
    )
    names = [f"crowd-{number:05}" for number in range(count)]
    try:
        await part.start()
        limit = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(_add(cluster, name, gpus, limit))
        await cluster.until_ready(*names, seconds=seconds)
        yield names
    finally:
        part.kill_now()


async def _add(
    cluster: Cluster, name: str, gpus: int, limit: asyncio.Semaphore
) -> None:
    async with limit:
        await cluster.api.create("/api/v1/nodes", _node(name, gpus))


def _node(name: str, gpus: int) -> dict[str, Any]:
    room = {
        "cpu": "128",
        "memory": "2Ti",
        "pods": "110",
        "nvidia.com/gpu": str(gpus),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {MARK: "fake"},
            "labels": {"kubernetes.io/hostname": name},
        },
        "status": {
            "capacity": room,
            "allocatable": room,
            "nodeInfo": {
                "bootID": str(uuid.uuid4()),
                "machineID": uuid.uuid4().hex,
                "systemUUID": str(uuid.uuid4()),
                "kernelVersion": "6.8.0-79-generic",
                "osImage": "Ubuntu 24.04.3 LTS",
                "containerRuntimeVersion": "fakeRuntime://0.1.0",
                "kubeletVersion": "v1.36.3",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        },
    }
