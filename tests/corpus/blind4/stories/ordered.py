"""How incidents are played that a person or a program decided."""

from collections.abc import Mapping
from typing import Any

from tests.cluster.client import ApiError
from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as, moment
from tests.corpus.blind.acts import power_cycle
from tests.corpus.blind.stage import (
    BlindStage,
    define,
    story,
    wait_running,
    writer,
)
from tests.corpus.blinding import blinded
from tests.corpus.identities import boot_id
from tests.corpus.placing import the_deployment, the_job, the_namespace
from tests.corpus.tape_lines import Lines

BOTTLEROCKET = "Bottlerocket OS 1.{} (aws-k8s-1.36)"

MAINTENANCE = "maintenance.nvidia.com"

DRAIN = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")


async def _cloud_deletes(stage: BlindStage, node: str) -> None:
    """Delete a Node whose instance is gone, as the cloud's controller does."""
    async with writer(
        stage,
        "cloud-controller-manager",
        "system:cloud-controller-manager",
    ) as cloud:
        await cloud.event(
            await cloud.node_reference(node),
            "DeletingNode",
            f"Deleting node {node} because it does not exist in the cloud "
            "provider",
            component="cloud-node-lifecycle-controller",
        )
        stage.did("deleted", f"the cloud's controller deletes {node}")
        await cloud.delete(f"/api/v1/nodes/{node}")


async def _again(stage: BlindStage, name: str) -> None:
    """Wait until the only Pod of a Job runs again."""
    await wait_running(
        stage, "train", f"batch.kubernetes.io/job-name={name}", 1
    )


@story(
    "e01_brupop_updates",
    "br-1",
    "br-2",
    audit=True,
    labels={"bottlerocket.aws/updater-interface-version": "2.0.0"},
    os_image=BOTTLEROCKET.format("51.0"),
)
async def e01(stage: BlindStage) -> None:
    await the_job(stage.api, "dlrm", 1, nodes=("br-1", "br-2"), prefer="br-1")
    await the_job(stage.api, "whisper", 1, gpus=0, nodes=("br-2",))
    user = "brupop-apiserver-service-account"
    async with (
        stage.recording(),
        writer(
            stage,
            "unknown",
            f"system:serviceaccount:brupop:{user}",
            agent="unknown",
        ) as brupop,
    ):
        stage.did("cordon", "brupop cordons br-1")
        await brupop.mark("br-1", unschedulable=True)
        stage.did("drain", "brupop evicts the Pods of br-1")
        await brupop.evict_all("br-1")
        await stage.pause(3)
        await power_cycle(stage, "br-1", os_image=BOTTLEROCKET.format("52.0"))
        await stage.pause(2)
        stage.did("uncordon", "brupop uncordons br-1")
        await brupop.mark("br-1", unschedulable=False)
        await _again(stage, "dlrm")


@story("e02_metal3_remediates", "mt-1", "mt-2")
async def e02(stage: BlindStage) -> None:
    await the_job(stage.api, "moe", 1, nodes=("mt-1", "mt-2"), prefer="mt-1")
    async with (
        stage.recording(),
        writer(stage, "manager", "kubernetes-admin") as metal3,
    ):
        stage.did("hang", "mt-1: the kubelet hangs")
        stage.machine("mt-1").hang()
        await stage.is_unknown("mt-1")
        await stage.pause(4)
        await stage.crash("mt-1", label="off")
        await stage.pause(2)
        stage.did("deleted", "Metal3 deletes the Node mt-1")
        await metal3.delete("/api/v1/nodes/mt-1")
        await stage.pause(5)
        stage.did("boot", "Metal3 powers mt-1 on")
        booted = boot_id(stage.name, "mt-1", 2)
        await stage.machine("mt-1").boot(booted)

        async def joined() -> bool:
            try:
                found = await stage.node("mt-1")
            except ApiError:
                return False
            return bool(found["status"]["nodeInfo"]["bootID"] == booted)

        await until(joined, "mt-1 joins", seconds=60)
        await stage.ready("mt-1")
        stage.did("restored", "Metal3 restores an annotation of mt-1")
        await metal3.mark(
            "mt-1", annotations={"cluster.example/asset-tag": "R7-U12"}
        )
        await _again(stage, "moe")


@story("e03_cyclops_cycles", "cy-1", "cy-2")
async def e03(stage: BlindStage) -> None:
    await the_job(stage.api, "gnn", 1, nodes=("cy-1", "cy-2"), prefer="cy-1")
    user = "system:serviceaccount:kube-system:cyclops"
    async with stage.recording(), writer(stage, "cyclops", user) as cyclops:
        path = "/api/v1/nodes/cy-1"
        stage.did("cordon", "cyclops cordons cy-1")
        change = {"op": "add", "path": "/spec/unschedulable", "value": True}
        await cyclops.api.patch(
            path, [change], kind="json", fieldManager="cyclops"
        )
        await stage.pause(3)
        stage.did("drain", "cyclops evicts the Pods of cy-1")
        await cyclops.evict_all("cy-1")
        await stage.pause(2)
        stage.did("deleted", "cyclops deletes the Node cy-1")
        await cyclops.delete(path)
        await stage.crash("cy-1", label="terminated")
        await _again(stage, "gnn")
        await stage.pause(5)


@story("e04_spot_notice", "sp-1", "sp-2", audit=True)
async def e04(stage: BlindStage) -> None:
    await the_job(stage.api, "clip", 1, nodes=("sp-1", "sp-2"), prefer="sp-1")
    handler = "system:serviceaccount:kube-system:spot-termination-notice"
    async with stage.recording():
        stage.did("drain", "the handler on sp-1 drains it")
        await kubectl_as(stage, handler, "drain", "sp-1", *DRAIN)
        await stage.pause(5)
        await stage.crash("sp-1", label="reclaimed")
        await stage.is_unknown("sp-1")
        await _cloud_deletes(stage, "sp-1")
        await _again(stage, "clip")
        await stage.pause(3)


@story("e05_nic_maintenance_by_hana", "mn-1", "mn-2", audit=True)
async def e05(stage: BlindStage) -> None:
    await the_job(
        stage.api, "diffusion", 1, nodes=("mn-1", "mn-2"), prefer="mn-1"
    )
    await the_namespace(stage.api, "network-operator")
    api = await define(stage, MAINTENANCE, "v1alpha1", "NodeMaintenance")
    user = "system:serviceaccount:network-operator:maintenance-operator"
    objects = f"{api}/namespaces/network-operator/nodemaintenances"
    one = f"{objects}/nicfw-mn-1"
    async with (
        stage.recording(),
        writer(
            stage,
            "kubectl-create",
            "hana",
            agent="kubectl/v1.36.3 (linux/amd64) kubernetes/6a1c0b2",
        ) as hana,
        writer(stage, "maintenance-manager", user) as operator,
    ):
        stage.did("asked", "hana creates the NodeMaintenance nicfw-mn-1")
        await hana.create(
            objects,
            {
                "apiVersion": f"{MAINTENANCE}/v1alpha1",
                "kind": "NodeMaintenance",
                "metadata": {"name": "nicfw-mn-1"},
                "spec": {
                    "requestorID": "hana.lab.example",
                    "nodeName": "mn-1",
                    "cordon": True,
                    "drainSpec": {"force": True},
                },
            },
        )
        made = await stage.api.get(one)
        about = {
            "apiVersion": f"{MAINTENANCE}/v1alpha1",
            "kind": "NodeMaintenance",
            "namespace": "network-operator",
            "name": "nicfw-mn-1",
            "uid": made["metadata"]["uid"],
        }

        async def state(reason: str) -> None:
            ready = {
                "type": "Ready",
                "status": "True" if reason == "Ready" else "False",
                "reason": reason,
                "message": "",
                "lastTransitionTime": moment(),
            }
            await operator.patch(
                f"{one}/status", {"status": {"conditions": [ready]}}
            )
            await operator.event(about, "ConditionChanged", reason)

        node = await stage.node("mn-1")
        owner = {
            "apiVersion": "v1",
            "kind": "Node",
            "name": "mn-1",
            "uid": node["metadata"]["uid"],
        }
        await operator.patch(one, {"metadata": {"ownerReferences": [owner]}})
        await state("Pending")
        await stage.pause(0.5)
        await state("Cordon")
        await operator.mark("mn-1", unschedulable=True)
        await state("WaitForPodCompletion")
        await state("Draining")
        await operator.evict_all("mn-1")
        await state("Ready")
        stage.did("drained", "the operator has drained mn-1")
        await stage.pause(3)
        await power_cycle(stage, "mn-1")
        await stage.pause(2)
        stage.did("given back", "hana deletes nicfw-mn-1")
        await hana.delete(one)
        await stage.pause(0.3)
        await operator.mark("mn-1", unschedulable=False)
        await _again(stage, "diffusion")


@story("e06_oidc_proxy_olga", "oi-1", "oi-2", audit=True, tolerate=60)
async def e06(stage: BlindStage) -> None:
    await the_job(stage.api, "rlhf", 1, nodes=("oi-1",))
    proxy = "system:serviceaccount:kube-oidc-proxy:kube-oidc-proxy"
    olga = ("--as=olga@lab.example", "--as-group=system:masters")
    async with stage.recording():
        stage.did("deleted", "olga deletes the Node oi-1")
        await kubectl_as(stage, proxy, "delete", "node", "oi-1", *olga)
        await stage.pause(6)
        stage.did("restart", "oi-1: the kubelet is started again")
        await stage.machine("oi-1").restart_kubelet()
        await until(
            lambda: stage.api.answers("/api/v1/nodes/oi-1"),
            "oi-1 joins",
            seconds=60,
        )
        await stage.ready("oi-1")
        await stage.pause(4)


@story("e08_failed_then_weekly_reboot", "wk-1", "wk-2", audit=True)
async def e08(stage: BlindStage) -> None:
    await the_job(
        stage.api, "sft", 1, gpus=4, nodes=("wk-1", "wk-2"), prefer="wk-1"
    )
    broken = await the_job(
        stage.api, "broken", 1, retries=0, gpus=4, nodes=("wk-1",)
    )
    script = "system:serviceaccount:ops:weekly-reboot"
    async with stage.recording():
        stage.did("failed", "train/broken fails by its own exit")
        machine = stage.machine("wk-1")
        await machine.fail_pod("train", broken.on("wk-1"), 1)
        await stage.pause(10)
        stage.did("drain", "the script drains wk-1")
        await kubectl_as(
            stage,
            script,
            "annotate",
            "node",
            "wk-1",
            f"ops.example/weekly-reboot={moment()}",
        )
        await kubectl_as(stage, script, "drain", "wk-1", *DRAIN)
        await stage.pause(2)
        await power_cycle(stage, "wk-1")
        stage.did("uncordon", "the script uncordons wk-1")
        await kubectl_as(stage, script, "uncordon", "wk-1")
        await _again(stage, "sft")


@story("e09_petra_then_spicerack", "wm-1", "wm-2", audit=True)
async def e09(stage: BlindStage) -> None:
    await the_job(stage.api, "mamba", 1, nodes=("wm-1", "wm-2"), prefer="wm-1")
    await the_deployment(
        stage.api, "router", 1, gpus=0, nodes=("wm-1", "wm-2"), prefer="wm-1"
    )
    async with (
        stage.recording(),
        writer(
            stage,
            "OpenAPI-Generator",
            "spicerack",
            agent="OpenAPI-Generator/33.1.0/python",
        ) as cookbook,
    ):
        stage.did("petra", "petra drains wm-1 of its Deployment")
        await kubectl_as(
            stage,
            "petra",
            "drain",
            "wm-1",
            "--pod-selector=app=router",
            *DRAIN,
        )
        await stage.pause(2)
        stage.did("given back", "petra uncordons wm-1")
        await kubectl_as(stage, "petra", "uncordon", "wm-1")
        await wait_running(stage, "serve", "app=router", 1)
        await stage.pause(10)
        stage.did("cordon", "the cookbook cordons wm-1")
        await cookbook.mark("wm-1", unschedulable=True)
        stage.did("drain", "the cookbook evicts the Pods of wm-1")
        await cookbook.evict_all("wm-1")
        await stage.pause(2)
        await power_cycle(stage, "wm-1")
        stage.did("uncordon", "the cookbook uncordons wm-1")
        await cookbook.mark("wm-1", unschedulable=False)
        await _again(stage, "mamba")


@story("e13_turndown", "td-1", "td-2")
async def e13(stage: BlindStage) -> None:
    await the_job(stage.api, "vit", 1, nodes=("td-1", "td-2"), prefer="td-1")
    user = "system:serviceaccount:turndown:cluster-turndown"
    async with (
        stage.recording(),
        writer(stage, "cluster-turndown", user) as turndown,
    ):
        stage.did("cordon", "cluster-turndown cordons td-1")
        await turndown.patch(
            "/api/v1/nodes/td-1",
            {"spec": {"unschedulable": True}},
            kind="strategic",
        )
        stage.did("drain", "cluster-turndown evicts the Pods of td-1")
        await turndown.evict_all("td-1")
        await stage.pause(4)
        await stage.crash("td-1", label="terminated")
        await stage.is_unknown("td-1")
        await _cloud_deletes(stage, "td-1")
        await _again(stage, "vit")
        await stage.pause(3)


def _blind(tape: Lines, times: Mapping[str, Any]) -> Lines:
    return blinded(tape, times["gap"], times["heard"])


@story("e25_gap_hides_the_drain", "gp-1", "gp-2", edit=_blind)
async def e25(stage: BlindStage) -> None:
    await the_job(stage.api, "seg", 1, nodes=("gp-1", "gp-2"), prefer="gp-1")
    async with stage.recording():
        await stage.pause(4)
        stage.did("gap", "the recorder is disconnected")
        await stage.pause(2)
        stage.did("drain", "sam drains gp-1")
        await kubectl_as(stage, "sam", "drain", "gp-1", *DRAIN)
        await _again(stage, "seg")
        await stage.pause(2)
        stage.did("heard", "the recorder is connected again")
        await stage.pause(6)
        await power_cycle(stage, "gp-1")
        await stage.pause(1)
        stage.did("uncordon", "sam uncordons gp-1")
        await kubectl_as(stage, "sam", "uncordon", "gp-1")
        await stage.pause(3)
