"""Templates: what a real cluster sends while things happen to it.

``python -m bench.harvest`` runs the test cluster for some minutes, lets Jobs
finish and fail, pods crash, nodes be labelled by operators, flip their
conditions, be drained and lose power, and keeps every version that its API
server showed in `TEMPLATES`. `fleet` makes fleets of any size from them. The
managed fields are the API server's own: each actor writes under its own name.
With ``--audit`` the same cluster is audited by the shipped policy, and its
records are kept in `RECORDS`.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from bench import manifests, operators
from recorder.model.zstd import CompressionParameter, compress
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import MachineSpec
from tests.cluster.waiting import until

TEMPLATES = Path(__file__).with_name("templates.jsonl.zst")
RECORDS = Path(__file__).with_name("audit-records.jsonl.zst")
POLICY = Path(__file__).parents[1] / "deploy/audit-policy.yaml"

WATCHED = {
    "v1/events": "/api/v1/events",
    "v1/pods": "/api/v1/pods",
    "v1/nodes": "/api/v1/nodes",
    "v1/namespaces": "/api/v1/namespaces",
    "batch/v1/jobs": "/apis/batch/v1/jobs",
    "batch/v1/cronjobs": "/apis/batch/v1/cronjobs",
    "apps/v1/deployments": "/apis/apps/v1/deployments",
    "apps/v1/replicasets": "/apis/apps/v1/replicasets",
    "apps/v1/daemonsets": "/apis/apps/v1/daemonsets",
    "policy/v1/poddisruptionbudgets": ("/apis/policy/v1/poddisruptionbudgets"),
}
NODES = ("gpu-001", "gpu-002", "gpu-003", "gpu-004")
ALL_AT_ONCE = 1 << 27
"""Bytes of a compression window that holds everything: versions of one
object lie far apart."""

Line = dict[str, Any]


def machines() -> tuple[MachineSpec, ...]:
    return tuple(
        MachineSpec(
            name=name,
            labels={
                "topology.kubernetes.io/zone": "zone-a",
                "node.kubernetes.io/instance-type": "gpu-8x",
            },
            reserved={"cpu": "2", "memory": "8Gi"},
        )
        for name in NODES
    )


class Harvest:
    """The watches of one cluster, and their lines."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.lines: list[Line] = []

    async def watch(self, resource: str, path: str) -> None:
        """Keep every frame of a resource, from its first object on."""
        session = self._cluster.api._session
        async with session.get(
            path,
            params={"watch": "true", "timeoutSeconds": "3600"},
            timeout=aiohttp.ClientTimeout(total=None),
        ) as response:
            rest = b""
            async for piece in response.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    frame = json.loads(line)
                    self.lines.append({"resource": resource, **frame})


async def act(cluster: Cluster) -> None:
    """Make the events of a fleet happen."""
    api = cluster.api
    for namespace in manifests.NAMESPACES:
        await api.create("/api/v1/namespaces", manifests.namespace(namespace))
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        await until(lambda path=account: api.answers(path), "pods can be made")
        await api.create(
            f"/api/v1/namespaces/{namespace}/secrets", manifests.SECRET
        )
    for name in NODES:
        await label(cluster, name)
    for path, body in manifests.workloads():
        await api.create(path, body, fieldManager="argocd-controller")
    await asyncio.sleep(45)
    await troubles(cluster)
    await asyncio.sleep(5)
    print("drain")
    with suppress(Exception):
        await cluster.kubectl(
            "drain", "gpu-002", "--ignore-daemonsets", "--force",
            "--delete-emptydir-data", "--timeout=40s",
        )  # fmt: skip
    await cluster.kubectl("uncordon", "gpu-002")
    print("crash")
    await cluster.machines["gpu-003"].crash()
    await asyncio.sleep(30)
    await cluster.machines["gpu-003"].boot()
    await cluster.until_ready("gpu-003")
    await asyncio.sleep(20)
    for path in manifests.to_delete():
        await api.delete(path, propagationPolicy="Background")
    await asyncio.sleep(15)


async def label(cluster: Cluster, node: str) -> None:
    """Write what operators write to a Node, each under its own name."""
    path = f"/api/v1/nodes/{node}"
    for manager, metadata in operators.node_metadata(node):
        await cluster.api.patch(
            path, {"metadata": metadata}, fieldManager=manager
        )
    await conditions(cluster, node, operators.HEALTHY)


async def conditions(
    cluster: Cluster, node: str, written: Sequence[tuple[str, Line]]
) -> None:
    """Write conditions of a Node as the detectors do."""
    for manager, condition in written:
        await cluster.api.patch(
            f"/api/v1/nodes/{node}/status",
            {"status": {"conditions": [condition]}},
            kind="strategic",
            fieldManager=manager,
        )


async def troubles(cluster: Cluster) -> None:
    """Let GPUs, links and nodes fail and recover."""
    for node in NODES:
        await conditions(cluster, node, operators.SICK)
        await cluster.api.patch(
            f"/api/v1/nodes/{node}",
            {"spec": {"taints": [operators.TAINT]}},
            kind="strategic",
            fieldManager="node-remediator",
        )
        await cluster.api.patch(
            f"/api/v1/nodes/{node}",
            {"metadata": operators.REMEDIATION},
            fieldManager="node-remediator",
        )
    cluster.machines["gpu-004"].set_healthy_gpus(7)
    await asyncio.sleep(15)
    cluster.machines["gpu-004"].set_healthy_gpus(8)
    for node in NODES:
        await conditions(cluster, node, operators.HEALTHY[1:])
        await cluster.api.patch(
            f"/api/v1/nodes/{node}",
            {"spec": {"taints": None}},
            fieldManager="node-remediator",
        )


async def harvest(folder: Path) -> list[Line]:
    """Run the cluster and return its lines, in order of arrival."""
    options = Options(machines=machines(), toleration_seconds=5)
    async with Cluster.start(folder, options) as cluster:
        gathered = Harvest(cluster)
        async with asyncio.TaskGroup() as group:
            watches = [
                group.create_task(gathered.watch(resource, path))
                for resource, path in WATCHED.items()
            ]
            await act(cluster)
            for watch in watches:
                watch.cancel()
        return gathered.lines


async def harvest_audit(folder: Path) -> bytes:
    """Run the cluster and return the audit records of its API server."""
    policy = yaml.safe_load(POLICY.read_text())
    options = Options(
        machines=machines(), toleration_seconds=5, audit_policy=policy
    )
    async with Cluster.start(folder, options) as cluster:
        await act(cluster)
        return cluster.audit_log.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.harvest")
    parser.add_argument(
        "--audit", action="store_true", help="keep audit records instead"
    )
    is_audit = parser.parse_args().audit
    with tempfile.TemporaryDirectory(prefix="recorder-harvest-") as folder:
        place = Path(folder) / "cluster"
        if is_audit:
            content = asyncio.run(harvest_audit(place))
        else:
            content = b"".join(
                json.dumps(line, separators=(",", ":")).encode() + b"\n"
                for line in asyncio.run(harvest(place))
            )
    packed = compress(
        content,
        options={
            CompressionParameter.compression_level: 19,
            CompressionParameter.window_log: ALL_AT_ONCE.bit_length() - 1,
            CompressionParameter.enable_long_distance_matching: 1,
        },
    )
    (RECORDS if is_audit else TEMPLATES).write_bytes(packed)
    lines = content.count(b"\n")
    print(f"{lines} lines, {len(content)} bytes, {len(packed)} packed")


if __name__ == "__main__":
    main()
