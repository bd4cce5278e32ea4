"""Work that lost a node continues: in part, late, elsewhere or unchanged."""

from typing import Any

from tests.scenarios.remediation.strangers import pod_of
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.world import PODS
from tests.scenarios.workloads.attempts import CLUSTERS, lost, turns
from tests.scenarios.workloads.bystanders import DONE
from tests.scenarios.workloads.gangs import JOBSETS
from tests.scenarios.workloads.leaving import chat, finds, waits
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

ENDED = 255, "Unknown"


def quick(scene: Scene) -> Scene:
    """Let gpu-002 reboot before it is missed."""
    return (
        scene.silent(20, "gpu-002").boots(75, "gpu-002").unexplained("gpu-002")
    )


@incident
def a_job_passes_its_deadline_while_its_node_is_down() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    lost(scene, "w-1")
    late = "DeadlineExceeded"
    turns(scene, 500, JOBS, "llm", "FailureTarget", late)
    taken(scene, 500.1, 0, 2)
    turns(scene, 912, JOBS, "llm", "Failed", late)
    return hits_one(scene, outcome="failed", hours=(2.8, 5.96))


@incident
def a_job_is_suspended_while_it_is_down_and_goes_on() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    lost(scene, "w-1")

    def suspended(made: dict[str, Any]) -> None:
        made["spec"] = {"suspend": not made.get("spec", {}).get("suspend")}

    scene.alters(200, JOBS, "llm", suspended, by="dave", space="train")
    for place in range(3):
        scene.pod(200.2, f"w-{place}", KCM, deleting=True)
    for place in (0, 2):
        scene.fails(203, f"w-{place}", 143).gone(203.2, f"w-{place}")
    scene.alters(1000, JOBS, "llm", suspended, by="dave", space="train")
    gang(scene, job, on=OTHERS, at=1001, name="x")
    # What was not wanted meanwhile may cost nothing, or as any other hour.
    return hits_one(scene, outcome="restarted", again=1001, hours=(0.8, 6.55))


@incident
def an_index_may_not_fail_again_and_the_others_end_well() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    lost(scene, "w-1")
    for place in (0, 2):
        scene.pod(3000, f"w-{place}", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 3001, JOBS, "llm", "Failed", "FailedIndexes")
    return hits_one(scene, outcome="failed")


@incident
def a_launcher_fails_until_its_worker_is_there_again() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "MPIJob", "kubeflow.org/v2beta1/mpijobs")
    job = under(scene, -18, JOBS, "Job/llm-launcher", "mpi-operator", top)
    gang(scene, top)
    lost(scene, "w-1")
    for number, at, over in ((0, -4, 75), (1, 90, 400)):
        pod = f"l-{number}"
        scene.runs(at, pod, "gpu-001", of=job, gpus=0).fails(over, pod, 1)
    scene.runs(913, "w-1", "gpu-004", of=top, life=2)
    scene.runs(930, "l-2", "gpu-001", of=job, gpus=0)
    return scene.hit(
        "MPIJob",
        "llm",
        "gpu-002",
        ["w-1"],
        size=4,
        gpus=24,
        outcome="rescheduled",
        again=930,
        hours=(5.7, 6.07),
    )


@incident
def a_gang_has_two_pods_on_the_node_that_it_loses() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    for place, node in enumerate(("gpu-001", "gpu-002", "gpu-002", "gpu-003")):
        scene.runs(-5, f"w-{place}", node, of=job, gpus=4)
    scene.dies(20, "gpu-002").tainted_away(372, "w-1", "w-2")
    scene.boots(900, "gpu-002")
    scene.runs(373, "w-4", "gpu-004", of=job, gpus=4)
    waits(scene, 373, "w-5", job, gpus=4)
    finds(scene, 700, "w-5", "gpu-004")
    for pod in ("w-1", "w-2"):
        scene.fails(911, pod, *ENDED).gone(911.2, pod)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1", "w-2"],
        size=4,
        gpus=16,
        outcome="rescheduled",
        again=700,
        hours=(2.8, 3.03),
    )
    return scene.unexplained("gpu-002")


@incident
def a_second_node_dies_before_a_gang_runs_again() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "JobSet", JOBSETS)

    def attempt(at: float, name: str, *nodes: str) -> None:
        job = under(scene, at, JOBS, f"Job/llm-{name}", "jobset", top)
        for place, node in enumerate(nodes):
            pulls = (name, place) == ("b", 0)
            pod = f"{name}-{place}"
            scene.runs(at + 1, pod, node, of=job, starts=not pulls)

    attempt(-6, "a", "gpu-001", "gpu-002", "gpu-003")
    lost(scene, "a-1")
    for place in (0, 2):
        scene.fails(374, f"a-{place}", 143).gone(912, f"a-{place}")
    attempt(914, "b", "gpu-001", "gpu-004", "gpu-003")
    scene.dies(930, "gpu-004", 1700).tainted_away(1282, "b-1")
    scene.gone(1284, "b-0").fails(1284, "b-2", 143).gone(1712, "b-2")
    scene.fails(1711, "b-1", *ENDED).gone(1711.2, "b-1")
    attempt(1715, "c", "gpu-001", "gpu-002", "gpu-003")
    scene.hit(
        "JobSet",
        "llm",
        "gpu-002",
        ["a-1", "b-1"],
        size=3,
        gpus=24,
        nodes=["gpu-002", "gpu-004"],
        outcome="restarted",
        again=1716,
        hours=(10.9, 11.31),
    )
    return scene.unexplained("gpu-004")


@incident
def an_eviction_is_called_off_because_its_node_is_back() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002").heals(300, "gpu-002")
    scene.says(
        300.3,
        "taint-eviction-controller",
        "TaintManagerEviction",
        "Cancelling deletion of Pod train/w-1",
        about=pod_of("w-1"),
    )
    hits_one(scene, outcome="survived", hours=(0, 0))
    return scene.cut_off("gpu-002", "network-partition", most="likely")


def _restarted(
    scene: Scene, at: float, key: str, name: str, count: int, **status: Any
) -> None:
    """Let a kubelet say how often a container of w-1 began again."""

    def change(pod: dict[str, Any]) -> None:
        end = {"exitCode": 137, "reason": "Error", "finishedAt": clock(at)}
        one = {"name": name, "restartCount": count, "ready": True}
        if count:
            one["lastState"] = {"terminated": end}
        one["state"] = {"running": {"startedAt": clock(at)}}
        pod["status"][key] = [one]
        pod["status"] |= status

    scene.alters(at, PODS, "w-1", change, by="kubelet", space="train")


@incident
def a_sidecar_begins_again_and_the_work_goes_on() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    _restarted(scene, -4, "initContainerStatuses", "profiler", 0)
    scene.starts(20, "gpu-002")
    _restarted(scene, 25, "initContainerStatuses", "profiler", 1)
    hits_one(scene, outcome="survived", hours=(0, 0))
    return scene.kubelet_restarted("gpu-002", boots=None)


@incident
def what_comes_back_takes_its_first_steps_again() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    _restarted(scene, -4, "initContainerStatuses", "fetch", 0)
    quick(scene)
    key = "initContainerStatuses"
    _restarted(scene, 86, key, "fetch", 1, phase="Pending")
    _restarted(scene, 130, "containerStatuses", "main", 1, phase="Running")
    return hits_one(scene, outcome="restarted", again=130, hours=(0.2, 0.74))


@incident
def a_restart_in_place_is_one_too_many() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    quick(scene)
    scene.pod(92, "w-1", "kubelet", ended=ENDED, again=True)
    over = "BackoffLimitExceeded"
    turns(scene, 93, JOBS, "llm", "FailureTarget", over)
    taken(scene, 93.2, 0, 1, 2)
    turns(scene, 97, JOBS, "llm", "Failed", over)
    # And it is swept away as soon as it is over.
    scene.removes(97.5, JOBS, "llm", space="train")
    return hits_one(scene, outcome="failed", hours=(0.1, 0.52))


@incident
def ray_makes_a_worker_anew_where_it_was() -> Scene:
    scene = Scene()
    cluster = owned(scene, "RayCluster", CLUSTERS)
    for place, node in enumerate(scene.names):
        gpus = 8 if place else 0
        scene.runs(-5, f"w-{place}", node, of=cluster, gpus=gpus)
    quick(scene).fails(86, "w-1", *ENDED).gone(87, "w-1")
    scene.runs(95, "w-x9", "gpu-002", of=cluster)
    return scene.hit(
        "RayCluster",
        "llm",
        "gpu-002",
        ["w-1"],
        size=3,
        gpus=16,
        outcome="restarted",
        again=95,
        hours=(0.05, 0.34),
    )


@incident
def two_servers_are_lost_and_one_is_back_much_sooner() -> Scene:
    scene = Scene()
    of = chat(scene)
    for place, node in enumerate(("gpu-002", "gpu-002", "gpu-001")):
        scene.runs(-5, f"chat-{place}", node, of=of, gpus=1)
    lost(scene, "chat-0").tainted_away(372, "chat-1")
    scene.fails(911, "chat-1", *ENDED).gone(911.2, "chat-1")
    scene.runs(373, "chat-3", "gpu-003", of=of, gpus=1)
    waits(scene, 373, "chat-4", of, gpus=1)
    finds(scene, 1000, "chat-4", "gpu-003")
    # Each is absent for itself alone.
    return scene.hit(
        "Deployment",
        "chat",
        "gpu-002",
        ["chat-0", "chat-1"],
        size=2,
        gpus=2,
        outcome="rescheduled",
        again=1000,
        hours=(0.33, 0.371),
    )
