"""How incidents are played in which machines die by themselves."""

from collections.abc import Mapping
from typing import Any

from tests.cluster.cluster import KubectlError
from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import (
    die_and_boot,
    power_cycle,
    the_statefulset,
)
from tests.corpus.blind.stage import BlindStage, story, wait_running, writer
from tests.corpus.blind5.stories.acts import DRAIN, again
from tests.corpus.blind6.stories.acts import the_budget
from tests.corpus.blinding import blinded
from tests.corpus.placing import the_deployment, the_job
from tests.corpus.tape_lines import Lines

SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown"


def _blind(tape: Lines, times: Mapping[str, Any]) -> Lines:
    return blinded(tape, times["gap"], times["heard"], "v1/nodes")


@story("g09_hpe_pod_monitor", "hp-1", "hp-2", tolerate=60)
async def g09(stage: BlindStage) -> None:
    mosaic = await the_deployment(
        stage.api, "mosaic", 1, gpus=1, nodes=("hp-1", "hp-2"), prefer="hp-1"
    )
    asr = await the_job(stage.api, "asr", 1, gpus=4, nodes=("hp-1",))
    pod = mosaic.on("hp-1")
    await stage.api.patch(
        f"/api/v1/namespaces/serve/pods/{pod}",
        {"metadata": {"labels": {"monitored-by": "hpe-csi"}}},
    )
    user = "system:serviceaccount:hpe-storage:hpe-csi-controller-sa"
    async with stage.recording(), writer(stage, "csi-driver", user) as driver:
        await stage.pause(1)
        await stage.crash("hp-1")
        await stage.is_unknown("hp-1")
        await stage.pause(4)
        stage.did("deleted", "HPE's pod monitor deletes the Pod of mosaic")
        await driver.delete_pod("serve", pod, grace=0)
        await wait_running(stage, "serve", "app=mosaic", 1, without=pod)
        await stage.pause(5)
        await stage.boot("hp-1")
        await stage.ready("hp-1")
        await again(stage, asr)
        await stage.pause(2)


@story("g10_completed_then_crash", "co-1")
async def g10(stage: BlindStage) -> None:
    short = await the_job(stage.api, "short", 1, gpus=4, nodes=("co-1",))
    long = await the_job(stage.api, "long", 1, gpus=4, nodes=("co-1",))
    path = "/apis/batch/v1/namespaces/train/jobs/short"
    async with stage.recording():
        await stage.pause(2)
        stage.did("completed", "the Job short completes")
        await stage.machine("co-1").finish_pod("train", short.on("co-1"))

        async def complete() -> bool:
            found = await stage.api.get(path)
            return bool(found["status"].get("succeeded"))

        await until(complete, "short is complete")
        await stage.pause(6)
        await die_and_boot(stage, "co-1")
        await again(stage, long)


@story("g11_refused_drain_then_crash", "rf-1", "rf-2", audit=True)
async def g11(stage: BlindStage) -> None:
    lone = await the_deployment(
        stage.api, "lone", 1, gpus=1, nodes=("rf-1", "rf-2"), prefer="rf-1"
    )
    await the_budget(stage, "lone")
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "eva drains rf-1, which times out")
        try:
            await kubectl_as(
                stage, "eva", "drain", "rf-1", "--timeout=8s", *DRAIN
            )
        except KubectlError:
            pass
        else:
            message = "the budget did not hold its Pod"
            raise AssertionError(message)
        stage.did("uncordon", "eva uncordons rf-1")
        await kubectl_as(stage, "eva", "uncordon", "rf-1")
        await stage.pause(12)
        await die_and_boot(stage, "rf-1")
        old = lone.on("rf-1")
        await wait_running(stage, "serve", "app=lone", 1, without=old)


@story("g13_hugo_then_again", "ha-1", "ha-2", audit=True)
async def g13(stage: BlindStage) -> None:
    gan = await the_job(
        stage.api, "gan", 1, nodes=("ha-1", "ha-2"), prefer="ha-1"
    )
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "hugo drains ha-1")
        await kubectl_as(stage, "hugo", "drain", "ha-1", *DRAIN)
        await again(stage, gan)
        await stage.pause(2)
        await power_cycle(stage, "ha-1")
        await stage.pause(2)
        await kubectl_as(stage, "hugo", "uncordon", "ha-1")
        await stage.pause(2)
        stage.did("uncordon", "hugo has uncordoned ha-1")
        following = await the_job(stage.api, "next", 1, nodes=("ha-1",))
        await stage.pause(12)
        await stage.crash("ha-1")
        await stage.is_unknown("ha-1")
        await stage.pause(8)
        await stage.boot("ha-1", 3, label="again")
        await stage.ready("ha-1")
        await again(stage, following)


@story(
    "g14_drain_beside_partition",
    "pa-1",
    "pa-2",
    "pa-3",
    audit=True,
    tolerate=300,
)
async def g14(stage: BlindStage) -> None:
    srgan = await the_job(
        stage.api, "srgan", 1, nodes=("pa-1", "pa-3"), prefer="pa-1"
    )
    await the_job(stage.api, "tts", 1, nodes=("pa-2",))
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "kim drains pa-1")
        await kubectl_as(stage, "kim", "drain", "pa-1", *DRAIN)
        await again(stage, srgan)
        stage.did("hang", "pa-2 cannot be reached")
        stage.machine("pa-2").hang()
        await stage.pause(3)
        await power_cycle(stage, "pa-1")
        await stage.is_unknown("pa-2")
        await stage.pause(8)
        stage.did("uncordon", "kim uncordons pa-1")
        await kubectl_as(stage, "kim", "uncordon", "pa-1")
        stage.did("answers", "pa-2 can be reached again")
        stage.machine("pa-2").resume()
        await stage.ready("pa-2")
        await stage.pause(6)


@story("g15_nodes_not_heard", "nn-1", edit=_blind)
async def g15(stage: BlindStage) -> None:
    hmm = await the_job(stage.api, "hmm", 1, nodes=("nn-1",))
    async with stage.recording():
        await stage.pause(3)
        stage.did("gap", "Nodes are not heard any more")
        await stage.pause(3)
        await die_and_boot(stage, "nn-1")
        await stage.pause(2)
        stage.did("heard", "Nodes are heard again")
        await again(stage, hmm)
        await stage.pause(2)


@story("g16_one_host_two_nodes", "vm-1", "vm-2")
async def g16(stage: BlindStage) -> None:
    both = ("vm-1", "vm-2")
    duo = await the_job(stage.api, "duo", 2, gpus=5, nodes=both)
    pair = await the_deployment(stage.api, "pair", 2, gpus=2, nodes=both)
    assert set(duo.pods.values()) == set(pair.pods.values()) == set(both)
    async with stage.recording():
        await stage.pause(2)
        await stage.crash(*both)
        await stage.is_unknown(*both)
        await stage.pause(6)
        await stage.boot("vm-1")
        await stage.boot("vm-2", label="boot of the other")
        await stage.ready(*both)
        job = "batch.kubernetes.io/job-name=duo"
        await wait_running(stage, "train", job, 2)
        await wait_running(stage, "serve", "app=pair", 2)
        await stage.pause(3)


@story("g17_statefulset_waits", "ss-1", "ss-2")
async def g17(stage: BlindStage) -> None:
    index = await the_statefulset(
        stage, "db", "index", gpus=2, nodes=("ss-1",)
    )
    await the_job(stage.api, "steady", 1, nodes=("ss-2",))
    path = f"/api/v1/namespaces/db/pods/{index.on('ss-1')}"
    first = (await stage.api.get(path))["metadata"]["uid"]
    async with stage.recording():
        await stage.pause(2)
        await stage.crash("ss-1")
        await stage.is_unknown("ss-1")
        await stage.pause(14)
        await stage.boot("ss-1")
        await stage.ready("ss-1")

        async def another() -> bool:
            if not await stage.api.answers(path):
                return False
            found = await stage.api.get(path)
            return bool(found["metadata"]["uid"] != first)

        await until(another, "db/index-0 is another", seconds=90)
        await wait_running(stage, "db", "app=index", 1)
        await stage.pause(3)


@story("g18_quota_keeps_it_down", "qu-1")
async def g18(stage: BlindStage) -> None:
    board = await the_deployment(
        stage.api, "board", 1, gpus=1, nodes=("qu-1",)
    )
    tcn = await the_job(stage.api, "tcn", 1, gpus=4, nodes=("qu-1",))
    quotas = "/api/v1/namespaces/serve/resourcequotas"
    await stage.api.create(
        quotas,
        {"metadata": {"name": "closing"}, "spec": {"hard": {"pods": "0"}}},
    )

    async def counted() -> bool:
        found = await stage.api.get(f"{quotas}/closing")
        used: dict[str, Any] = found.get("status", {}).get("used", {})
        return used.get("pods") == "1"

    await until(counted, "the quota counts its Pod")
    old = board.on("qu-1")
    async with stage.recording():
        await stage.pause(2)
        await die_and_boot(stage, "qu-1")
        await again(stage, tcn)
        await stage.is_gone(f"/api/v1/namespaces/serve/pods/{old}")
        await stage.pause(6)
        listed = await stage.api.get("/api/v1/namespaces/serve/pods")
        assert not listed["items"]


@story("g19_job_without_retries", "br-1")
async def g19(stage: BlindStage) -> None:
    await the_job(stage.api, "once", 1, gpus=4, nodes=("br-1",), retries=0)
    many = await the_job(stage.api, "many", 1, gpus=4, nodes=("br-1",))
    path = "/apis/batch/v1/namespaces/train/jobs/once"
    async with stage.recording():
        await stage.pause(2)
        await die_and_boot(stage, "br-1")
        await again(stage, many)

        async def failed() -> bool:
            found = await stage.api.get(path)
            conditions = found["status"].get("conditions", ())
            return any(one["type"] == "Failed" for one in conditions)

        await until(failed, "once has failed", seconds=60)
        await stage.pause(3)


@story("g20_cloud_shut_down", "cs-1")
async def g20(stage: BlindStage) -> None:
    mae = await the_job(stage.api, "mae", 1, nodes=("cs-1",))
    user = "system:cloud-controller-manager"
    async with (
        stage.recording(),
        writer(stage, "cloud-controller-manager", user) as cloud,
    ):
        await stage.pause(2)
        await stage.crash("cs-1")
        await stage.is_unknown("cs-1")
        await stage.pause(2)
        stage.did("tainted", "the cloud's controller taints cs-1")
        await cloud.taint("cs-1", SHUTDOWN, "", "NoSchedule")
        await stage.pause(8)
        await stage.boot("cs-1")
        stage.did("untainted", "the cloud's controller takes it back")
        await cloud.untaint("cs-1", SHUTDOWN)
        await stage.ready("cs-1")
        await again(stage, mae)
        await stage.pause(2)
