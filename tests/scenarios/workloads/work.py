"""Gangs of every kind lose a node."""

from collections.abc import Iterable
from typing import Any

from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner

JOBS = "batch/v1/jobs"
FOUR = ("gpu-001", "gpu-002", "gpu-003", "gpu-004")
OTHERS = ("gpu-001", "gpu-003", "gpu-004")
"""Than the one that is lost."""


def crash(scene: Scene, node: str = "gpu-002") -> Scene:
    """Let a node crash, and say so."""
    scene.dies(20, node, 600)
    return scene.unexplained(node, boots=None, back=None)


def gang(
    scene: Scene,
    of: Any,
    labels: dict[str, str] | None = None,
    *,
    on: Iterable[str] = FOUR[:3],
    at: float = -5,
    name: str = "w",
) -> None:
    """Let a gang run, a Pod on each node."""
    for place, node in enumerate(on):
        scene.runs(at, f"{name}-{place}", node, of=of, labels=labels or {})


def taken(scene: Scene, at: float, *places: int, of: str = "w") -> None:
    """Let Pods of a gang be deleted in order."""
    for place in places:
        pod = f"{of}-{place}"
        scene.pod(at, pod, KCM, deleting=True)
        scene.fails(at + 3, pod, 143).gone(at + 3.2, pod)


def hits_one(scene: Scene, kind: str = "Job", **how: Any) -> Scene:
    """Expect that of a gang of three, one on each node, w-1 is hit."""
    return scene.hit(kind, "llm", "gpu-002", ["w-1"], size=3, gpus=24, **how)


def loses(scene: Scene) -> None:
    """Let the Pod on the lost node be evicted, and the others end."""
    scene.tainted_away(371, "w-1")
    scene.fails(380, "w-0", 143).fails(380, "w-2", 143)
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")


def owned(scene: Scene, kind: str, resource: str, *below: Any) -> Any:
    """Make an owner of everything, which an owner below may have."""
    return under(scene, -20, resource, f"{kind}/llm", "controller", *below)


def under(
    scene: Scene,
    at: float,
    resource: str,
    thing: str,
    by: str,
    *owners: Any,
    life: int = 1,
) -> Any:
    """Make ``KIND/NAME`` as a part of its owners, and refer to it."""
    kind, _, name = thing.partition("/")
    scene.makes(
        at,
        resource,
        kind,
        name,
        by=by,
        space="train",
        life=life,
        metadata={"ownerReferences": list(owners)},
    )
    return owner(kind, name, resource.rpartition("/")[0], life=life)


@incident
def a_jobset_loses_a_node() -> Scene:
    scene = Scene()
    top = owned(scene, "JobSet", "jobset.x-k8s.io/v1alpha2/jobsets")
    gang(scene, under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top))
    crash(scene)
    loses(scene)
    anew = under(scene, 400, JOBS, "Job/llm-w-0-1", "jobset", top)
    gang(scene, anew, on=OTHERS, at=640, name="x")
    return hits_one(scene, "JobSet", outcome="restarted")


@incident
def a_trainjob_loses_a_node() -> Scene:
    scene = Scene()
    train = owned(scene, "TrainJob", "trainer.kubeflow.org/v1alpha1/trainjobs")
    jobset = "jobset.x-k8s.io/v1alpha2/jobsets"
    top = owned(scene, "JobSet", jobset, train)
    gang(scene, under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top))
    crash(scene)
    loses(scene)
    return hits_one(scene, "TrainJob")


@incident
def a_pytorchjob_loses_a_node() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "PyTorchJob", "kubeflow.org/v1/pytorchjobs"))
    crash(scene)
    loses(scene)
    return hits_one(scene, "PyTorchJob")


@incident
def an_mpijob_loses_a_worker() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "MPIJob", "kubeflow.org/v2beta1/mpijobs"))
    crash(scene)
    loses(scene)
    return hits_one(scene, "MPIJob")


@incident
def a_rayjob_loses_a_worker() -> Scene:
    scene = Scene()
    top = owned(scene, "RayJob", "ray.io/v1/rayjobs")
    cluster = owned(scene, "RayCluster", "ray.io/v1/rayclusters", top)
    gang(scene, cluster, {"ray.io/cluster": "llm"})
    crash(scene)
    loses(scene)
    return hits_one(scene, "RayJob")


@incident
def a_volcano_job_loses_a_node() -> Scene:
    scene = Scene()
    gang(
        scene,
        owned(scene, "Job", "batch.volcano.sh/v1alpha1/jobs"),
        {"volcano.sh/job-name": "llm", "volcano.sh/queue-name": "default"},
    )
    crash(scene)
    loses(scene)
    return hits_one(scene)


@incident
def a_pod_group_of_kueue_loses_a_node() -> Scene:
    scene = Scene()
    gang(
        scene,
        None,
        {
            "kueue.x-k8s.io/pod-group-name": "llm",
            "kueue.x-k8s.io/managed": "true",
        },
    )
    crash(scene)
    loses(scene)
    return hits_one(scene, "PodGroup")


@incident
def a_group_of_workers_is_made_anew() -> Scene:
    scene = Scene()
    top = owned(
        scene,
        "LeaderWorkerSet",
        "leaderworkerset.x-k8s.io/v1/leaderworkersets",
    )
    sets = "apps/v1/statefulsets"
    group_of = under(scene, -19, sets, "StatefulSet/llm-0", "lws", top)
    for group, nodes in (("0", ("gpu-001", "gpu-002")), ("1", ("gpu-003",))):
        for place, node in enumerate(nodes):
            scene.runs(
                -5,
                f"llm-{group}-{place}",
                node,
                of=group_of,
                labels={
                    "leaderworkerset.sigs.k8s.io/name": "llm",
                    "leaderworkerset.sigs.k8s.io/group-index": group,
                    "leaderworkerset.sigs.k8s.io/worker-index": str(place),
                },
            )
    crash(scene)
    scene.tainted_away(371, "llm-0-1")
    scene.pod(372, "llm-0-0", "lws", deleting=True)
    return scene.hit(
        "LeaderWorkerSet", "llm", "gpu-002", ["llm-0-1"], size=2, gpus=16
    )
