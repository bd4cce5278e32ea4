"""How incidents are played in which no machine goes down."""

from typing import Any

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.stage import BlindStage, story, wait_running, writer
from tests.corpus.blind5.stories.acts import again
from tests.corpus.blind6.stories.acts import the_budget
from tests.corpus.placing import the_deployment, the_job


def _tolerating(key: str) -> list[dict[str, Any]]:
    return [{"key": key, "operator": "Exists"}]


@story("g21_terraform_taints", "tf-1", "tf-2", audit=True)
async def g21(stage: BlindStage) -> None:
    leave = await the_job(
        stage.api, "leave", 1, gpus=4, nodes=("tf-1", "tf-2"), prefer="tf-1"
    )
    await the_job(
        stage.api,
        "stay",
        1,
        gpus=4,
        nodes=("tf-1",),
        tolerations=_tolerating("lab.example/dedicated"),
    )
    async with (
        stage.recording(),
        writer(
            stage,
            "Terraform",
            "yuki",
            agent="HashiCorp/1.0 Terraform/1.9.8",
        ) as plan,
    ):
        await stage.pause(1)
        stage.did("tainted", "yuki applies a plan that taints tf-1")
        await plan.taint("tf-1", "lab.example/dedicated", "bench", "NoExecute")
        await again(stage, leave)
        await stage.pause(8)


@story("g22_headlamp_noor", "hl-1", "hl-2", audit=True)
async def g22(stage: BlindStage) -> None:
    await the_job(stage.api, "rnnt", 1, nodes=("hl-1",))
    agent = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
    async with (
        stage.recording(),
        writer(stage, "Mozilla", "noor", agent=agent) as noor,
    ):
        await stage.pause(1)
        stage.did("cordon", "noor cordons hl-1 in Headlamp")
        await noor.mark("hl-1", unschedulable=True)
        await stage.pause(8)
        stage.did("uncordon", "noor uncordons hl-1 in Headlamp")
        await noor.mark("hl-1", unschedulable=False)
        await stage.pause(8)


@story("g23_taint_passes_a_budget", "tb-1", "tb-2")
async def g23(stage: BlindStage) -> None:
    key = "lab.example/audit"
    guarded = await the_deployment(
        stage.api, "guarded", 1, gpus=1, nodes=("tb-1", "tb-2"), prefer="tb-1"
    )
    await the_job(
        stage.api,
        "calm2",
        1,
        gpus=4,
        nodes=("tb-1",),
        tolerations=_tolerating(key),
    )
    await the_budget(stage, "guarded")
    old = guarded.on("tb-1")
    async with stage.recording():
        await stage.pause(1)
        stage.did("tainted", "gil taints tb-1")
        await kubectl_as(
            stage, "gil", "taint", "nodes", "tb-1", f"{key}=psu:NoExecute"
        )
        await wait_running(stage, "serve", "app=guarded", 1, without=old)
        await stage.is_gone(f"/api/v1/namespaces/serve/pods/{old}")
        await stage.pause(8)


@story("g24_kubelet_three_times", "k3-1", "k3-2")
async def g24(stage: BlindStage) -> None:
    await the_job(stage.api, "s2s", 1, nodes=("k3-1",))
    async with stage.recording():
        for number in (1, 2, 3):
            await stage.pause(4)
            stage.did(f"restart {number}", "k3-1: systemd starts the kubelet")
            await stage.machine("k3-1").restart_kubelet()
            await stage.ready("k3-1")
        await stage.pause(8)


@story("g25_kube_green_sleeps", "kg-1")
async def g25(stage: BlindStage) -> None:
    night = await the_deployment(
        stage.api, "night", 1, gpus=1, nodes=("kg-1",)
    )
    await the_job(stage.api, "day", 1, gpus=4, nodes=("kg-1",))
    old = night.on("kg-1")
    user = "system:serviceaccount:kube-green:kube-green-controller-manager"
    async with stage.recording(), writer(stage, "kube-green", user) as green:
        await stage.pause(2)
        stage.did("asleep", "kube-green scales serve/night to zero")
        await green.patch(
            "/apis/apps/v1/namespaces/serve/deployments/night",
            {"spec": {"replicas": 0}},
        )
        await stage.is_gone(f"/api/v1/namespaces/serve/pods/{old}")
        await stage.pause(8)
