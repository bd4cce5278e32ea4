"""Karpenter gives up a node that it does not need."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.cluster.binaries import KWOK, built
from tests.cluster.processes import Part
from tests.cluster.waiting import until
from tests.corpus.expecting import a_controller
from tests.corpus.incident import incident
from tests.corpus.operators import KARPENTER, running
from tests.corpus.placing import the_deployment
from tests.corpus.stage import Stage
from tests.corpus.truth import NodeFacts

BUSY = "/apis/apps/v1/namespaces/serve/deployments/burst"

CLAIMS = ("karpenter.sh/v1/nodeclaims", "karpenter.sh/v1/nodepools")

SCALED_SECONDS = 90


@asynccontextmanager
async def _karpenter(stage: Stage) -> AsyncIterator[None]:
    """Run Karpenter, and kwok for the machines that it asks for."""
    program = await asyncio.to_thread(built, KWOK)
    kwok = Part(
        "kwok",
        [str(stage.cluster.binary), "exec", str(program)],
        {
            "kubeconfig": str(stage.cluster.user("kwok", ["system:masters"])),
            "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
            "node-lease-duration-seconds": "40",
            "config": str(KWOK.folder / "stages.yaml"),
        },
        folder=stage.cluster.folder,
    )
    ports = stage.cluster.ports
    environment = {
        "DISABLE_LEADER_ELECTION": "true",
        "SYSTEM_NAMESPACE": "kube-system",
        "KARPENTER_SERVICE": "karpenter",
        "METRICS_PORT": str(ports.take()),
        "HEALTH_PROBE_PORT": str(ports.take()),
        "BATCH_IDLE_DURATION": "1s",
    }
    stage.real.append("kwok, as the machines of Karpenter")
    try:
        await kwok.start()
        async with running(stage, KARPENTER, {}, environment=environment):
            yield
    finally:
        kwok.kill_now()


async def _the_pool(stage: Stage) -> None:
    await stage.api.create(
        "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses",
        {
            "apiVersion": "karpenter.kwok.sh/v1alpha1",
            "kind": "KWOKNodeClass",
            "metadata": {"name": "default"},
        },
    )
    reference = {
        "group": "karpenter.kwok.sh",
        "kind": "KWOKNodeClass",
        "name": "default",
    }
    only = [
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("karpenter.sh/capacity-type", "on-demand"),
    ]
    requirements: list[dict[str, Any]] = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in only
    ]
    await stage.api.create(
        "/apis/karpenter.sh/v1/nodepools",
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {
                "disruption": {
                    "consolidationPolicy": "WhenEmptyOrUnderutilized",
                    "consolidateAfter": "5s",
                    "budgets": [{"nodes": "100%"}],
                },
                "template": {
                    "spec": {
                        "nodeClassRef": reference,
                        "requirements": requirements,
                        "expireAfter": "Never",
                    }
                },
            },
        },
    )


@incident("scale-down", nodes=1)
async def scale_down(stage: Stage) -> None:
    """Karpenter consolidates: a node goes, and its last Pod moves."""
    async with _karpenter(stage):
        await _the_pool(stage)
        await stage.cluster.kubectl("cordon", "gpu-001")
        async with asyncio.TaskGroup() as group:
            # Pending at once, they get one node for both.
            making = [
                group.create_task(
                    the_deployment(stage.api, name, 1, gpus=0, grace=1)
                )
                for name in ("burst", "chat")
            ]
        burst, chat = (task.result() for task in making)
        (node,) = {*burst.pods.values(), *chat.pods.values()}
        await stage.cluster.kubectl("uncordon", "gpu-001")
        stage.nodes.append(NodeFacts(name=node, rack=None, gpus=-1))
        stage.expect(
            node,
            "removed",
            "planned",
            decision="scale-down",
            actor=a_controller("karpenter"),
            boots=(None, None),
            back_in_service=False,
            at_most="proven",
        )
        stage.hit(chat, node, outcome="rescheduled", hit_by="drain")
        stage.not_hit(burst)
        async with stage.recording(*CLAIMS):
            stage.did("scaled", "serve/burst is scaled to nothing")
            await stage.api.patch(BUSY, {"spec": {"replicas": 0}})
            path = f"/api/v1/nodes/{node}"

            async def gone() -> bool:
                return not await stage.api.answers(path)

            await until(gone, f"{node} is gone", seconds=SCALED_SECONDS)
            stage.did("gone", f"the Node {node} is gone")
            await stage.pause(6)
