"""Work near a crash: gone before, come later, over, or not begun."""

from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.attempts import lost, turns
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

HERE = {"kubernetes.io/hostname": "gpu-002"}
"""What selects the node, and asks of the impact alone."""

DONE = 0, "Completed"


def spares(scene: Scene, *hit: str) -> Scene:
    """Let the node crash without affected workloads but those hit before."""
    scene.dies(20, "gpu-002", 600)
    scene.asks(0, 900, labels=HERE, workloads=hit)
    scene.asks(0, 900, node="gpu-002", verdicts=[0], workloads=hit)
    return scene.unexplained("gpu-002")


@incident
def a_pod_completes_seconds_before_a_crash() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.pod(14.5, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 15, JOBS, "llm", "Complete", "CompletionsReached")
    return spares(scene)


@incident
def a_pod_is_deleted_seconds_before_a_crash() -> Scene:
    scene = Scene(audit=True).runs(-5, "shell", "gpu-002", gpus=1)
    who = "dave@example.com"
    scene.asked(5, who, "delete", "shell", resource="pods", space="train")
    scene.pod(5.1, "shell", "kube-apiserver", deleting=True)
    scene.fails(11, "shell", 143).gone(11.2, "shell")
    return spares(scene)


@incident
def a_job_moved_away_long_before_a_crash() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-900, "w-0", "gpu-002", of=job)
    scene.runs(-899, "w-1", "gpu-001", of=job)
    # What failed stays to be looked at, and is over.
    scene.fails(-600, "w-0", 1).runs(-590, "w-2", "gpu-003", of=job)
    return spares(scene)


@incident
def a_job_comes_to_a_node_that_is_back() -> Scene:
    scene = Scene()
    job = under(scene, 640, JOBS, "Job/llm", "dave")
    for place, node in enumerate(scene.names):
        scene.runs(641, f"w-{place}", node, of=job)
    return spares(scene)


@incident
def a_gang_waits_in_the_queue_while_a_node_crashes() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    for place in range(3):
        scene.runs(-5, f"w-{place}", "", of=job, starts=False)
    for place, node in enumerate(scene.names):

        def bound(pod: dict[str, dict[str, str]], to: str = node) -> None:
            pod["spec"]["nodeName"] = to
            pod["status"]["phase"] = "Running"

        scene.alters(
            650,
            "v1/pods",
            f"w-{place}",
            bound,
            by="kube-scheduler",
            space="train",
        )
    return spares(scene)


@incident
def a_pod_is_bound_to_a_node_that_is_dead() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(35, "w-0", "gpu-002", of=job, starts=False)
    scene.dies(20, "gpu-002", 600).tainted_away(372, "w-0")
    scene.runs(373, "w-1", "gpu-003", of=job).gone(611, "w-0")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="rescheduled",
        again=373,
        hours=(0.6, 0.752),
    )
    return scene.unexplained("gpu-002")


@incident
def an_index_that_is_done_is_no_part_of_a_gang() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.pod(5, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    lost(scene, "w-1").runs(373, "w-3", "gpu-001", of=job)
    return scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1"],
        size=2,
        gpus=16,
        outcome="rescheduled",
        again=373,
        hours=(1.3, 1.57),
    )


@incident
def a_job_is_deleted_while_it_is_down() -> Scene:
    scene = Scene(audit=True)
    gang(scene, owned(scene, "Job", JOBS))
    who = "dave@example.com"
    scene.asked(200, who, "delete", "llm", resource="jobs", space="train")
    scene.removes(200.1, JOBS, "llm", space="train")
    for place in range(3):
        scene.pod(200.3, f"w-{place}", KCM, deleting=True)
    for place in (0, 2):
        scene.fails(204, f"w-{place}", 143).gone(204.2, f"w-{place}")
    scene.dies(20, "gpu-002", 900)
    scene.fails(911, "w-1", 255, "Unknown").gone(911.2, "w-1")
    # It is not wanted any more: what was lost ends with it.
    hits_one(
        scene,
        outcome="down",
        hours=(0.8, 1.25),
        accept={"outcome": ["failed", "unknown"]},
    )
    return scene.unexplained("gpu-002")


@incident
def a_job_is_sent_again_by_the_one_whose_it_was() -> Scene:
    scene = Scene(*FOUR)
    gang(scene, owned(scene, "Job", JOBS))
    lost(scene, "w-1", 600)
    scene.removes(620, JOBS, "llm", space="train")
    taken(scene, 620.2, 0, 2)
    anew = under(scene, 700, JOBS, "Job/llm", "controller", life=2)
    gang(scene, anew, on=OTHERS, at=701, name="x")
    return hits_one(
        scene,
        outcome="down",
        hours=(3.6, 4.05),
        accept={"outcome": ["failed", "unknown"]},
    )


@incident
def a_replacement_waits_for_the_pod_that_it_replaces() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    lost(scene, "w-1").runs(912, "w-3", "gpu-004", of=job)
    return hits_one(scene, outcome="rescheduled", again=912, hours=(5.6, 5.96))


@incident
def a_job_is_to_fail_and_waits_for_a_dead_node() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    lost(scene, "w-1")
    over = "BackoffLimitExceeded"
    turns(scene, 373, JOBS, "llm", "FailureTarget", over)
    for place in (0, 2):
        scene.fails(375, f"w-{place}", 143)
    turns(scene, 912, JOBS, "llm", "Failed", over)
    return hits_one(scene, outcome="failed", hours=(2.28, 5.96))


@incident
def a_job_fails_just_before_its_neighbour_is_hit() -> Scene:
    # Two Jobs on one node: one is over before it ends, the other is hit.
    scene = Scene()
    scene.runs(-5, "old-0", "gpu-002", of=owner("Job", "old", "batch/v1"))
    scene.runs(-5, "new-0", "gpu-002", of=owner("Job", "new", "batch/v1"))
    scene.fails(3, "old-0", 1)
    lost(scene, "new-0", 600)
    return scene.hit("Job", "new", "gpu-002", ["new-0"], size=1, gpus=8)
