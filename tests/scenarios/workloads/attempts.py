"""Controllers of gangs replace what was lost: all of it, or a part."""

from typing import Any

from tests.scenarios.remediation.strangers import pod_of
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.gangs import JOBSETS, LWS, SETS
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    OTHERS,
    gang,
    hits_one,
    owned,
    under,
)

CLUSTERS = "ray.io/v1/rayclusters"
GROUPS = "leaderworkerset.sigs.k8s.io"


def lost(scene: Scene, pod: str, back: float = 900) -> Scene:
    """Let gpu-002 crash, a Pod on it be evicted, and both come to an end."""
    scene.dies(20, "gpu-002", back).tainted_away(372, pod)
    scene.fails(back + 11, pod, 255, "Unknown").gone(back + 11.2, pod)
    return scene.unexplained("gpu-002")


def turns(
    scene: Scene,
    at: float,
    resource: str,
    name: str,
    kind: str,
    reason: str,
    **status: Any,
) -> None:
    """Let a condition of a workload be true."""

    def change(made: dict[str, Any]) -> None:
        conditions = made.setdefault("status", {}).setdefault("conditions", [])
        conditions.append(
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": reason,
                "lastTransitionTime": clock(at),
            }
        )
        made["status"] |= status

    scene.alters(
        at,
        resource,
        name,
        change,
        by="controller",
        space="train",
        sub="status",
    )


def about(kind: str, name: str, api: str) -> dict[str, str]:
    """Refer to a workload, as an Event does."""
    return {
        "kind": kind,
        "namespace": "train",
        "name": name,
        "apiVersion": api,
    }


@incident
def a_jobset_makes_one_of_its_jobs_anew() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "JobSet", JOBSETS)
    for place, node in enumerate(FOUR[:3]):
        job = under(scene, -19, JOBS, f"Job/llm-w-{place}", "jobset", top)
        scene.runs(-5, f"llm-w-{place}-0-a", node, of=job)
    lost(scene, "llm-w-1-0-a")
    turns(scene, 911.5, JOBS, "llm-w-1", "Failed", "BackoffLimitExceeded")
    scene.says(
        912,
        "jobset",
        "RecreateJobFailurePolicyAction",
        "applying RecreateJob failure policy action (first failed job:"
        " llm-w-1)",
        about=about("JobSet", "llm", "jobset.x-k8s.io/v1alpha2"),
    )
    scene.removes(913, JOBS, "llm-w-1", space="train")
    anew = under(scene, 914, JOBS, "Job/llm-w-1", "jobset", top, life=2)
    scene.runs(915, "llm-w-1-0-b", "gpu-004", of=anew)
    return scene.hit(
        "JobSet",
        "llm",
        "gpu-002",
        ["llm-w-1-0-a"],
        size=3,
        gpus=24,
        outcome="rescheduled",
        again=915,
        hours=(5.6, 5.98),
    )


@incident
def a_jobset_begins_again_in_its_places() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "JobSet", JOBSETS)
    job = under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top)
    key = "jobset.sigs.k8s.io/in-place-restart-attempt"
    for place, node in enumerate(FOUR[:3]):
        scene.runs(-5, f"w-{place}", node, of=job, notes={key: "0"})
    lost(scene, "w-1")
    scene.runs(373, "w-3", "gpu-004", of=job, notes={key: "1"})
    for place in (0, 2):
        again = 137, "Error"
        scene.pod(376, f"w-{place}", "kubelet", ended=again, again=True)
    return hits_one(scene, "JobSet", outcome="restarted", hours=(2.0, 2.4))


@incident
def a_jobset_ends_by_its_own_rule() -> Scene:
    scene = Scene()
    top = owned(scene, "JobSet", JOBSETS)
    gang(scene, under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top))
    scene.silent(20, "gpu-002").boots(100, "gpu-002")
    scene.fails(111, "w-1", 255, "Unknown")
    turns(scene, 111.5, JOBS, "llm-w-0", "Failed", "BackoffLimitExceeded")
    for place in (0, 2):
        scene.fails(112, f"w-{place}", 143)
    reason = "FailJobSetFailurePolicyAction"
    turns(scene, 113, JOBSETS, "llm", "Failed", reason, terminalState="Failed")
    for place in range(3):
        scene.gone(400 + place, f"w-{place}")
    hits_one(scene, "JobSet", outcome="failed", hours=(0.08, 0.63))
    return scene.unexplained("gpu-002")


@incident
def a_worker_of_a_group_is_replaced_alone() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "LeaderWorkerSet", LWS)
    leaders = under(scene, -19, SETS, "StatefulSet/llm", "lws", top)

    def labels(place: str) -> dict[str, str]:
        marks = {"name": "llm", "group-index": "0", "worker-index": place}
        return {f"{GROUPS}/{key}": value for key, value in marks.items()}

    scene.runs(-6, "llm-0", "gpu-001", of=leaders, labels=labels("0"))
    leader = owner("Pod", "llm-0", "v1")
    workers = under(scene, -5.5, SETS, "StatefulSet/llm-0", "lws", leader)
    scene.runs(-5, "llm-0-1", "gpu-002", of=workers, labels=labels("1"))
    lost(scene, "llm-0-1", 600)
    scene.runs(
        612, "llm-0-1", "gpu-003", of=workers, labels=labels("1"), life=2
    )
    return scene.hit(
        "LeaderWorkerSet",
        "llm",
        "gpu-002",
        ["llm-0-1"],
        size=2,
        gpus=16,
        outcome="rescheduled",
        again=612,
    )


def group(scene: Scene, at: float, life: int, lead: str, work: str) -> None:
    """Let a group of a leader and a worker run, under the same names."""
    marks = {f"{GROUPS}/name": "llm", f"{GROUPS}/group-index": "0"}
    leaders = owner("StatefulSet", "llm", "apps/v1")
    scene.runs(
        at, "llm-0", lead, of=leaders, labels={**marks}, life=life, gpus=8
    )
    leader = owner("Pod", "llm-0", "v1", life=life)
    of = under(
        scene, at + 0.2, SETS, "StatefulSet/llm-0", "lws", leader, life=life
    )
    scene.runs(at + 0.5, "llm-0-1", work, of=of, labels=marks, life=life)


@incident
def a_group_begins_again_under_its_old_names() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "LeaderWorkerSet", LWS)
    leaders = under(scene, -19, SETS, "StatefulSet/llm", "lws", top)
    group(scene, -6, 1, "gpu-001", "gpu-002")
    scene.runs(
        -5,
        "llm-1",
        "gpu-003",
        of=leaders,
        labels={f"{GROUPS}/name": "llm", f"{GROUPS}/group-index": "1"},
    )
    lost(scene, "llm-0-1")
    scene.says(
        372.4,
        "leaderworkerset",
        "RecreateGroup",
        "Worker pod llm-0-1 failed, deleted leader pod llm-0 to recreate"
        " group 0",
        about=pod_of("llm-0"),
    )
    scene.pod(372.5, "llm-0", "lws", deleting=True).fails(375, "llm-0", 143)
    scene.removes(911.5, SETS, "llm-0", space="train").gone(912, "llm-0")
    group(scene, 913, 2, "gpu-001", "gpu-004")
    return scene.hit(
        "LeaderWorkerSet",
        "llm",
        "gpu-002",
        ["llm-0-1"],
        size=2,
        gpus=16,
        outcome="restarted",
        again=913.5,
        hours=(3.7, 3.98),
    )


@incident
def a_cluster_of_ray_gets_another_worker() -> Scene:
    scene = Scene(*FOUR)
    cluster = owned(scene, "RayCluster", CLUSTERS)
    roles = ("head", "worker", "worker")
    for place, (role, node) in enumerate(zip(roles, FOUR, strict=False)):
        marks = {"ray.io/cluster": "llm", "ray.io/node-type": role}
        scene.runs(-5, f"llm-{role}-{place}", node, of=cluster, labels=marks)
    lost(scene, "llm-worker-1")
    scene.says(
        373,
        "raycluster-controller",
        "CreatedWorkerPod",
        "Created worker Pod train/llm-worker-x9",
        about=about("RayCluster", "llm", "ray.io/v1"),
    )
    marks = {"ray.io/cluster": "llm", "ray.io/node-type": "worker"}
    scene.runs(373, "llm-worker-x9", "gpu-004", of=cluster, labels=marks)
    return scene.hit(
        "RayCluster",
        "llm",
        "gpu-002",
        ["llm-worker-1"],
        size=3,
        gpus=24,
        outcome="rescheduled",
        again=373,
        hours=(2.0, 2.36),
    )


@incident
def a_job_of_ray_is_tried_again_on_another_cluster() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "RayJob", "ray.io/v1/rayjobs")

    def cluster(at: float, name: str, *nodes: str) -> None:
        of = under(scene, at, CLUSTERS, f"RayCluster/{name}", "kuberay", top)
        for place, node in enumerate(nodes):
            marks = {"ray.io/cluster": name}
            pod = f"{name}-{place}"
            scene.runs(at + 1, pod, node, of=of, labels=marks)

    cluster(-10, "llm-aa", "gpu-002", "gpu-001", "gpu-003")
    lost(scene, "llm-aa-0")
    for place in (1, 2):
        scene.pod(400, f"llm-aa-{place}", "kuberay", deleting=True)
        scene.fails(405, f"llm-aa-{place}", 143).gone(406, f"llm-aa-{place}")
    scene.removes(407, CLUSTERS, "llm-aa", space="train")
    cluster(420, "llm-bb", "gpu-004", "gpu-001", "gpu-003")
    return scene.hit(
        "RayJob",
        "llm",
        "gpu-002",
        ["llm-aa-0"],
        size=3,
        gpus=24,
        outcome="restarted",
        again=421,
    )


@incident
def volcano_makes_one_task_anew_under_its_name() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "Job", "batch.volcano.sh/v1alpha1/jobs")
    marks = {"volcano.sh/job-name": "llm", "volcano.sh/job-retry-count": "0"}
    gang(scene, top, marks)
    lost(scene, "w-1")
    scene.runs(912, "w-1", "gpu-004", of=top, labels=marks, life=2)
    return hits_one(scene, outcome="rescheduled", again=912)


@incident
def a_jobset_waits_until_a_node_is_out_of_service() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "JobSet", JOBSETS)
    gang(scene, under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top))
    scene.dies(20, "gpu-002").tainted_away(372, "w-1")
    for place in (0, 2):
        scene.fails(374, f"w-{place}", 143).gone(375, f"w-{place}")
    # Garbage collection takes what is over, by whatever order.
    scene.pod(420, "w-1", KCM, phase="Failed").gone(420.1, "w-1")
    scene.removes(421, JOBS, "llm-w-0", space="train")
    anew = under(scene, 422, JOBS, "Job/llm-w-0", "jobset", top, life=2)
    gang(scene, anew, on=OTHERS, at=423, name="x")
    scene.expect(
        "gpu-002",
        "unreachable",
        "abrupt",
        most="possible",
        back=False,
        accept={"mode": ["unknown"], "fault": ["network-partition"]}
        | {"cause": ["network-partition"]},
    )
    return hits_one(scene, "JobSet", outcome="restarted", again=423)
