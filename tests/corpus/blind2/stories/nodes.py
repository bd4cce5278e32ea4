"""Stories of several nodes, clocks, gaps, and of the kubelet."""

from collections.abc import Mapping
from datetime import timedelta

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import end_pod, pod_reference, power_cycle
from tests.corpus.blind.gangs import the_group, the_jobset
from tests.corpus.blind.stage import (
    BlindStage,
    kubelet,
    story,
    wait_running,
    writer,
)
from tests.corpus.blinding import blinded
from tests.corpus.placing import the_job
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Lines

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


@story("c15_two_machines_at_once", "tm-1", "tm-2", "tm-3", "tm-4")
async def two_machines(stage: BlindStage) -> None:
    """Let two machines lose their power in one moment."""
    nodes = ("tm-1", "tm-2", "tm-3", "tm-4")
    await the_jobset(stage, "gemma", 4, nodes=nodes)
    async with stage.recording():
        await stage.pause(3)
        await stage.crash("tm-2", "tm-3")
        await stage.is_unknown("tm-2", "tm-3")
        await stage.pause(6)
        await stage.boot("tm-2", label="boot2")
        await stage.pause(5)
        await stage.boot("tm-3", label="boot3")
        await stage.ready("tm-2", "tm-3")
        selector = "jobset.sigs.k8s.io/jobset-name=gemma"
        await wait_running(stage, "train", selector, 4)


@story("c16_two_nodes_cut_off", "co-1", "co-2", "co-3", tolerate=300)
async def two_cut_off(stage: BlindStage) -> None:
    """Do not hear two nodes for half a minute."""
    await the_group(stage, "mixtral", "co-2", "co-3")
    async with stage.recording():
        await stage.pause(3)
        stage.did("hang", "co-2 and co-3 are not heard any more")
        for node in ("co-2", "co-3"):
            stage.machine(node).hang()
        await stage.is_unknown("co-2", "co-3")
        await stage.pause(12)
        for node in ("co-2", "co-3"):
            stage.machine(node).resume()
        await stage.ready("co-2", "co-3")
        stage.did("back", "co-2 and co-3 are heard again")
        await stage.pause(5)


async def _drain_and_cycle(stage: BlindStage, user: str, node: str) -> None:
    """Drain a node as a person, power-cycle it, and uncordon it."""
    stage.did("drain", f"{user} drains {node}")
    await kubectl_as(stage, user, "drain", node, "--ignore-daemonsets")
    await stage.pause(3)
    await power_cycle(stage, node)
    await stage.pause(3)
    stage.did("uncordon", f"{user} uncordons {node}")
    await kubectl_as(stage, user, "uncordon", node)


def _behind(tape: Lines, _: Mapping[str, str]) -> Lines:
    return with_clock_moved(tape, "cb-2", timedelta(minutes=-33))


@story("c19_clock_behind_drain", "cb-1", "cb-2", audit=True, edit=_behind)
async def clock_behind(stage: BlindStage) -> None:
    """Drain a node whose clock is 33 minutes behind."""
    await the_job(stage.api, "wan", 2, nodes=("cb-1", "cb-2"))
    async with stage.recording():
        await stage.pause(3)
        await _drain_and_cycle(stage, "wes", "cb-2")
        await wait_running(stage, "train", f"{JOB}=wan", 2)


def _blind(tape: Lines, times: Mapping[str, str]) -> Lines:
    return blinded(tape, times["blind"], times["sight"])


@story("c20_gap_with_audit", "ga-1", "ga-2", audit=True, edit=_blind)
async def gap_with_audit(stage: BlindStage) -> None:
    """Drain and power-cycle a node while no object is watched."""
    await the_job(stage.api, "audio", 2, nodes=("ga-1", "ga-2"))
    async with stage.recording():
        stage.did("blind", "no object is watched any more")
        await stage.pause(3)
        await _drain_and_cycle(stage, "xena", "ga-2")
        await wait_running(stage, "train", f"{JOB}=audio", 2)
        await stage.pause(2)
        stage.did("sight", "everything is listed again")
        await stage.pause(4)


@story("c21_ephemeral_storage_limit", "ep-1", "ep-2")
async def storage_limit(stage: BlindStage) -> None:
    """Let the kubelet evict a Pod that used too much storage."""
    await the_job(stage.api, "rest", 1, gpus=4, nodes=("ep-2",))
    shards = await the_job(stage.api, "shards", 1, gpus=4, nodes=("ep-2",))
    pod = shards.on("ep-2")
    message = (
        "Pod ephemeral local storage usage exceeds the total limit of "
        "containers 20Gi. "
    )
    async with stage.recording(), kubelet(stage, "ep-2") as acting:
        stage.did("limit", "a Pod of train/shards is past its limit")
        stage.machine("ep-2").hang()
        reference = await pod_reference(stage, "train", pod)
        await acting.event(
            reference, "Evicted", message, kind="Warning", host="ep-2"
        )
        await end_pod(acting, pod, "Evicted", message, 137)
        await stage.pause(1)
        stage.machine("ep-2").resume()
        await wait_running(stage, "train", f"{JOB}=shards", 1, without=pod)
        await stage.pause(4)


@story("c22_snap_refresh", "mk-1", "mk-2", "mk-3", grace="50s")
async def snap_refresh(stage: BlindStage) -> None:
    """Stop all kubelets at once, and start them again."""
    nodes = ("mk-1", "mk-2", "mk-3")
    await the_job(stage.api, "ppo", 3, nodes=nodes)
    async with stage.recording():
        await stage.pause(5)
        stage.did("down", "snapd stops MicroK8s on all nodes")
        for node in nodes:
            await stage.machine(node).kubelet.kill()
        await stage.pause(6)
        for node in nodes:
            await stage.machine(node).restart_kubelet()
        stage.did("up", "MicroK8s runs again")
        await stage.ready(*nodes)
        await stage.pause(10)


@story("c23_flux_applies_a_taint", "fx-1", "fx-2", audit=True)
async def flux(stage: BlindStage) -> None:
    """Apply a taint NoExecute from Git."""
    await the_job(stage.api, "asr2", 1, nodes=("fx-1", "fx-2"), prefer="fx-2")
    name = "kustomize-controller"
    user = f"system:serviceaccount:flux-system:{name}"
    taint = {"key": "team", "value": "vision", "effect": "NoExecute"}
    async with stage.recording(), writer(stage, name, user) as acting:
        await stage.pause(3)
        stage.did("taint", "Flux applies a taint to fx-2")
        await acting.api.patch(
            "/api/v1/nodes/fx-2",
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "fx-2"},
                "spec": {"taints": [taint]},
            },
            kind="apply",
            fieldManager=name,
            force="true",
        )
        await acting.event(
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "namespace": "default",
                "name": "nodes",
                "uid": "6f0f2c9e-3c0e-4f6c-9c55-6d1d0d0d5a11",
            },
            "Progressing",
            "Node/fx-2 configured",
        )
        await wait_running(stage, "train", f"{JOB}=asr2", 1)
        await stage.pause(8)
