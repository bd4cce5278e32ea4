"""Whose work it was: gangs, servers and Pods of every kind on one node."""

from typing import Any

from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.gangs import JOBSETS, SETS
from tests.scenarios.workloads.work import FOUR, JOBS, gang, hits_one, owned


def crashes(scene: Scene, *pods: str, back: float = 600) -> Scene:
    """Let gpu-002 crash with Pods on it, and come back."""
    scene.dies(20, "gpu-002", back)
    for pod in pods:
        scene.tainted_away(372, pod)
        scene.fails(back + 11, pod, 255, "Unknown").gone(back + 11.4, pod)
    return scene.unexplained("gpu-002")


@incident
def a_jobset_has_no_restarts_left() -> Scene:
    scene = Scene()
    top = owned(scene, "JobSet", JOBSETS)
    scene.makes(
        -19,
        JOBS,
        "Job",
        "llm-w-0",
        by="manager",
        space="train",
        metadata={"ownerReferences": [top]},
    )
    gang(scene, owner("Job", "llm-w-0", "batch/v1"))
    crashes(scene, "w-1")

    def failed(made: dict[str, Any]) -> None:
        why = {
            "type": "Failed",
            "status": "True",
            "reason": "ReachedMaxRestarts",
            "message": "jobset failed due to reaching max number of restarts",
            "lastTransitionTime": clock(620),
        }
        made["status"] = {"restarts": 3, "conditions": [why]}

    for place in (0, 2):
        scene.fails(380, f"w-{place}", 143).gone(621, f"w-{place}")
    scene.alters(
        620, JOBSETS, "llm", failed, by="manager", space="train", sub="status"
    )
    hits_one(scene, "JobSet", outcome="failed")
    return scene.asks(
        0, 900, node="gpu-002", verdicts=[0], workloads=["JobSet/train/llm"]
    )


@incident
def an_elastic_job_goes_on_with_fewer() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "PyTorchJob", "kubeflow.org/v1/pytorchjobs")
    for place, node in enumerate(FOUR):
        scene.runs(-5, f"w-{place}", node, of=job)
    crashes(scene, "w-1")
    return scene.hit(
        "PyTorchJob",
        "llm",
        "gpu-002",
        ["w-1"],
        size=4,
        gpus=32,
        outcome="down",
        accept={"outcome": ["survived"]},
    )


@incident
def a_launcher_was_not_on_the_node() -> Scene:
    scene = Scene()
    top = owned(scene, "MPIJob", "kubeflow.org/v2beta1/mpijobs")
    scene.makes(
        -18,
        JOBS,
        "Job",
        "llm-launcher",
        by="mpi-operator",
        space="train",
        metadata={"ownerReferences": [top]},
    )
    job = owner("Job", "llm-launcher", "batch/v1")
    scene.runs(-4, "l-0", "gpu-001", of=job, gpus=0)
    for place, node in enumerate(("gpu-002", "gpu-003")):
        scene.runs(-5, f"w-{place}", node, of=top)
    crashes(scene, "w-0")
    scene.fails(70, "l-0", 1).runs(80, "l-1", "gpu-001", of=job, gpus=0)
    scene.runs(640, "w-9", "gpu-002", of=top)
    return scene.hit(
        "MPIJob",
        "llm",
        "gpu-002",
        ["w-0"],
        size=3,
        gpus=16,
        outcome="restarted",
    )


@incident
def a_job_was_suspended_before_the_crash() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    workloads = "kueue.x-k8s.io/v1beta1/workloads"
    scene.makes(
        -18,
        workloads,
        "Workload",
        "job-llm-1",
        by="kueue",
        space="train",
        metadata={"ownerReferences": [job]},
        status={"conditions": []},
    )

    def suspends(made: dict[str, Any]) -> None:
        made["spec"] = {"suspend": True}

    scene.alters(10, JOBS, "llm", suspends, by="kueue", space="train")
    for place in range(3):
        scene.pod(10.2, f"w-{place}", KCM, deleting=True)
        scene.fails(13, f"w-{place}", 143).gone(13.3, f"w-{place}")
    crashes(scene)
    return scene.asks(16, 900, node="gpu-002", verdicts=[0])


@incident
def a_stateful_server_waits_for_its_node() -> Scene:
    scene = Scene()
    scene.makes(-20, SETS, "StatefulSet", "kv", by="helm", space="train")
    kv = owner("StatefulSet", "kv", "apps/v1")
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"kv-{place}", node, of=kv, gpus=1)
    crashes(scene, "kv-1")
    scene.runs(613, "kv-1b", "gpu-002", of=kv, gpus=1)
    return scene.hit(
        "StatefulSet",
        "kv",
        "gpu-002",
        ["kv-1"],
        size=1,
        gpus=1,
        outcome="restarted",
    )


@incident
def a_job_ends_well_while_nobody_hears_its_node() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").stale(66, "gpu-002").heals(250, "gpu-002")

    def ends(pod: dict[str, Any]) -> None:
        end = {"exitCode": 0, "reason": "Completed", "finishedAt": clock(120)}
        pod["status"]["phase"] = "Succeeded"
        pod["status"]["containerStatuses"][0]["state"] = {"terminated": end}

    scene.alters(
        251, "v1/pods", "w-0", ends, by="kubelet", space="train", sub="status"
    )
    scene.hit(
        "Job", "llm", "gpu-002", ["w-0"], size=1, gpus=8, outcome="completed"
    )
    return scene.cut_off("gpu-002", "network-partition", most="likely")


@incident
def volcano_begins_a_job_again() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "Job", "batch.volcano.sh/v1alpha1/jobs")
    marks = {"volcano.sh/job-name": "llm", "volcano.sh/job-retry-count": "0"}
    gang(scene, top, marks)
    crashes(scene, "w-1")
    for place in (0, 2):
        scene.pod(374, f"w-{place}", "vc-controllers", deleting=True)
        scene.fails(377, f"w-{place}", 143).gone(377.2, f"w-{place}")
    again = {**marks, "volcano.sh/job-retry-count": "1"}
    for place, node in enumerate(("gpu-001", "gpu-003", "gpu-004")):
        scene.runs(620, f"x-{place}", node, of=top, labels=again)
    return hits_one(scene, outcome="restarted")


@incident
def only_what_somebody_asked_for_is_a_workload() -> Scene:
    scene = Scene()
    sets = "apps/v1/daemonsets"
    scene.makes(-20, sets, "DaemonSet", "dcgm", by="helm", space="train")
    scene.runs(
        -5,
        "dcgm-x",
        "gpu-002",
        of=owner("DaemonSet", "dcgm", "apps/v1"),
        gpus=0,
    )
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "gpu-002",
        "uid": "5d0c1d5e-0000-4000-8000-000000000002",
        "controller": True,
    }
    mirror = {"kubernetes.io/config.mirror": "f00"}
    scene.runs(-5, "proxy", "gpu-002", of=node, notes=mirror, gpus=0)
    scene.runs(-5, "shell", "gpu-002", gpus=1)
    crashes(scene, "shell")
    return scene.hit_pod("shell", "gpu-002", gpus=1)


@incident
def a_run_of_a_schedule_is_hit() -> Scene:
    scene = Scene()
    crons = "batch/v1/cronjobs"
    scene.makes(-20, crons, "CronJob", "eval", by="helm", space="train")
    scene.makes(
        -10,
        JOBS,
        "Job",
        "eval-2945",
        by="cronjob-controller",
        space="train",
        metadata={"ownerReferences": [owner("CronJob", "eval", "batch/v1")]},
    )
    job = owner("Job", "eval-2945", "batch/v1")
    scene.runs(-5, "eval-2945-q", "gpu-002", of=job)
    crashes(scene, "eval-2945-q")
    scene.runs(373, "eval-2945-r", "gpu-003", of=job)
    return scene.hit(
        "Job",
        "eval-2945",
        "gpu-002",
        ["eval-2945-q"],
        size=1,
        gpus=8,
        outcome="rescheduled",
    )


@incident
def a_notebook_and_a_workflow_are_named_by_their_tops() -> Scene:
    scene = Scene()
    notebooks = "kubeflow.org/v1/notebooks"
    scene.makes(
        -20, notebooks, "Notebook", "nb", by="dashboard", space="train"
    )
    scene.makes(
        -19,
        SETS,
        "StatefulSet",
        "nb",
        by="notebook-controller",
        space="train",
        metadata={
            "ownerReferences": [owner("Notebook", "nb", "kubeflow.org/v1")]
        },
    )
    scene.runs(
        -5, "nb-0", "gpu-002", of=owner("StatefulSet", "nb", "apps/v1"), gpus=1
    )
    flow = owner("Workflow", "etl", "argoproj.io/v1alpha1")
    scene.runs(-5, "etl-7", "gpu-002", of=flow, gpus=1)
    crashes(scene, "nb-0", "etl-7")
    scene.hit("Notebook", "nb", "gpu-002", ["nb-0"], size=1, gpus=1)
    return scene.hit("Workflow", "etl", "gpu-002", ["etl-7"], size=1, gpus=1)
