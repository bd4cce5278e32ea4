"""Work is hit, and some of what becomes of it is not seen."""

from tests.corpus.blinding import Blind
from tests.scenarios.records.unheard import HIDDEN
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.world import PODS
from tests.scenarios.workloads.attempts import turns
from tests.scenarios.workloads.bystanders import DONE
from tests.scenarios.workloads.work import FOUR, JOBS, gang, hits_one, owned


@incident
def nobody_sees_a_pod_being_replaced() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.dies(20, "gpu-002", 600).tainted_away(372, "w-1")
    scene.runs(373, "w-3", "gpu-004", of=job)
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    scene.blind(Blind(360, 700, PODS))
    # It may have run since it was made: no more is lost for sure.
    hits_one(
        scene,
        outcome="rescheduled",
        hours=(0, 2.36),
        accept={"outcome": ["unknown"]},
    )
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def nobody_sees_a_job_end_well_before_a_crash() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.pod(99, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 100, JOBS, "llm", "Complete", "CompletionsReached")
    scene.dies(400, "gpu-002", 1000).blind(Blind(50, 700, PODS))
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="completed",
        optional=True,
        hours=(0, 0),
        accept={"outcome": ["unknown"]},
    )
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def nobody_sees_a_pod_go_before_a_crash() -> Scene:
    scene = Scene()
    scene.runs(-5, "shell", "gpu-002", gpus=1)
    scene.pod(60, "shell", "kube-apiserver", deleting=True)
    scene.fails(64, "shell", 143).gone(64.2, "shell")
    scene.dies(400, "gpu-002", 1000).blind(Blind(50, 700, PODS))
    # Whether it was there is unknown.
    scene.hit_pod(
        "shell",
        "gpu-002",
        gpus=1,
        outcome="unknown",
        optional=True,
        hours=(0, 0),
    )
    return scene.unexplained("gpu-002", accept=HIDDEN)
