"""A crowd of nodes and pods, and a storm over all of them.

kwok plays the kubelets. Every pod is made on its node and gets an annotation
in the storm; every node is made unready in the storm, and is made ready again
by its kubelet, with what the node controller does about it in between.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.requesting import (
    JSON,
    MERGE,
    STRATEGIC,
    Connection,
    connections,
    version_of,
)
from bench.sampling import Answers
from tests.cluster.waiting import until

__all__ = ["Clients"]

CLIENTS = 16
PODS = "/api/v1/namespaces/default/pods"
NOT_RUNNING = f"{PODS}?fieldSelector=status.phase!=Running&limit=1"

Request = tuple[str, str, str, bytes, str]
"""Resource, method, path, body, content type."""


class Clients:
    """Sixteen clients, which note every response."""

    def __init__(self, kubeconfig: Path, answers: Answers) -> None:
        self._kubeconfig = kubeconfig
        self._answers = answers

    async def make_pods(self, count: int, nodes: list[str]) -> None:
        """Make pods on nodes in turn, and wait until all of them run."""
        await self._send(
            _pod(number, nodes[number % len(nodes)]) for number in range(count)
        )

        async with connections(self._kubeconfig, 1) as (connection,):

            async def all_run() -> bool:
                answer = await connection.request("GET", NOT_RUNNING)
                return not json.loads(answer)["items"]

            await until(all_run, "every pod runs", seconds=900, every=1)

    async def storm(self, pods: int, nodes: list[str]) -> None:
        """Change all pods and flip every node, mixed evenly."""
        touched = map(_touch, range(pods))
        flipped = map(_flip, nodes)
        await self._send(_mixed(touched, flipped, max(1, pods // len(nodes))))

    async def _send(self, requests: Iterable[Request]) -> None:
        left = iter(requests)

        async def client(connection: Connection) -> None:
            for resource, method, path, body, kind in left:
                answer = await connection.request(
                    method, path, body, kind=kind
                )
                self._answers.note(resource, version_of(answer))

        # New ones each time: the API server closes those that idle.
        async with (
            connections(self._kubeconfig, CLIENTS) as opened,
            asyncio.TaskGroup() as group,
        ):
            for connection in opened:
                group.create_task(client(connection))


def _mixed(
    many: Iterator[Request], few: Iterator[Request], share: int
) -> Iterator[Request]:
    for number, request in enumerate(many):
        yield request
        if number % share == 0:
            yield from _next(few)
    yield from few


def _next(requests: Iterator[Request]) -> Iterator[Request]:
    for request in requests:
        yield request
        return


def _name(number: int) -> str:
    return f"crowd-{number:05}"


def _pod(number: int, node: str) -> Request:
    limits = {"nvidia.com/gpu": "1", "cpu": "4", "memory": "64Gi"}
    body = {
        "metadata": {
            "name": _name(number),
            "labels": {"app": "train", "rank": str(number)},
        },
        "spec": {
            "nodeName": node,
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "train",
                    "image": "registry.example.com/ml/train:2.4.1",
                    "resources": {"limits": limits},
                }
            ],
        },
    }
    return "v1/pods", "POST", PODS, json.dumps(body).encode(), JSON


def _touch(number: int) -> Request:
    note = {"site.example.com/step": "1"}
    body = json.dumps({"metadata": {"annotations": note}}).encode()
    return "v1/pods", "PATCH", f"{PODS}/{_name(number)}", body, MERGE


def _flip(node: str) -> Request:
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "KubeletNotReady",
        "message": "container runtime is down",
    }
    body = json.dumps({"status": {"conditions": [condition]}}).encode()
    path = f"/api/v1/nodes/{node}/status"
    return "v1/nodes", "PATCH", path, body, STRATEGIC
