"""Nodes are selected by labels, which they had at another time."""

from tests.scenarios.records.edges import POOL, RACK
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import SOMEONE, or_decision
from tests.scenarios.workloads.attempts import lost
from tests.scenarios.workloads.queues import preempts
from tests.scenarios.workloads.work import FOUR, JOBS, gang, hits_one, owned

RACKS = {"gpu-001": "r-1", "gpu-002": "r-1", "gpu-003": "r-2"}
LLM = ["Job/train/llm"]


def moves(scene: Scene, at: float) -> None:
    """Let a person move gpu-002 to another rack."""
    scene.node(at, "gpu-002", "kubectl-label", labels={RACK: "r-2"})


def by_racks(scene: Scene, old: list[str], new: list[str]) -> Scene:
    """Ask of both racks over the whole time."""
    scene.asks(0, 3000, rack="r-1", workloads=old)
    scene.asks(0, 3000, labels={RACK: "r-1"}, workloads=old)
    scene.asks(0, 3000, labels={RACK: "r-2"}, workloads=new)
    return scene.asks(0, 3000, rack="r-2", workloads=new)


def preempted(scene: Scene) -> Scene:
    """Say that the Job was preempted."""
    return scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        by="preemption",
        outcome="preempted",
    )


@incident
def a_job_is_preempted_before_its_node_moves() -> Scene:
    scene = Scene(racks=RACKS)
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    preempts(scene, 100, "w-0")
    moves(scene, 1000)
    return by_racks(preempted(scene), LLM, [])


@incident
def a_job_is_preempted_after_its_node_moved() -> Scene:
    scene = Scene(racks=RACKS)
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    moves(scene, 1000)
    preempts(scene, 2000, "w-0")
    return by_racks(preempted(scene), [], LLM)


@incident
def one_is_preempted_before_a_move_and_one_is_hit_after_it() -> Scene:
    scene = Scene(racks=RACKS)
    scene.runs(-5, "low-0", "gpu-002", of=owner("Job", "low", "batch/v1"))
    preempts(scene, 100, "low-0")
    moves(scene, 1000)
    scene.runs(1100, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.dies(2000, "gpu-002", 2600).fails(2611, "w-0", 255, "Unknown")
    scene.hit(
        "Job",
        "low",
        "gpu-002",
        ["low-0"],
        size=1,
        gpus=8,
        by="preemption",
        outcome="preempted",
    )
    scene.hit("Job", "llm", "gpu-002", ["w-0"], size=1, gpus=8)
    return by_racks(scene.unexplained("gpu-002"), ["Job/train/low"], LLM)


@incident
def a_node_is_drained_before_it_moves() -> Scene:
    scene = Scene(racks=RACKS)
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.node(90, "gpu-002", "kubectl", cordon=True).evicts(100, "w-0")
    scene.node(400, "gpu-002", "kubectl", cordon=False)
    moves(scene, 1000)
    scene.hit("Job", "llm", "gpu-002", ["w-0"], size=1, gpus=8, by="drain")
    by_racks(scene, LLM, [])
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        SOMEONE,
        boots=(1, 1),
        back=True,
        accept={"mode": ["unknown"], **or_decision(None)},
    )


@incident
def a_node_had_left_its_pool_before_it_crashed() -> Scene:
    scene = Scene()
    scene.node(-900, "gpu-002", "kubectl-label", labels={POOL: "a"})
    scene.node(10, "gpu-002", "kubectl-label", labels={POOL: None})
    gang(scene, owned(scene, "Job", JOBS))
    scene.dies(60, "gpu-002", 900).tainted_away(412, "w-1")
    scene.fails(911, "w-1", 255, "Unknown").gone(911.2, "w-1")
    hits_one(scene)
    scene.asks(0, 1000, labels={POOL: "a"})
    return scene.unexplained("gpu-002")


@incident
def of_a_gang_on_two_racks_one_is_asked_about() -> Scene:
    scene = Scene(*FOUR, racks={**RACKS, "gpu-004": "r-3"})
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    lost(scene, "w-1").runs(373, "w-3", "gpu-004", of=job)
    hits_one(scene, outcome="rescheduled")
    scene.asks(0, 1000, rack="r-1", workloads=LLM)
    # Its other Pods are there, and so is the one that replaced it.
    scene.asks(0, 1000, rack="r-2")
    return scene.asks(0, 1000, rack="r-3")
