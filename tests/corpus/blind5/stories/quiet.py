"""How incidents are played in which no machine goes down."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import end_pod
from tests.corpus.blind.stage import (
    BlindStage,
    kubelet,
    story,
    wait_running,
    writer,
)
from tests.corpus.blind5.stories.acts import DRAIN, again, the_daemonset
from tests.corpus.blinding import blinded
from tests.corpus.placing import the_job
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Lines

STEP = timedelta(minutes=90)

STEPPED = frozenset({"v1/events", "coordination.k8s.io/v1/leases"})


def _blind(tape: Lines, times: Mapping[str, Any]) -> Lines:
    return blinded(tape, times["gap"], times["heard"])


def _stepped(tape: Lines, times: Mapping[str, Any]) -> Lines:
    moved = with_clock_moved(tape, "cs-1", STEP)
    frames = [
        after
        if before.get("resource") in STEPPED and before["at"] >= times["step"]
        else before
        for before, after in zip(tape.frames, moved.frames, strict=True)
    ]
    return Lines(tape.header, frames)


@story("f19_shutdown_cancelled", "sd-1", "sd-2")
async def f19(stage: BlindStage) -> None:
    dino = await the_job(
        stage.api, "dino", 1, gpus=4, nodes=("sd-1", "sd-2"), prefer="sd-1"
    )
    async with stage.recording(), kubelet(stage, "sd-1") as acting:
        await stage.pause(1)
        stage.did("shutdown", "the kubelet of sd-1 sees a shutdown")
        stage.machine("sd-1").hang()
        await acting.event(
            await acting.node_reference("sd-1"),
            "Shutdown",
            "Shutdown manager detected shutdown event",
            host="sd-1",
        )
        await acting.condition(
            "sd-1",
            "Ready",
            "False",
            "KubeletNotReady",
            "node is shutting down",
        )
        await end_pod(
            acting,
            dino.on("sd-1"),
            "Terminated",
            "Pod was terminated in response to imminent node shutdown.",
            143,
        )
        await stage.pause(4)
        await acting.event(
            await acting.node_reference("sd-1"),
            "Shutdown",
            "Shutdown manager detected shutdown cancellation",
            host="sd-1",
        )
        stage.did("cancelled", "the shutdown of sd-1 is cancelled")
        stage.machine("sd-1").resume()
        await stage.ready("sd-1")
        await again(stage, dino)
        await stage.pause(5)


@story("f20_gap_moves_a_pod", "gm-1", "gm-2", edit=_blind)
async def f20(stage: BlindStage) -> None:
    ctc = await the_job(
        stage.api, "ctc", 1, nodes=("gm-1", "gm-2"), prefer="gm-1"
    )
    async with stage.recording():
        await stage.pause(4)
        stage.did("gap", "the recorder is disconnected")
        await stage.pause(2)
        stage.did("drain", "kim drains gm-1")
        await kubectl_as(stage, "kim", "drain", "gm-1", *DRAIN)
        await again(stage, ctc)
        await kubectl_as(stage, "kim", "uncordon", "gm-1")
        await stage.pause(2)
        stage.did("heard", "the recorder is connected again")
        await stage.pause(8)


@story("f21_daemonset_rollout", "ds-1", "ds-2", audit=True)
async def f21(stage: BlindStage) -> None:
    await the_job(stage.api, "north", 1, nodes=("ds-1",))
    await the_job(stage.api, "south", 1, nodes=("ds-2",))
    await the_daemonset(stage, "log-agent", ("ds-1", "ds-2"))
    async with stage.recording():
        await stage.pause(1)
        stage.did("restart", "uma restarts the DaemonSet log-agent")
        of_agent = ("-n", "kube-system", "daemonset/log-agent")
        await kubectl_as(stage, "uma", "rollout", "restart", *of_agent)
        await kubectl_as(
            stage, "uma", "rollout", "status", *of_agent, "--timeout=60s"
        )
        await wait_running(stage, "kube-system", "app=log-agent", 2)
        await stage.pause(6)


@story("f22_nidhogg_taints", "ng-1", "ng-2")
async def f22(stage: BlindStage) -> None:
    await the_job(stage.api, "lstm", 1, nodes=("ng-1",))
    await the_daemonset(stage, "node-local-dns", ("ng-1", "ng-2"))
    listed = await stage.api.get(
        "/api/v1/namespaces/kube-system/pods",
        labelSelector="app=node-local-dns",
    )
    (pod,) = [
        found["metadata"]["name"]
        for found in listed["items"]
        if found["spec"]["nodeName"] == "ng-1"
    ]
    key, value = "nidhogg.uswitch.com", "kube-system.node-local-dns"
    about = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "ng-1",
        "uid": "ng-1",
    }
    user = "system:serviceaccount:nidhogg:nidhogg"
    async with stage.recording(), writer(stage, "manager", user) as nidhogg:
        await stage.pause(1)
        stage.did("failed", "the container of node-local-dns fails")
        await stage.machine("ng-1").fail_pod("kube-system", pod)
        stage.did("tainted", "Nidhogg taints ng-1")
        await nidhogg.taint("ng-1", key, value, "NoSchedule")
        await nidhogg.event(
            about,
            "TaintsChanged",
            f"Taints added: [{value}], Taints removed: []",
            component="nidhogg",
        )
        await stage.pause(8)
        await wait_running(stage, "kube-system", "app=node-local-dns", 2)
        stage.did("untainted", "Nidhogg takes its taint back")
        await nidhogg.untaint("ng-1", key)
        await nidhogg.event(
            about,
            "TaintsChanged",
            f"Taints added: [], Taints removed: [{value}]",
            component="nidhogg",
        )
        await stage.pause(5)


@story("f23_tas_labels", "ts-1", "ts-2")
async def f23(stage: BlindStage) -> None:
    await the_job(stage.api, "bio", 1, nodes=("ts-1",))
    path, label = "/api/v1/nodes/ts-1", "/metadata/labels/thermal-policy"
    user = "system:serviceaccount:telemetry-aware-scheduling:extender"
    async with stage.recording(), writer(stage, "extender", user) as extender:
        await stage.pause(1)
        stage.did("violating", "TAS labels ts-1 as violating a policy")
        await extender.api.patch(
            path,
            [{"op": "add", "path": label, "value": "violating"}],
            kind="json",
            fieldManager="extender",
        )
        await stage.pause(12)
        stage.did("well", "TAS removes the label")
        await extender.api.patch(
            path,
            [{"op": "remove", "path": label, "value": ""}],
            kind="json",
            fieldManager="extender",
        )
        await stage.pause(6)


@story("f24_lease_deleted_by_vera", "ld-1", "ld-2", audit=True, grace="20s")
async def f24(stage: BlindStage) -> None:
    await the_job(stage.api, "ocr2", 1, nodes=("ld-1",))
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    async with stage.recording():
        await stage.pause(2)
        stage.did("deleted", "vera deletes the Lease of ld-1")
        of_node = ("-n", "kube-node-lease", "lease/ld-1", "--wait=false")
        await kubectl_as(stage, "vera", "delete", *of_node)
        await stage.pause(14)
        assert await stage.api.answers(f"{path}/ld-1")
        await stage.pause(8)


@story("f25_clock_steps", "cs-1", "cs-2", edit=_stepped)
async def f25(stage: BlindStage) -> None:
    await the_job(stage.api, "yolo", 1, nodes=("cs-1",))
    async with stage.recording():
        await stage.pause(6)
        stage.did("step", "the clock of cs-1 steps 90 minutes ahead")
        await stage.pause(25)
