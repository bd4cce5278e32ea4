"""Machines, pods and users of the test cluster.

All share one cluster and have a namespace each. What stops or rewinds a part
of the control plane is in `test_controlplane`.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from tests.cluster.cluster import Cluster, KubectlError
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until

shared = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def cluster(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Cluster]:
    machines = [
        replace(spec, status_every="1s") for spec in gpu_machines(2, racks=2)
    ]
    folder = tmp_path_factory.mktemp("shared") / "cluster"
    async with Cluster.start(folder, Options(machines=tuple(machines))) as up:
        yield up


async def start_job(
    cluster: Cluster, namespace: str, *command: str, pods: int = 1
) -> None:
    container = {
        "name": "main",
        "image": "registry.example/trainer:1",
        "command": command,
        "resources": {"limits": {"nvidia.com/gpu": "4"}},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {
            "completions": pods,
            "parallelism": pods,
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}
            },
        },
    }
    await cluster.kubectl("create", "namespace", namespace)
    await until(
        lambda: cluster.api.answers(
            f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        ),
        "pods can be made",
    )
    await cluster.api.create(
        f"/apis/batch/v1/namespaces/{namespace}/jobs", job
    )


async def pods(cluster: Cluster, namespace: str) -> list[dict[str, Any]]:
    listed = await cluster.api.get(f"/api/v1/namespaces/{namespace}/pods")
    items: list[dict[str, Any]] = listed["items"]
    return items


def ended(pod: dict[str, Any]) -> dict[str, Any]:
    """Return how the container of a pod ended, or nothing."""
    for status in pod["status"].get("containerStatuses", ()):
        state: dict[str, Any] = status["state"].get("terminated", {})
        return state
    return {}


@shared
async def test_a_job_runs_on_the_kubelets_and_ends(cluster: Cluster) -> None:
    await start_job(cluster, "ends", "sleep", "1", pods=4)

    async def done() -> bool:
        path = "/apis/batch/v1/namespaces/ends/jobs/train"
        job = await cluster.api.get(path)
        return bool(job["status"].get("succeeded", 0) == 4)

    await until(done, "the job is done")
    nodes = {p["spec"]["nodeName"] for p in await pods(cluster, "ends")}
    assert nodes == {"gpu-001", "gpu-002"}


@shared
async def test_a_pod_fails_on_request(cluster: Cluster) -> None:
    await start_job(cluster, "fails", "torchrun")

    async def bound() -> bool:
        return any(
            "nodeName" in p["spec"] for p in await pods(cluster, "fails")
        )

    await until(bound, "the pod has a node")
    [pod] = await pods(cluster, "fails")
    machine = cluster.machines[pod["spec"]["nodeName"]]
    await machine.fail_pod("fails", pod["metadata"]["name"], 137, "OOMKilled")

    async def failed() -> bool:
        return any(
            ended(p).get("reason") == "OOMKilled"
            for p in await pods(cluster, "fails")
        )

    await until(failed, "the pod failed")


@shared
async def test_a_device_plugin_loses_gpus(cluster: Cluster) -> None:
    path = "/api/v1/nodes/gpu-001"

    async def allocatable(count: str) -> bool:
        status = (await cluster.api.get(path))["status"]
        assert status["capacity"]["nvidia.com/gpu"] == "8"
        return bool(status["allocatable"]["nvidia.com/gpu"] == count)

    for count in (6, 8):
        cluster.machines["gpu-001"].set_healthy_gpus(count)
        await until(lambda n=str(count): allocatable(n), f"{count} are left")


@shared
async def test_a_machine_comes_back_with_another_boot_id(
    cluster: Cluster,
) -> None:
    machine = cluster.machines["gpu-002"]
    await start_job(cluster, "crashes", "torchrun", pods=4)

    async def running() -> bool:
        phases = [p["status"]["phase"] for p in await pods(cluster, "crashes")]
        return phases.count("Running") == 4

    await until(running, "all pods run")
    first = machine.boot_id
    await machine.crash()
    second = await machine.boot()
    assert first != second

    async def rebooted() -> bool:
        events = await cluster.api.get(
            "/api/v1/events", fieldSelector="reason=Rebooted"
        )
        return any(second in event["message"] for event in events["items"])

    async def lost() -> bool:
        return any(
            ended(p).get("exitCode") == 255
            for p in await pods(cluster, "crashes")
        )

    await until(rebooted, "an Event reports the reboot")
    await until(lost, "its containers are lost")
    node = await cluster.api.get("/api/v1/nodes/gpu-002")
    assert node["status"]["nodeInfo"]["bootID"] == second


@shared
async def test_containers_outlive_a_kubelet(cluster: Cluster) -> None:
    machine = cluster.machines["gpu-001"]
    before = machine.kubelet.pid, machine.runtime.pid
    await machine.restart_kubelet()
    await cluster.until_ready("gpu-001")

    assert machine.kubelet.pid != before[0]
    assert machine.runtime.pid == before[1]


@shared
async def test_users_may_only_what_they_are_given(cluster: Cluster) -> None:
    alice = cluster.user("alice", ["readers"])
    with pytest.raises(KubectlError, match='User "alice" cannot list'):
        await cluster.kubectl("get", "nodes", kubeconfig=alice)

    await cluster.kubectl(
        "create", "clusterrolebinding", "readers",
        "--clusterrole=view", "--group=readers",
    )  # fmt: skip
    await cluster.kubectl("get", "pods", kubeconfig=alice)
    account = await cluster.service_account("default", "default")
    with pytest.raises(KubectlError, match="serviceaccount:default:default"):
        await cluster.kubectl("get", "nodes", kubeconfig=account)
