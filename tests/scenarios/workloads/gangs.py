"""Gangs end and begin again, each as its controller does it."""

from typing import Any

from tests.scenarios.remediation.strangers import pod_of
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    OTHERS,
    gang,
    hits_one,
    owned,
    under,
)

WORKLOADS = "kueue.x-k8s.io/v1beta1/workloads"
JOBSETS = "jobset.x-k8s.io/v1alpha2/jobsets"
LWS = "leaderworkerset.x-k8s.io/v1/leaderworkersets"
SETS = "apps/v1/statefulsets"


def _evicted(scene: Scene, at: float, reason: str, *nodes: str) -> None:
    def change(workload: dict[str, Any]) -> None:
        workload["status"] = {
            "conditions": [
                {
                    "type": "Evicted",
                    "status": "True",
                    "reason": reason,
                    "message": "Workload eviction triggered",
                    "lastTransitionTime": clock(at),
                }
            ],
            "unhealthyNodes": [{"name": node} for node in nodes],
        }

    scene.alters(
        at,
        WORKLOADS,
        "job-llm-4f1aa",
        change,
        by="kueue",
        space="train",
        sub="status",
    )


def _workload(scene: Scene, job: Any) -> None:
    scene.makes(
        -18,
        WORKLOADS,
        "Workload",
        "job-llm-4f1aa",
        by="kueue",
        space="train",
        metadata={"ownerReferences": [job]},
        status={"conditions": []},
    )


@incident
def kueue_names_the_node_that_failed() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    _workload(scene, job)
    gang(scene, job)
    scene.dies(20, "gpu-002", 900)
    _evicted(scene, 97, "NodeFailures", "gpu-002")
    for place in (0, 2, 1):
        scene.pod(97.5 + place / 10, f"w-{place}", KCM, deleting=True)
    for place in (0, 2):
        scene.fails(100, f"w-{place}", 143).gone(100.5, f"w-{place}")
    gang(scene, job, on=OTHERS, at=130, name="x")
    scene.fails(911, "w-1", 255, "Unknown").gone(911.3, "w-1")
    hits_one(scene, outcome="restarted")
    scene.asks(
        0, 1000, node="gpu-002", verdicts=[0], workloads=["Job/train/llm"]
    )
    scene.asks(0, 1000, node="gpu-003")
    return scene.unexplained("gpu-002", back=None)


@incident
def a_queue_takes_a_workload_just_before_a_crash() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    _workload(scene, job)
    gang(scene, job)
    _evicted(scene, 15, "Preempted")
    for place in range(3):
        scene.pod(15.5, f"w-{place}", KCM, deleting=True)
        scene.fails(18, f"w-{place}", 143).gone(18.2, f"w-{place}")
    scene.dies(60, "gpu-002", 600)
    scene.hit(
        "Job",
        "llm",
        "gpu-001",
        ["w-0", "w-1", "w-2"],
        size=3,
        gpus=24,
        nodes=["gpu-001", "gpu-002", "gpu-003"],
        by="preemption",
        outcome="preempted",
        accept={"first_node": ["gpu-002", "gpu-003"]},
    )
    scene.asks(40, 900, node="gpu-002", verdicts=[0])
    return scene.unexplained("gpu-002")


@incident
def the_leader_of_a_group_dies() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "LeaderWorkerSet", LWS)
    leaders = under(scene, -19, SETS, "StatefulSet/llm", "lws", top)

    def labels(group: str, place: str) -> dict[str, str]:
        prefix = "leaderworkerset.sigs.k8s.io"
        return {
            f"{prefix}/name": "llm",
            f"{prefix}/group-index": group,
            f"{prefix}/worker-index": place,
        }

    def group(at: float, lead: str, work: str, life: int) -> None:
        scene.runs(
            at, f"llm-0-l{life}", lead, of=leaders, labels=labels("0", "0")
        )
        leader = owner("Pod", f"llm-0-l{life}", "v1")
        workers = f"StatefulSet/llm-0-s{life}"
        of = under(scene, at + 0.1, SETS, workers, "lws", leader)
        scene.runs(
            at + 0.5, f"llm-0-w{life}", work, of=of, labels=labels("0", "1")
        )

    group(-5, "gpu-002", "gpu-001", 1)
    scene.runs(-5, "llm-1-l1", "gpu-003", of=leaders, labels=labels("1", "0"))
    scene.dies(20, "gpu-002", 900)
    scene.tainted_away(372, "llm-0-l1")
    scene.says(
        372.4,
        "leaderworkerset",
        "RecreateGroup",
        "Leader pod llm-0-l1 failed, deleted leader pod to recreate group 0",
        about=pod_of("llm-0-l1"),
    )
    scene.pod(373, "llm-0-w1", KCM, deleting=True)
    scene.fails(376, "llm-0-w1", 143).gone(376.2, "llm-0-w1")
    scene.fails(911, "llm-0-l1", 255, "Unknown").gone(911.2, "llm-0-l1")
    group(913, "gpu-004", "gpu-001", 2)
    scene.hit(
        "LeaderWorkerSet",
        "llm",
        "gpu-002",
        ["llm-0-l1"],
        size=2,
        gpus=16,
        outcome="restarted",
    )
    scene.asks(0, 1000, node="gpu-003")
    return scene.unexplained("gpu-002")


@incident
def the_head_of_a_ray_job_dies() -> Scene:
    scene = Scene()
    jobs = "ray.io/v1/rayjobs"
    top = owned(scene, "RayJob", jobs)
    cluster = owned(scene, "RayCluster", "ray.io/v1/rayclusters", top)
    gang(scene, cluster, {"ray.io/cluster": "llm"})
    scene.dies(20, "gpu-001", 900)

    def failed(made: dict[str, Any]) -> None:
        made["status"] = {
            "jobStatus": "FAILED",
            "jobDeploymentStatus": "Failed",
            "reason": "AppFailed",
            "message": "Job supervisor actor died: the node was terminated",
            "endTime": clock(200),
        }

    scene.alters(
        200,
        jobs,
        "llm",
        failed,
        by="kuberay-operator",
        space="train",
        sub="status",
    )
    scene.tainted_away(372, "w-0")
    scene.fails(911, "w-0", 255, "Unknown").gone(911.2, "w-0")
    scene.hit(
        "RayJob",
        "llm",
        "gpu-001",
        ["w-0"],
        size=3,
        gpus=24,
        outcome="failed",
        accept={"outcome": ["down"]},
    )
    scene.asks(
        0, 1000, node="gpu-001", verdicts=[0], workloads=["RayJob/train/llm"]
    )
    return scene.unexplained("gpu-001")


@incident
def a_jobset_waits_for_the_machine_that_died() -> Scene:
    scene = Scene()
    top = owned(scene, "JobSet", JOBSETS)

    def attempt(at: float, number: int) -> None:
        name = f"llm-w-0-r{number}"
        scene.makes(
            at,
            JOBS,
            "Job",
            name,
            by="manager",
            space="train",
            metadata={
                "ownerReferences": [top],
                "labels": {"jobset.sigs.k8s.io/restart-attempt": f"{number}"},
            },
        )
        for place, node in enumerate(("gpu-001", "gpu-002", "gpu-003")):
            job = owner("Job", name, "batch/v1")
            scene.runs(at + 0.5, f"r{number}-{place}", node, of=job)

    attempt(-10, 0)
    scene.dies(20, "gpu-002", 900)
    scene.tainted_away(372, "r0-1")
    for place in (0, 2):
        scene.fails(374, f"r0-{place}", 143)
    scene.fails(911, "r0-1", 255, "Unknown").gone(911.2, "r0-1")
    for place in (0, 2):
        scene.gone(912, f"r0-{place}")
    scene.says(
        912.5,
        "jobset",
        "RestartJobSetFailurePolicyAction",
        "applying RestartJobSet failure policy action (first failed job:"
        " llm-w-0-r0)",
        about={
            "kind": "JobSet",
            "namespace": "train",
            "name": "llm",
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
        },
    )
    attempt(914, 1)
    scene.hit(
        "JobSet",
        "llm",
        "gpu-002",
        ["r0-1"],
        size=3,
        gpus=24,
        outcome="restarted",
    )
    scene.asks(
        0, 1000, node="gpu-002", verdicts=[0], workloads=["JobSet/train/llm"]
    )
    return scene.unexplained("gpu-002")
