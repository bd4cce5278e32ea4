"""Queues, groups and rules of success have a say in how work goes on."""

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.attempts import GROUPS, group, lost, turns
from tests.scenarios.workloads.bystanders import DONE, spares
from tests.scenarios.workloads.gangs import LWS, SETS
from tests.scenarios.workloads.leaving import drains
from tests.scenarios.workloads.queues import becomes, queued
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    OTHERS,
    gang,
    hits_one,
    owned,
    taken,
    under,
)

ADMITTED = "Admitted/Admitted"


@incident
def a_leader_ends_well_without_the_one_that_was_lost() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    lost(scene, "w-1")
    scene.pod(300, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 300.5, JOBS, "llm", "SuccessCriteriaMet", "SuccessPolicy")
    taken(scene, 300.6, 2)
    turns(scene, 912, JOBS, "llm", "Complete", "SuccessPolicy")
    # From then on what was lost is not missed.
    return hits_one(
        scene,
        outcome="down",
        hours=(0, 1.88),
        accept={"outcome": ["completed", "survived"]},
    )


@incident
def a_worker_is_replaced_before_its_node_dies() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.pod(5, "w-1", "kube-apiserver", deleting=True)
    scene.runs(5.5, "w-3", "gpu-004", of=job)
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1"],
        size=3,
        gpus=24,
        by="deletion",
        outcome="rescheduled",
        again=5.5,
    )
    return spares(scene, "Job/train/llm")


@incident
def kueue_sends_a_gang_back_to_its_queue() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    lost(scene, "w-1")
    becomes(
        scene, 620, "Evicted/PodsReadyTimeout", "Requeued/PodsReadyTimeout"
    )
    taken(scene, 621, 0, 2)
    becomes(scene, 1299, ADMITTED)
    gang(scene, job, on=OTHERS, at=1300, name="x")
    return hits_one(scene, outcome="restarted", again=1300, hours=(8.1, 8.54))


@incident
def a_gang_that_is_down_gives_way_to_another() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    lost(scene, "w-1")
    becomes(scene, 400, "Evicted/Preempted")
    taken(scene, 400.5, 0, 2)
    hits_one(
        scene,
        outcome="down",
        hours=(2.2, 5.95),
        accept={
            "outcome": ["preempted"],
            "pods_hit": [["w-0", "w-1", "w-2"]],
            "nodes": [["gpu-001", "gpu-002", "gpu-003"]],
        },
    )
    job = ["Job/train/llm"]
    scene.asks(0, 1000, node="gpu-002", verdicts=[0], workloads=job)
    return scene


@incident
def a_gang_gives_way_and_runs_again_before_its_node_dies() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    becomes(scene, 20, "Evicted/Preempted", "Requeued/Preempted")
    taken(scene, 20.5, 0, 1, 2)
    becomes(scene, 299, ADMITTED)
    for place, node in enumerate(scene.names):
        scene.runs(300, f"x-{place}", node, of=job)
    scene.dies(900, "gpu-002", 1800).tainted_away(1252, "x-1")
    scene.fails(1811, "x-1", 255, "Unknown").gone(1811.2, "x-1")
    scene.hit(
        "Job",
        "llm",
        "gpu-001",
        ["w-0", "w-1", "w-2", "x-1"],
        size=3,
        gpus=24,
        nodes=["gpu-001", "gpu-002", "gpu-003"],
        by="preemption",
        outcome="down",
        hours=(7.5, 7.95),
        accept={"first_node": ["gpu-002", "gpu-003"]},
    )
    return scene.unexplained("gpu-002")


@incident
def a_gang_gives_way_twice() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    for at, old, new in ((20, "w", "x"), (2000, "x", "y")):
        becomes(scene, at, "Evicted/Preempted", "Requeued/Preempted")
        taken(scene, at + 0.5, 0, 1, 2, of=old)
        becomes(scene, at + 399, ADMITTED)
        for place, node in enumerate(scene.names):
            scene.runs(at + 400, f"{new}-{place}", node, of=job)
    return scene.hit(
        "Job",
        "llm",
        "gpu-001",
        [f"{of}-{place}" for of in "wx" for place in range(3)],
        size=3,
        gpus=24,
        nodes=["gpu-001", "gpu-002", "gpu-003"],
        by="preemption",
        outcome="preempted",
        again=2400,
        hours=(5.2, 5.34),
        accept={"first_node": ["gpu-002", "gpu-003"]},
    )


@incident
def a_group_is_drained_and_begins_again_elsewhere() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "LeaderWorkerSet", LWS)
    under(scene, -19, SETS, "StatefulSet/llm", "lws", top)
    group(scene, -6, 1, "gpu-001", "gpu-002")
    drains(scene, "llm-0-1")
    scene.pod(24, "llm-0", "lws", deleting=True)
    scene.fails(27, "llm-0", 143).gone(27.2, "llm-0")
    scene.removes(27.5, SETS, "llm-0", space="train")
    group(scene, 30, 2, "gpu-001", "gpu-003")
    return scene.hit(
        "LeaderWorkerSet",
        "llm",
        "gpu-002",
        ["llm-0-1"],
        size=2,
        gpus=16,
        by="drain",
        outcome="restarted",
        again=30.5,
    )


@incident
def two_groups_of_a_set_lose_the_same_node() -> Scene:
    scene = Scene()
    top = owned(scene, "LeaderWorkerSet", LWS)
    leaders = under(scene, -19, SETS, "StatefulSet/llm", "lws", top)
    places = (("gpu-001", "gpu-002"), ("gpu-002", "gpu-003"))
    for number, (lead, work) in enumerate(places):
        pod = f"llm-{number}"
        marks = {f"{GROUPS}/name": "llm"}
        marks[f"{GROUPS}/group-index"] = str(number)
        scene.runs(-6, pod, lead, of=leaders, labels=marks, gpus=4)
        leader = owner("Pod", pod, "v1")
        of = under(scene, -5.5, SETS, f"StatefulSet/{pod}", "lws", leader)
        scene.runs(-5, f"{pod}-1", work, of=of, labels=marks, gpus=4)
    scene.dies(20, "gpu-002", 900).tainted_away(372, "llm-0-1", "llm-1")
    for pod in ("llm-0-1", "llm-1"):
        scene.fails(911, pod, 255, "Unknown").gone(911.2, pod)
    for pod in ("llm-0-1", "llm-1"):
        scene.hit("LeaderWorkerSet", "llm", "gpu-002", [pod], size=2, gpus=8)
    return scene.unexplained("gpu-002")
