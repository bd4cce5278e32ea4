"""Constant writes to the cluster: a few objects of several kinds.

A seed decides who is written, patched and deleted. Whether a write succeeded
does not matter, and is often not known here: what happened is what etcd says.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import aiohttp

from tests.cluster.client import ApiClient, ApiError

__all__ = ["Traffic"]

PAUSE_SECONDS = (0.01, 0.05)
REQUEST_SECONDS = 3
NAMES = 6
GROUP = "kueue.x-k8s.io"

LABELS = {"matchLabels": {"app": "a"}}
CONTAINERS = [{"name": "main", "image": "registry.example/train:1"}]
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"restartPolicy": "Never", "containers": CONTAINERS},
}
ALWAYS: dict[str, Any] = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": CONTAINERS},
}
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "v1/Pod": (
        "/api/v1/namespaces/default/pods",
        "pod",
        {"spec": {"containers": CONTAINERS}},
    ),
    "v1/Node": ("/api/v1/nodes", "node", {}),
    "v1/Namespace": ("/api/v1/namespaces", "space", {}),
    "batch/v1/Job": (
        "/apis/batch/v1/namespaces/default/jobs",
        "job",
        {"spec": {"suspend": True, "template": TEMPLATE}},
    ),
    "apps/v1/Deployment": (
        "/apis/apps/v1/namespaces/default/deployments",
        "deployment",
        {"spec": {"selector": LABELS, "template": ALWAYS}},
    ),
    "policy/v1/PodDisruptionBudget": (
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        "budget",
        {"spec": {"maxUnavailable": 1, "selector": LABELS}},
    ),
    f"{GROUP}/v1beta1/Workload": (
        f"/apis/{GROUP}/v1beta1/namespaces/default/workloads",
        "workload",
        {"spec": {"queueName": "a"}},
    ),
}
"""Where a kind is, how its objects are called, and what one holds."""

WEIGHTS = (8, 4, 1, 2, 2, 1, 2)
LASTING = {"node", "space"}
"""Never deleted: nothing finalizes a namespace here, and nodes have Leases."""

NOTHING_DONE = (ApiError, aiohttp.ClientError, TimeoutError, OSError)


class Traffic:
    """Writes until it is stopped."""

    def __init__(self, api: ApiClient, seed: int) -> None:
        self._api = api
        self._random = random.Random(seed)
        self._written = 0
        self._flowing = asyncio.Event()
        self._idle = asyncio.Event()
        self._flowing.set()

    async def run(self) -> None:
        """Write for ever."""
        while True:
            self._idle.set()
            await self._flowing.wait()
            self._idle.clear()
            await self._attempt(self._choose())
            await asyncio.sleep(self._random.uniform(*PAUSE_SECONDS))

    async def stop(self) -> None:
        """Write nothing from now on; what was asked for has ended."""
        self._flowing.clear()
        await self._idle.wait()

    def go_on(self) -> None:
        """Write again."""
        self._flowing.set()

    async def burst(self, count: int) -> None:
        """Write some at once, beside the stream or without it."""
        for _ in range(count):
            await self._attempt(self._choose())

    async def everything_once(self) -> None:
        """Touch one object of each kind, to see it arrive."""
        for kind in KINDS:
            await self._attempt(partial(self._put, kind))
        await self._attempt(self._write_event)

    async def _attempt(self, write: Callable[[], Any]) -> None:
        with suppress(*NOTHING_DONE):
            async with asyncio.timeout(REQUEST_SECONDS):
                await write()

    def _choose(self) -> Callable[[], Any]:
        return self._random.choices(
            (self._write, self._write_event, self._beat, self._renew),
            (12, 3, 2, 2),
        )[0]

    async def _write(self) -> None:
        kind = self._random.choices(list(KINDS), WEIGHTS)[0]
        await self._put(kind)

    async def _put(self, kind: str) -> None:
        """Patch an object, make it if it is not there, or delete it."""
        path, prefix, body = KINDS[kind]
        name = f"{prefix}-{self._random.randrange(NAMES)}"
        self._written += 1
        if prefix not in LASTING and self._random.random() < 0.15:
            await self._api.delete(f"{path}/{name}", gracePeriodSeconds="0")
            return
        change = {"metadata": {"annotations": {"n": str(self._written)}}}
        try:
            await self._api.patch(f"{path}/{name}", change)
        except ApiError as error:
            if error.status != 404:
                raise
            version, _, last = kind.rpartition("/")
            of_kind = {"apiVersion": version, "kind": last}
            named = {"metadata": {"name": name}}
            await self._api.create(path, {**of_kind, **named, **body})

    async def _write_event(self) -> None:
        self._written += 1
        path = "/api/v1/namespaces/default/events"
        name = f"event-{self._written:06}"
        pod = f"pod-{self._random.randrange(NAMES)}"
        about = {"kind": "Pod", "namespace": "default", "name": pod}
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name},
            "involvedObject": about,
            "reason": "Tested",
            "message": f"number {self._written}",
            "type": "Normal",
            "count": 1,
            "lastTimestamp": _now(),
        }
        await self._api.create(path, body)
        if self._random.random() < 0.3:
            await self._api.patch(f"{path}/{name}", {"count": 2})

    async def _beat(self) -> None:
        """Let a node renew its heartbeat, which is no entry."""
        name = f"node-{self._random.randrange(NAMES)}"
        condition = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "",
            "lastHeartbeatTime": _now(),
        }
        await self._api.patch(
            f"/api/v1/nodes/{name}/status",
            {"status": {"conditions": [condition]}},
        )

    async def _renew(self) -> None:
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        name = f"node-{self._random.randrange(NAMES)}"
        spec = {"holderIdentity": name, "renewTime": _now(micro=True)}
        try:
            await self._api.patch(f"{path}/{name}", {"spec": spec})
        except ApiError as error:
            if error.status != 404:
                raise
            body = {"metadata": {"name": name}, "spec": spec}
            await self._api.create(
                path,
                {
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    **body,
                },
            )


def _now(*, micro: bool = False) -> str:
    spec = "microseconds" if micro else "seconds"
    text = datetime.now(UTC).isoformat(timespec=spec)
    return text.replace("+00:00", "Z")
