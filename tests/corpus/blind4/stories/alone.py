"""How incidents are played that no one decided, or no one on record."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import (
    die_and_boot,
    pod_reference,
    the_statefulset,
)
from tests.corpus.blind.stage import BlindStage, story, wait_running, writer
from tests.corpus.placing import Placed, the_job
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Lines

AHEAD = timedelta(minutes=25)

PODMON = "vxflexos.podmon.storage.dell.com"


async def _again(stage: BlindStage, placed: Placed) -> None:
    """Wait until another Pod of a Job runs than at first."""
    (old,) = placed.pods
    selector = f"batch.kubernetes.io/job-name={placed.name}"
    await wait_running(stage, placed.namespace, selector, 1, without=old)


@story("e07_argocd_prunes_then_crash", "ar-1")
async def e07(stage: BlindStage) -> None:
    pretrain = await the_job(stage.api, "pretrain", 1, gpus=4, nodes=("ar-1",))
    old = await the_job(stage.api, "old-sweep", 1, gpus=4, nodes=("ar-1",))
    user = "system:serviceaccount:argocd:argocd-application-controller"
    async with (
        stage.recording(),
        writer(
            stage,
            "argocd-controller",
            user,
            agent="argocd-application-controller/v0.0.0 (linux/amd64)",
        ) as argocd,
    ):
        stage.did("pruned", "Argo CD prunes train/old-sweep")
        await argocd.api.delete(
            "/apis/batch/v1/namespaces/train/jobs/old-sweep",
            propagationPolicy="Foreground",
        )
        await stage.is_gone(f"/api/v1/namespaces/train/pods/{old.on('ar-1')}")
        await stage.pause(9)
        await die_and_boot(stage, "ar-1")
        await _again(stage, pretrain)


@story("e14_podmon_cleans_up", "pm-1", "pm-2")
async def e14(stage: BlindStage) -> None:
    await the_statefulset(
        stage,
        "store",
        "vectors",
        gpus=1,
        nodes=("pm-1", "pm-2"),
        prefer="pm-1",
    )
    user = "system:serviceaccount:vxflexos:vxflexos-controller"
    async with stage.recording(), writer(stage, "podmon", user) as podmon:
        await stage.crash("pm-1")
        await stage.is_unknown("pm-1")
        await stage.pause(7)
        about = await pod_reference(stage, "store", "vectors-0")
        stage.did("cleanup", "podmon taints pm-1 and deletes its Pod")
        await podmon.taint("pm-1", PODMON, "", "NoSchedule")
        await podmon.event(
            about,
            "NodeFailure",
            f"podmon cleaning pod [{about['uid']} pm-1] with force delete",
            kind="Warning",
        )
        await podmon.delete_pod("store", "vectors-0", 0)
        await wait_running(stage, "store", "app=vectors", 1)
        await stage.pause(2)
        await stage.boot("pm-1")
        await stage.ready("pm-1")
        await stage.pause(2)
        stage.did("untaint", "podmon removes its taint")
        await podmon.untaint("pm-1", PODMON)


@story("e15_unattended_kernel", "ua-1")
async def e15(stage: BlindStage) -> None:
    asr = await the_job(stage.api, "asr", 1, nodes=("ua-1",))
    async with stage.recording():
        stage.did("label", "ulf labels ua-1")
        await kubectl_as(stage, "ulf", "label", "node", "ua-1", "team=speech")
        await stage.pause(15)
        await stage.crash("ua-1", label="off")
        await stage.pause(9)
        await stage.boot("ua-1", kernel="6.8.0-84-generic")
        await stage.ready("ua-1")
        await _again(stage, asr)


@story("e16_vm_paused", "hv-1", "hv-2", tolerate=300)
async def e16(stage: BlindStage) -> None:
    await the_job(stage.api, "tts", 1, nodes=("hv-1",))
    async with stage.recording():
        stage.did("pause", "the hypervisor pauses hv-1")
        stage.machine("hv-1").hang()
        await stage.is_unknown("hv-1")
        await stage.pause(8)
        stage.did("resume", "the hypervisor resumes hv-1")
        stage.machine("hv-1").resume()
        await stage.ready("hv-1")
        await stage.pause(3)


@story("e17_api_server_restarts", "ap-1", "ap-2", grace="40s")
async def e17(stage: BlindStage) -> None:
    await the_job(stage.api, "bert", 1, nodes=("ap-1",))
    async with stage.recording():
        stage.did("api down", "the API server stops")
        await stage.cluster.api_server.kill()
        await stage.pause(7)
        stage.did("api up", "the API server starts")
        await stage.cluster.api_server.start()
        await stage.ready("ap-1", "ap-2")
        await stage.pause(15)


@story("e18_preempted_then_crash", "pr-1")
async def e18(stage: BlindStage) -> None:
    for name, value in (("low", 10), ("urgent", 1000)):
        await stage.api.create(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": name}, "value": value},
        )
    await the_job(
        stage.api, "background", 1, nodes=("pr-1",), priorityClassName="low"
    )
    async with stage.recording():
        stage.did("urgent", "train/urgent is created")
        urgent = await the_job(
            stage.api,
            "urgent",
            1,
            nodes=("pr-1",),
            priorityClassName="urgent",
        )
        await stage.pause(10)
        await die_and_boot(stage, "pr-1")
        await _again(stage, urgent)


@story("e20_sciuro_blind_then_crash", "sc-1", "sc-2")
async def e20(stage: BlindStage) -> None:
    await the_job(stage.api, "ocr", 1, nodes=("sc-1",))
    nmt = await the_job(stage.api, "nmt", 1, nodes=("sc-2",))
    kinds = ("AlertManager_NodeNTPOffset", "AlertManager_NodeECCErrors")
    user = "system:serviceaccount:sciuro:sciuro"
    async with writer(stage, "sciuro", user) as sciuro:
        for node in ("sc-1", "sc-2"):
            for kind in kinds:
                await sciuro.condition(
                    node, kind, "False", "AlertIsNotFiring", ""
                )
        async with stage.recording():
            stage.did("blind", "sciuro cannot reach Alertmanager")
            for node in ("sc-1", "sc-2"):
                for kind in kinds:
                    await sciuro.condition(
                        node, kind, "Unknown", "AlertsUnavailable", ""
                    )
            await stage.pause(10)
            await die_and_boot(stage, "sc-2")
            await _again(stage, nmt)
            stage.did("sees", "sciuro reaches Alertmanager again")
            for node in ("sc-1", "sc-2"):
                for kind in kinds:
                    await sciuro.condition(
                        node, kind, "False", "AlertIsNotFiring", ""
                    )


@story("e21_reboot_behind_outage", "be-1", "be-2", grace="40s")
async def e21(stage: BlindStage) -> None:
    dpo = await the_job(stage.api, "dpo", 1, nodes=("be-1",))
    await the_job(stage.api, "ppo", 1, nodes=("be-2",))
    async with stage.recording():
        stage.did("api down", "the API server stops")
        await stage.cluster.api_server.kill()
        await stage.pause(3)
        await stage.crash("be-1")
        await stage.pause(7)
        stage.did("api up", "the API server starts")
        await stage.cluster.api_server.start()
        await stage.boot("be-1")
        await stage.ready("be-1", "be-2")
        await _again(stage, dpo)
        await stage.pause(3)


def _ahead(tape: Lines, times: Mapping[str, Any]) -> Lines:
    del times
    return with_clock_moved(tape, "cl-1", AHEAD)


@story("e22_clock_ahead_kubelet", "cl-1", edit=_ahead)
async def e22(stage: BlindStage) -> None:
    await the_job(stage.api, "gan", 1, nodes=("cl-1",))
    async with stage.recording():
        await stage.pause(5)
        stage.did("restart", "cl-1: the kubelet dies, systemd starts it")
        await stage.machine("cl-1").restart_kubelet()
        await stage.ready("cl-1")
        await stage.pause(12)


@story("e24_viola_deletes_then_crash", "vi-1", "vi-2", audit=True)
async def e24(stage: BlindStage) -> None:
    # So that the successor of the Pod goes to the other node.
    warmup = await the_job(stage.api, "warmup", 1, nodes=("vi-2",))
    unet = await the_job(stage.api, "unet", 1, gpus=4, nodes=("vi-1",))
    evaluation = await the_job(
        stage.api, "eval", 1, gpus=4, nodes=("vi-1", "vi-2"), prefer="vi-2"
    )
    await stage.machine("vi-2").finish_pod("train", warmup.on("vi-2"))
    async with stage.recording():
        await stage.pause(2)
        pod = evaluation.on("vi-1")
        stage.did("deleted", "viola deletes the Pod of train/eval")
        await kubectl_as(stage, "viola", "delete", "pod", pod, "-n", "train")
        await _again(stage, evaluation)
        await stage.pause(9)
        await die_and_boot(stage, "vi-1")
        await _again(stage, unet)
