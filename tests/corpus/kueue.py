"""Kueue, and a queue for the GPUs of a cluster."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import yaml

from tests.cluster.waiting import until
from tests.corpus.operators import KUEUE, install_webhooks, running
from tests.corpus.placing import the_namespace
from tests.corpus.stage import Stage

__all__ = ["LWS_FRAMEWORK", "QUEUED", "kueue_controller", "the_queues"]

GROUP = "/apis/kueue.x-k8s.io/v1beta1"

QUEUED = (
    "kueue.x-k8s.io/v1beta1/workloads",
    "kueue.x-k8s.io/v1beta1/clusterqueues",
)

SECRET = "kueue-webhook-server-cert"

NAMESPACE = "kueue-system"

LWS_FRAMEWORK = "leaderworkerset.x-k8s.io/leaderworkerset"
"""Needs the webhooks of Kueue, which hold the Pods of a group back."""


@asynccontextmanager
async def kueue_controller(
    stage: Stage, frameworks: Sequence[str] = ("batch/job",)
) -> AsyncIterator[None]:
    """Run Kueue for some kinds of workloads."""
    await the_namespace(stage.api, NAMESPACE)
    # Kueue fills it with certificates, which the webhooks do not use.
    secret = {"metadata": {"name": SECRET}}
    await stage.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", secret)
    port = stage.cluster.ports.take()
    config = await asyncio.to_thread(_config, stage, frameworks, port)
    flags = {"config": str(config), "zap-devel": "false"}
    async with running(stage, KUEUE, flags):
        if LWS_FRAMEWORK in frameworks:
            await install_webhooks(
                stage, KUEUE, "config/components/webhook/manifests.yaml", port
            )
        yield


def _config(stage: Stage, frameworks: Sequence[str], port: int) -> Path:
    """Write what Kueue needs to run beside the cluster, not in it."""
    folder = stage.folder / "kueue"
    folder.mkdir()
    pair = stage.cluster.authority.server()
    for name in ("tls.crt", "ca.crt"):
        (folder / name).write_bytes(pair.certificate.read_bytes())
    (folder / "tls.key").write_bytes(pair.key.read_bytes())
    ports = stage.cluster.ports
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta1",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "internalCertManagement": {
            "enable": True,
            "webhookSecretName": SECRET,
        },
        "featureGates": {"VisibilityOnDemand": False},
        "leaderElection": {"leaderElect": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports.take()}"},
        "webhook": {
            "host": "127.0.0.1",
            "port": port,
            "certDir": str(folder),
        },
        "integrations": {"frameworks": list(frameworks)},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


async def the_queues(
    stage: Stage, *, gpus: int, others: Mapping[str, str] | None = None
) -> None:
    """Make one queue for all GPUs, in which priority preempts.

    ``others`` are quotas of further resources that Pods request.
    """
    api = stage.api
    await api.create(
        f"{GROUP}/resourceflavors",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "ResourceFlavor",
            "metadata": {"name": "gpu-8x"},
        },
    )
    quotas = {"nvidia.com/gpu": str(gpus), **(others or {})}
    resources = [
        {"name": name, "nominalQuota": quota} for name, quota in quotas.items()
    ]
    flavor = {"name": "gpu-8x", "resources": resources}
    group = {"coveredResources": list(quotas), "flavors": [flavor]}
    await api.create(
        f"{GROUP}/clusterqueues",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "ClusterQueue",
            "metadata": {"name": "gpus"},
            "spec": {
                "namespaceSelector": {},
                "queueingStrategy": "BestEffortFIFO",
                "preemption": {"withinClusterQueue": "LowerPriority"},
                "resourceGroups": [group],
            },
        },
    )
    await api.create(
        f"{GROUP}/namespaces/train/localqueues",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "LocalQueue",
            "metadata": {"name": "gpus"},
            "spec": {"clusterQueue": "gpus"},
        },
    )

    async def active() -> bool:
        queue = await api.get(f"{GROUP}/clusterqueues/gpus")
        return any(
            condition["type"] == "Active" and condition["status"] == "True"
            for condition in queue.get("status", {}).get("conditions", ())
        )

    await until(active, "the queue admits work", seconds=60)
