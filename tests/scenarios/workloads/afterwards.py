"""Work continues after a failure, and ends long after for its own reasons."""

from typing import Any

from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.world import PODS
from tests.scenarios.workloads.attempts import lost, turns
from tests.scenarios.workloads.bystanders import DONE
from tests.scenarios.workloads.work import FOUR, JOBS, gang, hits_one, owned

ENDED = 255, "Unknown"


def comes_back(scene: Scene) -> Scene:
    """Let a worker come back in its place after a quick reboot."""
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    scene.pod(92, "w-1", "kubelet", ended=ENDED, again=True)
    hits_one(scene, outcome="restarted", again=92, hours=(0.1, 0.49))
    return scene.unexplained("gpu-002")


@incident
def what_came_back_begins_again_once_more_by_itself() -> Scene:
    scene = comes_back(Scene())
    return scene.pod(4000, "w-1", "kubelet", ended=(1, "Error"), again=True)


@incident
def what_came_back_ends_well() -> Scene:
    scene = comes_back(Scene())
    for place in range(3):
        pod = f"w-{place}"
        scene.pod(1500, pod, "kubelet", ended=DONE, phase="Succeeded")
        scene.gone(1600, pod)
    turns(scene, 1501, JOBS, "llm", "Complete", "CompletionsReached")
    return scene


@incident
def what_came_back_fails_hours_later() -> Scene:
    scene = comes_back(Scene())
    scene.fails(7000, "w-0", 1)
    turns(scene, 7001, JOBS, "llm", "Failed", "BackoffLimitExceeded")
    return scene


@incident
def what_came_back_was_seen_to_have_ended_first() -> Scene:
    # So a kubelet reports it: the end of a container, then its next run.
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    scene.pod(86, "w-1", "kubelet", ended=ENDED)

    def runs(pod: dict[str, Any]) -> None:
        container = pod["status"]["containerStatuses"][0]
        container["lastState"] = container["state"]
        container["state"] = {"running": {"startedAt": clock(92)}}
        container["restartCount"] = 1

    scene.alters(92, PODS, "w-1", runs, by="kubelet", space="train")
    hits_one(scene, outcome="restarted", again=92, hours=(0.1, 0.49))
    return scene.unexplained("gpu-002")


@incident
def what_was_replaced_fails_hours_later() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    lost(scene, "w-1").runs(373, "w-3", "gpu-004", of=job)
    scene.fails(7000, "w-3", 1)
    turns(scene, 7001, JOBS, "llm", "Failed", "BackoffLimitExceeded")
    return hits_one(scene, outcome="rescheduled", again=373, hours=(2.0, 2.36))


@incident
def what_was_replaced_fails_because_of_what_was_lost() -> Scene:
    # The lost Pod counts when it is over, which takes its node.
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    lost(scene, "w-1").runs(373, "w-3", "gpu-004", of=job)
    turns(scene, 911.5, JOBS, "llm", "Failed", "BackoffLimitExceeded")
    for place in (0, 2, 3):
        scene.fails(913, f"w-{place}", 143)
    return hits_one(scene, outcome="failed", hours=(2.0, 5.96))


@incident
def a_pod_is_cut_off_and_ends_well_minutes_later() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").stale(66, "gpu-002").heals(200, "gpu-002")
    scene.pod(330, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="survived",
        hours=(0, 0),
    )
    return scene.cut_off("gpu-002", "network-partition", most="likely")


@incident
def a_kubelet_starts_and_a_job_ends_well_soon() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.starts(20, "gpu-002")
    scene.pod(120, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="survived",
        hours=(0, 0),
    )
    return scene.kubelet_restarted("gpu-002", boots=None)
