"""How incidents are played where two causes are near each other."""

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import die_and_boot, owned_pod
from tests.corpus.blind.gangs import custom
from tests.corpus.blind.stage import (
    BlindStage,
    collected,
    story,
    wait_running,
    writer,
)
from tests.corpus.blind5.stories.acts import DRAIN, again
from tests.corpus.placing import (
    the_deployment,
    the_job,
    the_namespace,
)

HOLD = "lab.example/hold"

HUB = "hub.jupyter.org/username"

JOB = "batch.kubernetes.io/job-name"


@story("f09_wrong_node_lars", "wn-1", "wn-2", "wn-3", audit=True)
async def f09(stage: BlindStage) -> None:
    alpha = await the_job(stage.api, "alpha", 1, nodes=("wn-1",))
    beta = await the_job(
        stage.api, "beta", 1, nodes=("wn-2", "wn-3"), prefer="wn-2"
    )
    async with stage.recording():
        stage.did("mistaken", "lars cordons wn-1")
        await kubectl_as(stage, "lars", "cordon", "wn-1")
        await stage.pause(4)
        stage.did("withdrawn", "lars uncordons wn-1")
        await kubectl_as(stage, "lars", "uncordon", "wn-1")
        await stage.pause(2)
        stage.did("drain", "lars drains wn-2")
        await kubectl_as(stage, "lars", "drain", "wn-2", *DRAIN)
        await again(stage, beta)
        await stage.pause(2)
        await stage.crash("wn-2", label="off")
        await stage.pause(3)
        await stage.crash("wn-1", label="died")
        await stage.pause(4)
        await stage.boot("wn-2")
        await stage.ready("wn-2")
        stage.did("uncordon", "lars uncordons wn-2")
        await kubectl_as(stage, "lars", "uncordon", "wn-2")
        await stage.is_unknown("wn-1")
        await stage.pause(6)
        await stage.boot("wn-1", label="back")
        await stage.ready("wn-1")
        await again(stage, alpha)


@story("f10_reloader_then_crash", "rl-1", "rl-2")
async def f10(stage: BlindStage) -> None:
    gateway = await the_deployment(
        stage.api, "gateway", 1, gpus=1, nodes=("rl-1", "rl-2"), prefer="rl-1"
    )
    codec = await the_job(stage.api, "codec", 1, gpus=7, nodes=("rl-1",))
    old = gateway.on("rl-1")
    maps = "/api/v1/namespaces/serve/configmaps"
    await stage.api.create(
        maps, {"metadata": {"name": "gateway-config"}, "data": {"rps": "40"}}
    )
    user = "system:serviceaccount:reloader:reloader"
    async with (
        stage.recording(),
        writer(
            stage,
            "Reloader",
            user,
            agent="manager/v0.0.0 (linux/amd64) kubernetes/$Format",
        ) as reloader,
    ):
        await stage.api.patch(
            f"{maps}/gateway-config", {"data": {"rps": "60"}}
        )
        await stage.pause(1)
        stage.did("reloaded", "Reloader rolls serve/gateway")
        variable = {
            "name": "STAKATER_GATEWAY_CONFIG_CONFIGMAP",
            "value": "2a4f0e6c9b0d1f3c5e7a8b6d4f2c1e0a9b8c7d6e",
        }
        container = {"name": "main", "env": [variable]}
        await reloader.patch(
            "/apis/apps/v1/namespaces/serve/deployments/gateway",
            {"spec": {"template": {"spec": {"containers": [container]}}}},
            kind="strategic",
        )
        await wait_running(stage, "serve", "app=gateway", 1, without=old)
        await stage.is_gone(f"/api/v1/namespaces/serve/pods/{old}")
        await stage.pause(9)
        await die_and_boot(stage, "rl-1")
        await again(stage, codec)


@story("f11_taint_withdrawn_then_crash", "tw-1")
async def f11(stage: BlindStage) -> None:
    voice = await the_job(
        stage.api,
        "voice",
        1,
        nodes=("tw-1",),
        tolerations=[
            {
                "key": HOLD,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 60,
            }
        ],
    )
    async with stage.recording():
        await stage.pause(1)
        stage.did("tainted", "otto taints tw-1")
        await kubectl_as(
            stage, "otto", "taint", "nodes", "tw-1", f"{HOLD}=psu:NoExecute"
        )
        await stage.pause(5)
        stage.did("withdrawn", "otto takes the taint back")
        await kubectl_as(stage, "otto", "taint", "nodes", "tw-1", f"{HOLD}-")
        await stage.pause(9)
        await die_and_boot(stage, "tw-1")
        await again(stage, voice)


@story("f12_downscaler_then_kubelet", "kd-1")
async def f12(stage: BlindStage) -> None:
    office = await the_deployment(
        stage.api, "office", 1, gpus=1, nodes=("kd-1",)
    )
    await the_job(stage.api, "soak", 1, gpus=4, nodes=("kd-1",))
    path = "/apis/apps/v1/namespaces/serve/deployments/office"
    old = office.on("kd-1")
    user = "system:serviceaccount:kube-downscaler:kube-downscaler"
    async with (
        stage.recording(),
        writer(
            stage, "pykube-ng", user, agent="pykube-ng/23.6.0"
        ) as downscaler,
    ):
        await stage.pause(1)
        stage.did("scaled", "kube-downscaler scales serve/office to zero")
        found = await stage.api.get(path)
        await downscaler.event(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "namespace": "serve",
                "name": "office",
                "uid": found["metadata"]["uid"],
            },
            "ScaleDown",
            "Scaling down replicas",
            component="kube-downscaler",
        )
        await downscaler.patch(
            path,
            {
                "metadata": {
                    "annotations": {"downscaler/original-replicas": "1"}
                },
                "spec": {"replicas": 0},
            },
        )
        await stage.is_gone(f"/api/v1/namespaces/serve/pods/{old}")
        await stage.pause(8)
        stage.did("restart", "kd-1: the kubelet dies, systemd starts it")
        await stage.machine("kd-1").restart_kubelet()
        await stage.ready("kd-1")
        await stage.pause(12)


@story("f13_culled_then_crash", "jc-1")
async def f13(stage: BlindStage) -> None:
    kb = await the_job(stage.api, "kb", 1, gpus=4, nodes=("jc-1",))
    await the_namespace(stage.api, "hub")
    for user in ("ana", "ben"):
        await owned_pod(
            stage,
            "hub",
            f"jupyter-{user}",
            None,
            labels={
                "app": "jupyterhub",
                "component": "singleuser-server",
                HUB: user,
            },
            gpus=1,
            nodes=("jc-1",),
            command=("jupyterhub-singleuser",),
        )
    async with (
        stage.recording(),
        writer(
            stage,
            "OpenAPI-Generator",
            "system:serviceaccount:hub:hub",
            agent="OpenAPI-Generator/24.2.3/python",
        ) as hub,
    ):
        await stage.pause(1)
        stage.did("culled", "JupyterHub deletes the server of ana")
        await hub.delete_pod("hub", "jupyter-ana", grace=1)
        await stage.is_gone("/api/v1/namespaces/hub/pods/jupyter-ana")
        await stage.pause(9)
        await die_and_boot(stage, "jc-1")
        await again(stage, kb)


@story("f14_ekco_purges_the_dead", "ek-1", "ek-2")
async def f14(stage: BlindStage) -> None:
    nerf = await the_job(
        stage.api, "nerf", 1, nodes=("ek-1", "ek-2"), prefer="ek-1"
    )
    await the_job(stage.api, "keep", 1, gpus=0, nodes=("ek-2",))
    user = "system:serviceaccount:kurl:ekco"
    async with stage.recording(), writer(stage, "ekco", user) as ekco:
        await stage.crash("ek-1")
        await stage.is_unknown("ek-1")
        await stage.pause(10)
        stage.did("purged", "EKCO deletes the Node ek-1")
        await ekco.delete("/api/v1/nodes/ek-1")
        await again(stage, nerf)
        old = nerf.on("ek-1")
        await collected(stage, f"/api/v1/namespaces/train/pods/{old}")
        await stage.pause(3)


@story("f15_two_boots", "tb-1")
async def f15(stage: BlindStage) -> None:
    first = await the_job(stage.api, "bert2", 1, nodes=("tb-1",))
    async with stage.recording():
        await stage.pause(1)
        await stage.crash("tb-1", label="crash 1")
        await stage.is_unknown("tb-1")
        await stage.pause(7)
        await stage.boot("tb-1", label="boot 1")
        await stage.ready("tb-1")
        await again(stage, first)
        listed = await stage.api.get(
            "/api/v1/namespaces/train/pods", labelSelector=f"{JOB}=bert2"
        )
        (second,) = [
            pod["metadata"]["name"]
            for pod in listed["items"]
            if pod["status"]["phase"] == "Running"
            and "deletionTimestamp" not in pod["metadata"]
        ]
        await stage.pause(8)
        await stage.crash("tb-1", label="crash 2")
        await stage.is_unknown("tb-1")
        await stage.pause(7)
        await stage.boot("tb-1", 3, label="boot 2")
        await stage.ready("tb-1")
        await wait_running(stage, "train", f"{JOB}=bert2", 1, without=second)
        await stage.pause(2)


@story("f16_no_controller_manager", "md-1", "md-2")
async def f16(stage: BlindStage) -> None:
    seqgan = await the_job(stage.api, "seqgan", 1, nodes=("md-1",))
    await the_job(stage.api, "calm", 1, nodes=("md-2",))
    async with stage.recording():
        stage.did("unwatched", "the controller manager goes down")
        await stage.cluster.controller_manager.kill()
        await stage.pause(4)
        await stage.crash("md-1")
        await stage.pause(20)
        await stage.boot("md-1")
        await stage.ready("md-1")
        await stage.pause(4)
        stage.did("watched", "the controller manager is started again")
        await stage.cluster.controller_manager.start()
        await again(stage, seqgan)
        await stage.pause(3)


@story("f17_less_memory_after", "mm-1")
async def f17(stage: BlindStage) -> None:
    clm = await the_job(stage.api, "clm", 1, nodes=("mm-1",))
    async with stage.recording():
        await stage.pause(2)
        await stage.crash("mm-1")
        stage.machine("mm-1").kubelet.flags["memory-gib"] = "1792"
        await stage.is_unknown("mm-1")
        await stage.pause(8)
        await stage.boot("mm-1")
        await stage.ready("mm-1")
        await again(stage, clm)
        await stage.pause(2)


@story("f18_kinds_without_rules", "kw-1", "kw-2")
async def f18(stage: BlindStage) -> None:
    flyte = await custom(
        stage, "flyte.lyft.com", "v1alpha1", "flyteworkflow", "f3a9c27d"
    )
    argo = await custom(
        stage, "argoproj.io", "v1alpha1", "Workflow", "etl-x7k2p"
    )
    edge = await custom(
        stage,
        "apps.kruise.io",
        "v1alpha1",
        "CloneSet",
        "edge",
        namespace="serve",
        replicas=1,
    )
    kinds = (
        (
            flyte,
            ("f3a9c27d-n0-0", "f3a9c27d-n0-1"),
            {"execution-id": "f3a9c27d", "node-id": "n0"},
        ),
        (
            argo,
            ("etl-x7k2p-embed-1408825193", "etl-x7k2p-embed-2781330416"),
            {"workflows.argoproj.io/workflow": "etl-x7k2p"},
        ),
        (
            edge,
            ("edge-7zq4d", "edge-m2k8x"),
            {"app": "edge"},
        ),
    )
    for owner, (name, _), labels in kinds:
        await owned_pod(
            stage,
            owner["metadata"]["namespace"],
            name,
            owner,
            labels=labels,
            gpus=2,
            nodes=("kw-1", "kw-2"),
            prefer="kw-1",
        )
    user = "system:serviceaccount:flyte:flytepropeller"
    async with stage.recording(), writer(stage, "flytepropeller", user) as by:
        await stage.pause(2)
        await stage.crash("kw-1")
        await stage.is_unknown("kw-1")
        await stage.pause(8)
        stage.did("again", "the controllers create the Pods again")
        for owner, (_, name), labels in kinds:
            await owned_pod(
                stage,
                owner["metadata"]["namespace"],
                name,
                owner,
                api=by.api,
                labels=labels,
                gpus=2,
                nodes=("kw-2",),
            )
        await stage.boot("kw-1")
        await stage.ready("kw-1")
        await stage.is_gone("/api/v1/namespaces/train/pods/f3a9c27d-n0-0")
        await stage.pause(3)
