"""Queues and schedulers take work, or put it elsewhere."""

from typing import Any

from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.attempts import lost
from tests.scenarios.workloads.bystanders import HERE
from tests.scenarios.workloads.gangs import LWS, SETS
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

WORKLOADS = "kueue.x-k8s.io/v1beta1/workloads"
PREEMPTED = (
    "PreemptionByScheduler",
    "default-scheduler: preempting to accommodate a higher priority pod",
)


def queued(scene: Scene, job: Any, name: str = "job-llm") -> None:
    """Let a workload of Kueue stand for a job."""
    scene.makes(
        -18,
        WORKLOADS,
        "Workload",
        name,
        by="kueue",
        space="train",
        metadata={"ownerReferences": [job]},
        status={"conditions": []},
    )


def becomes(
    scene: Scene, at: float, *kinds: str, of: str = "job-llm", **status: Any
) -> None:
    """Let conditions of the workload be true, ``KIND/REASON`` each."""

    def change(made: dict[str, Any]) -> None:
        made["status"]["conditions"] = [
            {
                "type": kind.partition("/")[0],
                "status": "True",
                "reason": kind.partition("/")[2],
                "message": kind,
                "lastTransitionTime": clock(at),
            }
            for kind in kinds
        ]
        made["status"] |= status

    scene.alters(
        at,
        WORKLOADS,
        of,
        change,
        by="kueue",
        space="train",
        sub="status",
    )


def preempts(scene: Scene, at: float, pod: str) -> None:
    """Let the scheduler take a Pod for a better one."""
    by = "kube-scheduler"
    scene.pod(at, pod, by, deleting=True, disrupted=PREEMPTED)
    scene.fails(at + 3, pod, 143).gone(at + 3.2, pod)


@incident
def kueue_finds_another_node_for_a_gang() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    scene.dies(20, "gpu-002", 900)
    admitted = "Admitted/Admitted"
    becomes(scene, 97, admitted, unhealthyNodes=[{"name": "gpu-002"}])
    scene.pod(98, "w-1", "kueue", deleting=True)
    becomes(scene, 99, admitted, unhealthyNodes=[])
    scene.runs(100, "w-3", "gpu-004", of=job)
    scene.fails(911, "w-1", 255, "Unknown").gone(911.2, "w-1")
    hits_one(scene, outcome="rescheduled", again=100, hours=(0.2, 0.54))
    return scene.unexplained("gpu-002")


@incident
def kueue_takes_back_what_does_not_get_ready() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    becomes(
        scene, 600, "Evicted/PodsReadyTimeout", "Requeued/PodsReadyTimeout"
    )
    taken(scene, 601, 0, 1, 2)
    return scene.asks(0, 900, labels=HERE)


@incident
def kueue_stops_a_queue_and_drains_it() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    queued(scene, job)
    gang(scene, job)
    becomes(scene, 100, "Evicted/ClusterQueueStopped")
    taken(scene, 101, 0, 1, 2)
    scene.dies(400, "gpu-002", 1000)
    scene.asks(0, 1200, labels=HERE)
    return scene.unexplained("gpu-002")


@incident
def a_pod_group_gets_another_pod() -> Scene:
    scene = Scene(*FOUR)
    labels = {
        "kueue.x-k8s.io/pod-group-name": "llm",
        "kueue.x-k8s.io/managed": "true",
    }
    notes = {"kueue.x-k8s.io/pod-group-total-count": "3"}
    for place, node in enumerate(FOUR[:3]):
        pod = f"w-{place}"
        scene.runs(-5, pod, node, labels=labels, notes=notes)
    lost(scene, "w-1")
    scene.runs(400, "w-3", "gpu-004", labels=labels, notes=notes)
    return hits_one(scene, "PodGroup", outcome="rescheduled", again=400)


@incident
def one_gives_way_and_what_came_for_it_is_hit() -> Scene:
    scene = Scene()
    scene.runs(-5, "low-0", "gpu-002", of=owner("Job", "low", "batch/v1"))
    preempts(scene, 10, "low-0")
    scene.runs(14, "high-0", "gpu-002", of=owner("Job", "high", "batch/v1"))
    scene.dies(60, "gpu-002", 600)
    scene.fails(611, "high-0", 255, "Unknown")
    for name, by in (("low", "preemption"), ("high", "node-failure")):
        scene.hit(
            "Job",
            name,
            "gpu-002",
            [f"{name}-0"],
            size=1,
            gpus=8,
            by=by,
            outcome="preempted" if name == "low" else "down",
        )
    both = ["Job/train/high", "Job/train/low"]
    scene.asks(0, 900, labels=HERE, workloads=both)
    # What gave way is not back: so it appears beside a failure that lasts.
    scene.asks(40, 900, labels=HERE, workloads=both)
    return scene.unexplained("gpu-002")


@incident
def a_member_of_a_gang_is_preempted_and_all_begin_again() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    preempts(scene, 20, "w-1")
    for place in (0, 2):
        scene.fails(24, f"w-{place}", 1)
    gang(scene, job, on=OTHERS, at=30, name="x")
    return hits_one(scene, by="preemption", outcome="preempted")


@incident
def kueue_preempts_one_group_of_a_leader_worker_set() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "LeaderWorkerSet", LWS)
    leaders = under(scene, -19, SETS, "StatefulSet/llm", "lws", top)
    for group, nodes in enumerate((FOUR[:2], FOUR[2:])):
        # Kueue queues each group by a workload of its own.
        name = f"leaderworkerset-llm-{group}"
        queued(scene, top, name)
        becomes(scene, -10, "Admitted/Admitted", of=name)
        prefix = "leaderworkerset.sigs.k8s.io"
        labels = {
            f"{prefix}/name": "llm",
            f"{prefix}/group-index": str(group),
            "kueue.x-k8s.io/managed": "true",
            "kueue.x-k8s.io/pod-group-name": name,
            "kueue.x-k8s.io/queue-name": "gpus",
        }
        notes = {"kueue.x-k8s.io/pod-group-total-count": "2"}
        leader, worker = f"llm-{group}", f"llm-{group}-1"
        scene.runs(
            -5,
            leader,
            nodes[0],
            of=leaders,
            labels={**labels, f"{prefix}/worker-index": "0"},
            notes=notes,
        )
        above = owner("Pod", leader, "v1")
        workers = under(
            scene, -4.9, SETS, f"StatefulSet/{leader}", "lws", above
        )
        scene.runs(
            -4.5,
            worker,
            nodes[1],
            of=workers,
            labels={**labels, f"{prefix}/worker-index": "1"},
            notes=notes,
        )
    lost_pods = ["llm-0", "llm-0-1"]
    becomes(
        scene,
        100,
        "Evicted/Preempted",
        "Preempted/InClusterQueue",
        of="leaderworkerset-llm-0",
    )
    for pod in lost_pods:
        scene.pod(100.5, pod, "kueue", deleting=True)
        scene.fails(103, pod, 143).gone(103.2, pod)
    return scene.hit(
        "LeaderWorkerSet",
        "llm",
        FOUR[0],
        lost_pods,
        size=2,
        gpus=16,
        nodes=list(FOUR[:2]),
        by="preemption",
        outcome="preempted",
        accept={"first_node": list(FOUR[:2])},
    )
