"""What several stories do: machines that go down, Pods of any owner."""

from collections.abc import Mapping
from typing import Any

from tests.cluster.client import ApiClient
from tests.cluster.waiting import until
from tests.corpus.acting import Controller, moment
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    controller_of,
    wait_running,
)
from tests.corpus.placing import Placed, place, pod_spec, the_namespace

__all__ = [
    "die_and_boot",
    "end_pod",
    "evict_pod",
    "is_over",
    "owned_pod",
    "pod_reference",
    "power_cycle",
    "the_statefulset",
]


async def power_cycle(
    stage: BlindStage, node: str, *, os_image: str | None = None
) -> None:
    """Switch a machine off and on, into another OS image if one is given."""
    await stage.crash(node, label="off")
    if os_image is not None:
        stage.machine(node).kubelet.flags["os-image"] = os_image
    await stage.pause(7)
    await stage.boot(node)
    await stage.ready(node)


async def die_and_boot(stage: BlindStage, node: str) -> None:
    """Let a machine lose power, be given up, and boot."""
    await stage.crash(node)
    await stage.is_unknown(node)
    await stage.pause(8)
    await stage.boot(node)
    await stage.ready(node)


async def owned_pod(
    stage: BlindStage,
    namespace: str,
    name: str,
    owner: Mapping[str, Any] | None,
    *,
    api: ApiClient | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> None:
    """Create a Pod of an owner, or of none, and wait until it runs."""
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {"pod": name, **(labels or {})},
    }
    if owner is not None:
        metadata["ownerReferences"] = controller_of(owner)
    await (api or stage.api).create(
        f"/api/v1/namespaces/{namespace}/pods",
        {"metadata": metadata, "spec": pod_spec(**spec)},
    )
    await wait_running(stage, namespace, f"pod={name}", 1)


async def the_statefulset(
    stage: BlindStage, namespace: str, name: str, **spec: Any
) -> Placed:
    """Make a StatefulSet of one Pod, and wait until it runs."""
    await the_namespace(stage.api, namespace)
    template = pod_spec(**spec)
    del template["restartPolicy"]
    labels = {"app": name}
    await stage.api.create(
        f"/apis/apps/v1/namespaces/{namespace}/statefulsets",
        {
            "metadata": {"name": name},
            "spec": {
                "replicas": 1,
                "serviceName": name,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": template},
            },
        },
    )
    named = ("StatefulSet", namespace, name)
    gpus = spec.get("gpus", 8)
    return await place(
        stage.api, named, f"app={name}", 1, gang=None, gpus=gpus
    )


async def evict_pod(acting: Controller, namespace: str, name: str) -> None:
    """Evict one Pod."""
    await acting.create(
        f"/api/v1/namespaces/{namespace}/pods/{name}/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        },
    )


async def pod_reference(
    stage: BlindStage, namespace: str, name: str
) -> dict[str, Any]:
    """Return a Pod as an Event refers to it."""
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    found = await stage.api.get(path)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": namespace,
        "name": name,
        "uid": found["metadata"]["uid"],
    }


async def end_pod(
    acting: Writer, name: str, reason: str, message: str, code: int
) -> None:
    """Report that the kubelet ended a Pod of the namespace train."""
    path = f"/api/v1/namespaces/train/pods/{name}"
    terminated = {
        "exitCode": code,
        "reason": "Error",
        "startedAt": moment(),
        "finishedAt": moment(),
    }
    found = await acting.api.get(path)
    statuses = found["status"]["containerStatuses"]
    for status in statuses:
        status.update(ready=False, state={"terminated": terminated})
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "TerminationByKubelet",
        "message": message,
        "lastTransitionTime": moment(),
    }
    status = {
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "conditions": [condition],
        "containerStatuses": statuses,
    }
    await acting.patch(f"{path}/status", {"status": status}, kind="strategic")


async def is_over(
    stage: BlindStage, namespace: str, name: str
) -> dict[str, Any] | None:
    """Wait until a Pod has failed or is gone; return it if it is there."""
    found: list[dict[str, Any]] = []

    async def over() -> bool:
        listed = await stage.api.get(
            f"/api/v1/namespaces/{namespace}/pods",
            fieldSelector=f"metadata.name={name}",
        )
        found[:] = listed["items"]
        return all(
            pod["status"].get("phase") in {"Failed", "Succeeded"}
            for pod in found
        )

    await until(over, f"{name} is over", seconds=120, every=0.5)
    return found[0] if found else None
