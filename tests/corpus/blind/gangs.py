"""Gangs of JobSet, LeaderWorkerSet, and of operators that own Pods directly.

What the operators write is written here, under their labels and owners, so
that no operator must run. Pods that are lost come back by `made_again`.
"""

from collections.abc import Sequence
from typing import Any

from tests.cluster.waiting import until
from tests.corpus.blind.acts import is_over, owned_pod
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    controller_of,
    define,
    wait_running,
)
from tests.corpus.placing import (
    Placed,
    a_job,
    place,
    pod_spec,
    the_namespace,
)

__all__ = [
    "custom",
    "made_again",
    "recreate_group",
    "the_gang",
    "the_group",
    "the_jobset",
]

LWS = "leaderworkerset.sigs.k8s.io"


async def custom(  # noqa: PLR0913 - an object has many words
    stage: BlindStage,
    group: str,
    version: str,
    kind: str,
    name: str,
    *,
    namespace: str = "train",
    owner: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """Define a kind, and create an object of it in a namespace."""
    api = f"/apis/{group}/{version}"
    plural = f"{kind.lower()}s"
    if not await stage.api.answers(f"{api}/{plural}"):
        await define(stage, group, version, kind)
    await the_namespace(stage.api, namespace)
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        metadata["ownerReferences"] = controller_of(owner)
    created: dict[str, Any] = await stage.api.create(
        f"{api}/namespaces/{namespace}/{plural}",
        {
            "apiVersion": f"{group}/{version}",
            "kind": kind,
            "metadata": metadata,
            "spec": spec,
        },
    )
    return created


async def the_gang(
    stage: BlindStage,
    owner: dict[str, Any],
    nodes: Sequence[str],
    *,
    gpus: int = 8,
    labels: dict[str, str] | None = None,
) -> None:
    """Create a Pod of an owner on each node."""
    meta = owner["metadata"]
    for index, node in enumerate(nodes):
        await owned_pod(
            stage,
            meta["namespace"],
            f"{meta['name']}-worker-{index}",
            owner,
            labels=labels,
            gpus=gpus,
            nodes=(node,),
        )


async def made_again(  # noqa: PLR0913 - a Pod has many words
    stage: BlindStage,
    acting: Writer,
    owner: dict[str, Any],
    name: str,
    node: str,
    *,
    gpus: int = 8,
    labels: dict[str, str] | None = None,
) -> None:
    """Let the operator of an owner create a Pod that is lost again."""
    namespace = owner["metadata"]["namespace"]
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    pod = await is_over(stage, namespace, name)
    if pod is not None and "deletionTimestamp" not in pod["metadata"]:
        await acting.delete_pod(namespace, name)
    await stage.is_gone(path)
    stage.did(f"again {name}", f"the operator creates {name} again")
    await owned_pod(
        stage,
        namespace,
        name,
        owner,
        api=acting.api,
        labels=labels,
        gpus=gpus,
        nodes=(node,),
    )


async def the_jobset(
    stage: BlindStage, name: str, pods: int, **spec: Any
) -> Placed:
    """Create the JobSet train/NAME, and its only Job."""
    job = a_job(f"{name}-workers-0", pods, pod_spec(**spec))
    owner = await custom(
        stage,
        "jobset.x-k8s.io",
        "v1alpha2",
        "JobSet",
        name,
        replicatedJobs=[
            {
                "name": "workers",
                "replicas": 1,
                "template": {"spec": job["spec"]},
            }
        ],
    )
    labels = {
        "jobset.sigs.k8s.io/jobset-name": name,
        "jobset.sigs.k8s.io/replicatedjob-name": "workers",
        "jobset.sigs.k8s.io/job-index": "0",
        "jobset.sigs.k8s.io/restart-attempt": "0",
    }
    job["metadata"] |= {
        "labels": labels,
        "ownerReferences": controller_of(owner),
    }
    job["spec"]["template"]["metadata"] = {"labels": labels}
    await stage.api.create("/apis/batch/v1/namespaces/train/jobs", job)
    return await place(
        stage.api,
        ("JobSet", "train", name),
        f"jobset.sigs.k8s.io/jobset-name={name}",
        pods,
        gang=pods,
        gpus=spec.get("gpus", 8),
    )


def _of_group(name: str, index: int) -> dict[str, str]:
    return {
        f"{LWS}/name": name,
        f"{LWS}/group-index": "0",
        f"{LWS}/group-key": f"{name}-0",
        f"{LWS}/worker-index": str(index),
    }


async def _stateful(
    stage: BlindStage,
    name: str,
    owner: dict[str, Any],
    worker: int,
    node: str,
) -> None:
    """Create the StatefulSet of the leader, or of the workers, of a group."""
    group = owner["metadata"]["labels"][f"{LWS}/name"]
    labels = _of_group(group, worker)
    template = pod_spec(nodes=(node,), command=("vllm", "serve"))
    del template["restartPolicy"]
    sized = {f"{LWS}/size": "2"}
    await stage.api.create(
        "/apis/apps/v1/namespaces/serving/statefulsets",
        {
            "metadata": {
                "name": name,
                "labels": {f"{LWS}/name": group},
                "ownerReferences": controller_of(owner),
            },
            "spec": {
                "replicas": 1,
                "serviceName": group,
                "podManagementPolicy": "Parallel",
                "ordinals": {"start": worker},
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels, "annotations": sized},
                    "spec": template,
                },
            },
        },
    )


async def _leader(stage: BlindStage, name: str) -> dict[str, Any]:
    path = f"/api/v1/namespaces/serving/pods/{name}-0"
    await until(lambda: stage.api.answers(path), f"{name}-0 is there")
    found: dict[str, Any] = await stage.api.get(path)
    return found | {"apiVersion": "v1", "kind": "Pod"}


async def the_group(
    stage: BlindStage, name: str, leader: str, worker: str
) -> None:
    """Create the LeaderWorkerSet serving/NAME with one group of two Pods."""
    owner = await custom(
        stage,
        "leaderworkerset.x-k8s.io",
        "v1",
        "LeaderWorkerSet",
        name,
        namespace="serving",
        replicas=1,
        leaderWorkerTemplate={
            "size": 2,
            "restartPolicy": "RecreateGroupOnPodRestart",
        },
    )
    owner["metadata"]["labels"] = {f"{LWS}/name": name}
    await _stateful(stage, name, owner, 0, leader)
    await _stateful(stage, f"{name}-0", await _leader(stage, name), 1, worker)
    await wait_running(stage, "serving", f"{LWS}/name={name}", 2)


async def recreate_group(
    stage: BlindStage, acting: Writer, name: str, worker: str
) -> None:
    """Delete a group's leader, as LeaderWorkerSet does for a lost worker."""
    old = await _leader(stage, name)
    await acting.delete_pod("serving", f"{name}-0")
    workers = f"/apis/apps/v1/namespaces/serving/statefulsets/{name}-0"
    await stage.is_gone(workers)

    async def renewed() -> bool:
        now = await _leader(stage, name)
        return bool(now["metadata"]["uid"] != old["metadata"]["uid"])

    await until(renewed, f"{name}-0 is another", seconds=60)
    await _stateful(stage, f"{name}-0", await _leader(stage, name), 1, worker)
