"""Work is hit together, twice, by a queue, or not at all."""

from typing import Any

from tests.scenarios.remediation.strangers import SETS
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import controller
from tests.scenarios.upgrades.boots import RACKS, kured, locks
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    crash,
    gang,
    hits_one,
    owned,
    under,
)


@incident
def a_gang_loses_two_nodes_of_a_rack() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    gang(scene, owned(scene, "Job", JOBS), on=RACKS)
    scene.silent(20, "gpu-001").silent(24, "gpu-002")
    scene.stale(66, "gpu-001").stale(70, "gpu-002")
    scene.tainted_away(371, "w-0")
    scene.tainted_away(375, "w-1")
    scene.boots(500, "gpu-002").boots(640, "gpu-001")
    for node in ("gpu-001", "gpu-002"):
        scene.broke(node, "power-loss", boots=None)
    return scene.hit(
        "Job",
        "llm",
        "gpu-001",
        ["w-0", "w-1"],
        size=4,
        gpus=32,
        nodes=["gpu-001", "gpu-002"],
    )


@incident
def a_job_had_left_before() -> Scene:
    scene = Scene().runs(
        -5, "done-0", "gpu-002", of=owner("Job", "done", "batch/v1")
    )
    scene.pod(
        10, "done-0", "kubelet", ended=(0, "Completed"), phase="Succeeded"
    )
    scene.dies(400, "gpu-002", 900)
    return scene.unexplained("gpu-002", boots=None, back=None)


@incident
def another_job_fails_at_the_same_time() -> Scene:
    scene = Scene().runs(
        -5, "buggy-0", "gpu-003", of=owner("Job", "buggy", "batch/v1")
    )
    scene.runs(-5, "mine-0", "gpu-002", of=owner("Job", "mine", "batch/v1"))
    crash(scene)
    scene.fails(60, "buggy-0", 1)
    scene.fails(611, "mine-0", 255, "Unknown")
    return scene.hit("Job", "mine", "gpu-002", ["mine-0"], size=1, gpus=8)


@incident
def a_preemption_is_no_failure() -> Scene:
    scene = Scene().runs(
        -5, "low-0", "gpu-002", of=owner("Job", "low", "batch/v1")
    )
    why = "default-scheduler: preempting to accommodate a higher priority pod"
    scene.pod(
        20,
        "low-0",
        "kube-scheduler",
        deleting=True,
        disrupted=("PreemptionByScheduler", why),
    )
    scene.fails(23, "low-0", 143).gone(23.2, "low-0")
    scene.runs(24, "high-0", "gpu-002", of=owner("Job", "high", "batch/v1"))
    return scene.hit(
        "Job",
        "low",
        "gpu-002",
        ["low-0"],
        size=1,
        gpus=8,
        by="preemption",
        outcome="preempted",
    )


@incident
def a_queue_takes_the_place_of_a_workload() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.makes(
        -18,
        "kueue.x-k8s.io/v1beta1/workloads",
        "Workload",
        "job-llm",
        by="kueue",
        space="train",
        metadata={"ownerReferences": [job]},
        status={"conditions": []},
    )
    gang(scene, job)

    def evicted(workload: dict[str, Any]) -> None:
        workload["status"]["conditions"] = [
            {
                "type": "Evicted",
                "status": "True",
                "reason": "Preempted",
                "message": "Preempted to accommodate a workload",
            }
        ]

    scene.alters(
        20,
        "kueue.x-k8s.io/v1beta1/workloads",
        "job-llm",
        evicted,
        by="kueue",
        space="train",
        sub="status",
    )
    for place in range(3):
        scene.pod(20.5, f"w-{place}", "kube-controller-manager", deleting=True)
        scene.fails(23, f"w-{place}", 143).gone(23.2, f"w-{place}")
    return scene.hit(
        "Job",
        "llm",
        "gpu-001",
        ["w-0", "w-1", "w-2"],
        size=3,
        gpus=24,
        nodes=["gpu-001", "gpu-002", "gpu-003"],
        by="preemption",
        outcome="preempted",
    )


@incident
def a_gang_survives_a_restart_of_a_kubelet() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.starts(20, "gpu-002")
    hits_one(scene, outcome="survived")
    return scene.kubelet_restarted("gpu-002", boots=None)


@incident
def a_job_is_hit_twice_on_two_nodes() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-0", "gpu-001", of=job).runs(-5, "w-1", "gpu-002", of=job)
    for node, at, pod, new in (
        ("gpu-002", 20, "w-1", "w-2"),
        ("gpu-003", 3020, "w-2", "w-3"),
    ):
        scene.dies(at, node, at + 600)
        scene.tainted_away(at + 351, pod)
        other = "gpu-003" if new == "w-2" else "gpu-004"
        scene.runs(at + 400, new, other, of=job)
        scene.unexplained(node, boots=None, back=None)
    return scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1", "w-2"],
        size=2,
        gpus=16,
        nodes=["gpu-002", "gpu-003"],
        outcome="rescheduled",
    )


@incident
def a_deployment_loses_what_was_there() -> Scene:
    scene = Scene()
    scene.makes(
        -20,
        "apps/v1/deployments",
        "Deployment",
        "chat",
        space="train",
        by="helm",
    )
    top = owner("Deployment", "chat", "apps/v1")
    chat = under(scene, -19, SETS, "ReplicaSet/chat-5f", KCM, top)
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"chat-{place}", node, gpus=1, of=chat)
    crash(scene)
    scene.tainted_away(371, "chat-1")
    scene.runs(372, "chat-3", "gpu-003", gpus=1, of=chat)
    return scene.hit(
        "Deployment",
        "chat",
        "gpu-002",
        ["chat-1"],
        size=1,
        gpus=1,
        outcome="rescheduled",
    )


@incident
def two_kernels_alike_are_upgraded_by_a_lock_of_two() -> Scene:
    scene = Scene(*FOUR)
    kured(scene)
    locks(scene, 20, "gpu-001", owners=2)
    locks(scene, 22, "gpu-001", "gpu-002", owners=2)
    scene.node(20.1, "gpu-001", "kured", cordon=True)
    scene.node(22.1, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-001").silent(42, "gpu-002")
    scene.stale(86, "gpu-001").stale(88, "gpu-002")
    scene.boots(140, "gpu-001").boots(150, "gpu-002")
    scene.node(190, "gpu-001", "kured", cordon=False)
    locks(scene, 200, "gpu-002", owners=2)
    scene.node(210, "gpu-002", "kured", cordon=False)
    locks(scene, 220, owners=2)
    for node in ("gpu-001", "gpu-002"):
        scene.rebooted(node, "os-upgrade", controller("kured"))
    return scene
