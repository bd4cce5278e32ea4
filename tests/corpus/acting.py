"""Who writes to the cluster in an incident: persons and controllers.

Each has a user of its own, which an audit log shows, and a field manager,
which is all that a cluster without audit keeps of them.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from tests.cluster.client import ApiClient, ApiError, trusting
from tests.cluster.waiting import until
from tests.corpus.stage import Stage

__all__ = ["Controller", "acting", "kubectl_as", "moment"]

EVICTED_SECONDS = 60

TRIES = 10


def moment() -> str:
    """Return the present time as objects write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")[:19] + "Z"


class Controller:
    """A program that writes to Nodes under its own name."""

    def __init__(self, stage: Stage, api: ApiClient, manager: str) -> None:
        self._stage = stage
        self._api = api
        self.manager = manager

    async def patch(
        self, path: str, body: Mapping[str, Any], *, kind: str = "merge"
    ) -> None:
        """Patch any object."""
        await self._api.patch(path, body, kind=kind, fieldManager=self.manager)

    async def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create any object."""
        await self._api.create(path, body, fieldManager=self.manager)

    async def delete(self, path: str) -> None:
        """Delete any object."""
        await self._api.delete(path)

    async def mark(
        self,
        node: str,
        *,
        labels: Mapping[str, str | None] | None = None,
        annotations: Mapping[str, str | None] | None = None,
        unschedulable: bool | None = None,
    ) -> None:
        """Change labels and annotations of a Node, cordon or uncordon it."""
        body: dict[str, Any] = {
            "metadata": {
                "labels": dict(labels or {}),
                "annotations": dict(annotations or {}),
            }
        }
        if unschedulable is not None:
            body["spec"] = {"unschedulable": unschedulable or None}
        await self.patch(f"/api/v1/nodes/{node}", body)

    async def condition(
        self, node: str, kind: str, status: str, reason: str, says: str
    ) -> None:
        """Set a condition of a Node."""
        condition = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": says,
            "lastHeartbeatTime": moment(),
            "lastTransitionTime": moment(),
        }
        await self.patch(
            f"/api/v1/nodes/{node}/status",
            {"status": {"conditions": [condition]}},
            kind="strategic",
        )

    async def taint(
        self, node: str, key: str, value: str, effect: str
    ) -> None:
        """Add a taint to a Node."""
        added = {"key": key, "value": value, "effect": effect}
        await self._retaint(node, key, [added])

    async def untaint(self, node: str, key: str) -> None:
        """Remove a taint from a Node."""
        await self._retaint(node, key, [])

    async def event(
        self,
        involved: Mapping[str, Any],
        reason: str,
        message: str,
        *,
        kind: str = "Normal",
        component: str | None = None,
        host: str = "",
    ) -> None:
        """Record an Event as the client library does."""
        at = moment()
        component = component or self.manager
        source = {"component": component, **({"host": host} if host else {})}
        event = {
            "metadata": {"generateName": f"{involved['name']}."},
            "involvedObject": dict(involved),
            "reason": reason,
            "message": message,
            "type": kind,
            "source": source,
            "reportingComponent": component,
            "reportingInstance": host,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }
        namespace = involved.get("namespace", "default")
        await self.create(f"/api/v1/namespaces/{namespace}/events", event)

    async def node_reference(self, node: str) -> dict[str, Any]:
        """Return a Node as an Event refers to it."""
        found = await self._stage.node(node)
        uid = found["metadata"]["uid"]
        return {"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}

    async def evict_all(self, node: str) -> None:
        """Evict the Pods of a node, except those of DaemonSets."""
        for namespace, name in await self._evictable(node):
            eviction = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace},
            }
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
            await self._api.create(path, eviction)

        async def gone() -> bool:
            return not await self._evictable(node)

        await until(gone, f"{node} is empty", seconds=EVICTED_SECONDS)

    async def _evictable(self, node: str) -> list[tuple[str, str]]:
        listed = await self._api.get(
            "/api/v1/pods", fieldSelector=f"spec.nodeName={node}"
        )
        return [
            (pod["metadata"]["namespace"], pod["metadata"]["name"])
            for pod in listed["items"]
            if pod["status"].get("phase") not in {"Failed", "Succeeded"}
            and not _of_daemon(pod)
        ]

    async def _retaint(
        self, node: str, key: str, added: list[dict[str, str]]
    ) -> None:
        """Write the list of taints, which is one value to the cluster."""
        for _ in range(TRIES):
            found = await self._stage.node(node)
            taints = [
                taint
                for taint in found["spec"].get("taints", ())
                if taint["key"] != key
            ]
            version = found["metadata"]["resourceVersion"]
            body = {
                "metadata": {"resourceVersion": version},
                "spec": {"taints": taints + added},
            }
            try:
                await self.patch(f"/api/v1/nodes/{node}", body)
            except ApiError as error:
                if error.status != 409:
                    raise
            else:
                return
        message = f"{node} changed {TRIES} times under our hands"
        raise TimeoutError(message)


@asynccontextmanager
async def acting(
    stage: Stage, manager: str, user: str | None = None
) -> AsyncIterator[Controller]:
    """Act as a controller of the namespace node-system."""
    user = user or f"system:serviceaccount:node-system:{manager}"
    authority = stage.cluster.authority
    pair = authority.client(user, ["system:masters"])
    trust = trusting(str(authority.certificate), pair)
    server = stage.cluster.server
    async with ApiClient(server, trust, agent=f"{manager}/v1.0") as api:
        yield Controller(stage, api, manager)


async def kubectl_as(stage: Stage, user: str, *arguments: str) -> str:
    """Let a person run kubectl."""
    kubeconfig = stage.cluster.user(user, ["system:masters"])
    return await stage.cluster.kubectl(*arguments, kubeconfig=kubeconfig)


def _of_daemon(pod: Mapping[str, Any]) -> bool:
    owners = pod["metadata"].get("ownerReferences", ())
    return any(owner["kind"] == "DaemonSet" for owner in owners)
