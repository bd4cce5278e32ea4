"""Work of unknown kinds, and Pods that are deleted, not evicted."""

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import controller, or_decision
from tests.scenarios.workloads.work import (
    FOUR,
    OTHERS,
    crash,
    gang,
    hits_one,
    owned,
)

RUNS = "train.example.com/v1/trainruns"
FLEETS = "serve.example.com/v1/modelfleets"


@incident
def a_controller_of_ours_begins_a_gang_anew() -> Scene:
    scene = Scene()
    of = owned(scene, "TrainRun", RUNS)
    gang(scene, of)
    crash(scene)
    for pod in ("w-0", "w-2"):
        scene.pod(400, pod, "trainrun-operator", deleting=True)
        scene.fails(403, pod, 143).gone(403.2, pod)
    scene.tainted_away(371, "w-1")
    gang(scene, of, on=OTHERS, at=640, name="x")
    return hits_one(scene, "TrainRun", outcome="restarted")


@incident
def a_controller_of_ours_replaces_one_server() -> Scene:
    scene = Scene()
    of = owned(scene, "ModelFleet", FLEETS)
    gang(scene, of)
    crash(scene)
    scene.tainted_away(371, "w-1")
    scene.runs(640, "w-3", FOUR[3], of=of)
    return scene.hit(
        "ModelFleet",
        "llm",
        "gpu-002",
        ["w-1"],
        size=1,
        gpus=8,
        outcome="rescheduled",
    )


def cordoned(scene: Scene) -> Scene:
    """Expect that a program kept gpu-002 out of service, for what it may."""
    return scene.decided(
        "gpu-002",
        "cordoned",
        "manual-drain",
        controller("gpu-mender"),
        back=True,
        accept={
            "mode": ["unknown"],
            "happened": ["drained"],
            **or_decision(None),
        },
    )


@incident
def a_controller_deletes_the_pods_of_the_node_that_it_cordoned() -> Scene:
    scene = Scene()
    job = owner("Job", "sweep", "batch/v1")
    scene.runs(-5, "sweep-0", "gpu-002", of=job)
    scene.node(20, "gpu-002", "gpu-mender", cordon=True)
    scene.pod(22, "sweep-0", "kube-apiserver", deleting=True)
    scene.fails(25, "sweep-0", 143).gone(25.2, "sweep-0")
    scene.runs(30, "sweep-1", "gpu-003", of=job)
    scene.node(80, "gpu-002", "gpu-mender", cordon=False)
    return cordoned(scene).hit(
        "Job",
        "sweep",
        "gpu-002",
        ["sweep-0"],
        size=1,
        gpus=8,
        by="drain",
        outcome="rescheduled",
    )


@incident
def a_gang_fails_elsewhere_while_a_node_is_cordoned() -> Scene:
    scene = Scene()
    of = owned(scene, "Job", "batch/v1/jobs")
    gang(scene, of)
    scene.node(20, "gpu-002", "gpu-mender", cordon=True)
    scene.fails(21, "w-0", 1)
    for pod in ("w-1", "w-2"):
        scene.pod(22, pod, "kube-controller-manager", deleting=True)
        scene.fails(25, pod, 143).gone(25.2, pod)
    gang(scene, of, on=OTHERS, at=30, name="x")
    scene.node(80, "gpu-002", "gpu-mender", cordon=False)
    return cordoned(scene)
