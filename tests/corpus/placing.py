"""Workloads of an incident, and where their Pods are when it begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.client import ApiClient, ApiError
from tests.cluster.waiting import until

__all__ = [
    "Placed",
    "a_job",
    "place",
    "pod_spec",
    "the_deployment",
    "the_job",
    "the_namespace",
]

GPU = "nvidia.com/gpu"

RUNNING_SECONDS = 60

CONFLICT = 409


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A workload whose Pods run."""

    kind: str
    namespace: str
    name: str
    gpus: int
    """Of each Pod."""

    gang: int | None
    """How many Pods must run together; None where each runs by itself."""

    pods: Mapping[str, str] = field(default_factory=dict)
    """Names of Pods, and their nodes."""

    @property
    def title(self) -> str:
        """As ``Kind/namespace/name``."""
        return f"{self.kind}/{self.namespace}/{self.name}"

    def on(self, node: str) -> str:
        """Return the only Pod on a node."""
        (pod,) = [pod for pod, where in self.pods.items() if where == node]
        return pod


def pod_spec(
    *,
    gpus: int = 8,
    nodes: Sequence[str] = (),
    prefer: str | None = None,
    command: Sequence[str] = ("torchrun", "train.py"),
    grace: int = 2,
    **more: Any,
) -> dict[str, Any]:
    """Return the spec of a Pod that may run on some nodes only."""
    limits = {GPU: str(gpus)} if gpus else {"cpu": "1"}
    container = {
        "name": "main",
        "image": "registry.example/llm/trainer:2.4",
        "command": list(command),
        "resources": {"limits": limits},
    }
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": grace,
        "containers": [container],
        **more,
    }
    affinity: dict[str, Any] = {}
    if nodes:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [_of_hosts(nodes)]
        }
    if prefer:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 100, "preference": _of_hosts([prefer])}
        ]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    return spec


def _of_hosts(nodes: Sequence[str]) -> dict[str, Any]:
    expression = {
        "key": "kubernetes.io/hostname",
        "operator": "In",
        "values": list(nodes),
    }
    return {"matchExpressions": [expression]}


def a_job(
    name: str,
    pods: int,
    spec: dict[str, Any],
    *,
    retries: int = 100,
    **more: Any,
) -> dict[str, Any]:
    """Return a Job of several Pods that run together."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "backoffLimit": retries,
            "template": {"spec": spec},
            **more,
        },
    }


async def the_namespace(api: ApiClient, name: str) -> None:
    """Make a namespace in which Pods can be made."""
    path = f"/api/v1/namespaces/{name}"
    try:
        await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    except ApiError as error:
        if error.status != CONFLICT:
            raise
    await until(
        lambda: api.answers(f"{path}/serviceaccounts/default"),
        f"pods can be made in {name}",
    )


async def the_job(
    api: ApiClient, name: str, pods: int, *, retries: int = 100, **spec: Any
) -> Placed:
    """Make the Job train/NAME and wait until its Pods run."""
    await the_namespace(api, "train")
    job = a_job(name, pods, pod_spec(**spec), retries=retries)
    await api.create("/apis/batch/v1/namespaces/train/jobs", job)
    return await place(
        api,
        ("Job", "train", name),
        f"batch.kubernetes.io/job-name={name}",
        pods,
        gang=pods,
        gpus=spec.get("gpus", 8),
    )


async def the_deployment(
    api: ApiClient, name: str, replicas: int, **spec: Any
) -> Placed:
    """Make the Deployment serve/NAME and wait until its Pods run."""
    await the_namespace(api, "serve")
    pod = pod_spec(command=("vllm", "serve"), **spec)
    del pod["restartPolicy"]
    labels = {"app": name}
    deployment = {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    path = "/apis/apps/v1/namespaces/serve/deployments"
    await api.create(path, deployment)
    return await place(
        api,
        ("Deployment", "serve", name),
        f"app={name}",
        replicas,
        gang=None,
        gpus=spec.get("gpus", 8),
    )


async def place(
    api: ApiClient,
    named: tuple[str, str, str],
    selector: str,
    count: int,
    *,
    gang: int | None,
    gpus: int,
) -> Placed:
    """Wait until a workload's Pods run, and return where."""
    kind, namespace, name = named
    pods: dict[str, str] = {}

    async def running() -> bool:
        listed = await api.get(
            f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector
        )
        pods.clear()
        for pod in listed["items"]:
            if _runs(pod):
                pods[pod["metadata"]["name"]] = pod["spec"]["nodeName"]
        return len(pods) == count

    await until(running, f"{name} runs", seconds=RUNNING_SECONDS)
    return Placed(
        kind=kind,
        namespace=namespace,
        name=name,
        gpus=gpus,
        gang=gang,
        pods=dict(pods),
    )


def _runs(pod: dict[str, Any]) -> bool:
    return (
        pod["status"].get("phase") == "Running"
        and "deletionTimestamp" not in pod["metadata"]
    )
