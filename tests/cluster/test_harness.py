"""The test cluster itself: what other tests take for granted about it."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.oracle import LogRow
from tests.cluster.waiting import until

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as started:
        yield started


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Cluster]:
    """An API server and its etcd: nobody writes but the test."""
    options = Options(controller_manager=False, scheduler=False)
    async with Cluster.start(tmp_path / "cluster", options) as started:
        yield started


def a_job(name: str, *, command: list[str], pods: int = 2) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completions": pods,
            "parallelism": pods,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example/trainer:1",
                            "command": command,
                            "resources": {"limits": {"nvidia.com/gpu": "8"}},
                        }
                    ],
                }
            },
        },
    }


async def phases(cluster: Cluster) -> dict[str, str]:
    listed = await cluster.api.get(PODS)
    return {
        pod["spec"].get("nodeName", ""): pod["status"]["phase"]
        for pod in listed["items"]
    }


async def test_a_job_runs_on_the_kubelets_and_ends(cluster: Cluster) -> None:
    await cluster.api.create(JOBS, a_job("short", command=["sleep", "1"]))

    async def done() -> bool:
        job = await cluster.api.get(f"{JOBS}/short")
        return bool(job["status"].get("succeeded", 0) == 2)

    await until(done, "the job is done")
    assert set(await phases(cluster)) == {"gpu-001", "gpu-002"}


async def test_a_machine_crashes_and_comes_back_with_another_boot_id(
    cluster: Cluster,
) -> None:
    machine = cluster.machines["gpu-002"]
    await cluster.api.create(JOBS, a_job("long", command=["train"]))

    async def running() -> bool:
        return list((await phases(cluster)).values()) == ["Running"] * 2

    await until(running, "both pods run")
    first = machine.boot_id
    await machine.crash()
    second = await machine.boot()

    async def rebooted() -> bool:
        events = await cluster.api.get(
            "/api/v1/events", fieldSelector="reason=Rebooted"
        )
        return any(second in e["message"] for e in events["items"])

    await until(rebooted, "an Event tells the reboot")
    node = await cluster.api.get("/api/v1/nodes/gpu-002")
    assert first != second
    assert node["status"]["nodeInfo"]["bootID"] == second

    async def lost() -> bool:
        listed = await cluster.api.get(PODS)
        return any(
            status["state"].get("terminated", {}).get("exitCode") == 255
            for pod in listed["items"]
            for status in pod["status"].get("containerStatuses", ())
        )

    await until(lost, "the container of the machine is lost")


async def test_a_pod_fails_as_told_and_gpus_are_lost(
    cluster: Cluster,
) -> None:
    await cluster.api.create(JOBS, a_job("fails", command=["train"], pods=1))
    names: list[str] = []

    async def bound() -> bool:
        for pod in (await cluster.api.get(PODS))["items"]:
            names[:] = [pod["metadata"]["name"], pod["spec"].get("nodeName")]
        return bool(names and names[1])

    await until(bound, "the pod has a node")
    pod_name, node = names
    await cluster.machines[node].fail_pod(
        "default", pod_name, 137, "OOMKilled"
    )

    async def failed() -> bool:
        pod = await cluster.api.get(f"{PODS}/{pod_name}")
        statuses = pod["status"].get("containerStatuses", [])
        ended = statuses and statuses[0]["state"].get("terminated")
        return bool(ended and ended["reason"] == "OOMKilled")

    await until(failed, "the pod failed")


async def test_a_restore_begins_an_epoch_with_the_state_of_the_snapshot(
    bare: Cluster, tmp_path: Path
) -> None:
    kept = await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "kept"}})
    await bare.snapshot(tmp_path / "snapshot")
    await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "lost"}})
    await bare.oracle.caught_up()
    before = bare.oracle.revision

    await bare.restore(tmp_path / "snapshot")
    await bare.oracle.caught_up()

    seen = bare.oracle.versions("configmaps", namespace="default")
    assert [(v.epoch, v.name) for v in seen] == [
        (1, "kept"),
        (1, "lost"),
        (2, "kept"),
    ]
    assert seen[2].uid == kept["metadata"]["uid"]
    assert seen[2].revision < seen[1].revision <= before


async def test_the_oracle_sees_every_write(bare: Cluster) -> None:
    """What the writer knows of its own writes equals what the oracle saw."""
    choose = random.Random(7)
    rows: list[LogRow] = []
    living: dict[str, str] = {}
    for number in range(120):
        name = f"object-{choose.randrange(8)}"
        operation = "added"
        if name in living:
            operation = "deleted" if choose.random() < 0.3 else "modified"
        uid, revision = await write(bare, operation, name, number)
        uid = uid or living.pop(name)
        if operation == "added":
            living[name] = uid
        rows.append(
            LogRow(
                epoch=1,
                group="",
                resource="configmaps",
                namespace="default",
                name=name,
                uid=uid,
                revision=revision,
                operation=operation,
                order=number,
            )
        )
    await bare.oracle.caught_up()

    def wrong(rows: list[LogRow]) -> list[str]:
        found = bare.oracle.compare(rows, resources=[("", "configmaps")])
        return [difference for difference in found if "object-" in difference]

    assert wrong(rows) == []
    for missing in (0, 60, 119):
        assert wrong(rows[:missing] + rows[missing + 1 :]) != []
    assert wrong([*rows, replace(rows[-1], order=120)]) != []


async def write(
    cluster: Cluster, operation: str, name: str, number: int
) -> tuple[str, int]:
    """Return uid and revision as the writer learns them."""
    path = f"{CONFIG_MAPS}/{name}"
    if operation == "deleted":
        # A delete does not answer with its revision. The API server writes
        # too, so that etcd's own only bounds it.
        before = await cluster.etcd_client.revision()
        await cluster.api.delete(path)
        await cluster.oracle.caught_up()
        end = cluster.oracle.versions("configmaps", name=name)[-1]
        assert end.deleted
        assert before < end.revision <= cluster.oracle.revision
        return "", end.revision
    if operation == "added":
        body = {"metadata": {"name": name}}
        written = await cluster.api.create(CONFIG_MAPS, body)
    else:
        written = await cluster.api.patch(path, {"data": {"n": str(number)}})
    metadata = written["metadata"]
    return metadata["uid"], int(metadata["resourceVersion"])
