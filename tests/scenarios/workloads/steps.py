"""Launchers, masters and steps: workloads whose Pods are not all alike."""

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.upgrades.upgrades import stops
from tests.scenarios.workloads.attempts import lost, turns
from tests.scenarios.workloads.gangs import JOBSETS
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    gang,
    hits_one,
    owned,
    under,
)

TORCH = "kubeflow.org/v1/pytorchjobs"
STOPPED = "Pod was terminated in response to imminent node shutdown."


def terminated(scene: Scene, at: float, pod: str) -> None:
    """Let a kubelet end a Pod, because its machine shuts down."""
    scene.pod(
        at,
        pod,
        "kubelet",
        disrupted=("TerminationByKubelet", STOPPED),
        ended=(143, "Error"),
        phase="Failed",
        reason="Terminated",
        message=STOPPED,
    )


def shut_down(scene: Scene) -> Scene:
    """Say that a machine was shut down in order, and nothing shows why."""
    return scene.expect(
        "gpu-002", "reboot", "planned", most="unknown", boots=(1, 2), back=True
    )


@incident
def a_step_of_a_workflow_is_tried_again() -> Scene:
    scene = Scene()
    flow = owned(scene, "Workflow", "argoproj.io/v1alpha1/workflows")
    scene.runs(-5, "llm-1", "gpu-001", of=flow, gpus=1)
    scene.runs(-5, "llm-2", "gpu-002", of=flow, gpus=1)
    lost(scene, "llm-2")
    scene.runs(373, "llm-2-1", "gpu-003", of=flow, gpus=1)
    done = 0, "Completed"
    scene.pod(700, "llm-1", "kubelet", ended=done, phase="Succeeded")
    scene.runs(705, "llm-3", "gpu-001", of=flow, gpus=1)
    return scene.hit(
        "Workflow",
        "llm",
        "gpu-002",
        ["llm-2"],
        size=2,
        gpus=2,
        outcome="rescheduled",
        again=373,
        accept={"gang_size": [1], "gpus": [1]},
    )


@incident
def a_launcher_is_lost_and_its_workers_are_not() -> Scene:
    scene = Scene()
    top = owned(scene, "MPIJob", "kubeflow.org/v2beta1/mpijobs")
    job = under(scene, -18, JOBS, "Job/llm-launcher", "mpi-operator", top)
    scene.runs(-4, "l-0", "gpu-002", of=job, gpus=0)
    for place, node in enumerate(("gpu-001", "gpu-003")):
        scene.runs(-5, f"w-{place}", node, of=top)
    lost(scene, "l-0")
    scene.runs(373, "l-1", "gpu-001", of=job, gpus=0)
    return scene.hit(
        "MPIJob",
        "llm",
        "gpu-002",
        ["l-0"],
        size=3,
        gpus=16,
        outcome="rescheduled",
        again=373,
        hours=(1.3, 1.58),
    )


@incident
def a_worker_of_pytorch_is_made_anew_under_its_name() -> Scene:
    scene = Scene(*FOUR)
    top = owned(scene, "PyTorchJob", TORCH)
    for pod, node in zip(
        ("llm-master-0", "llm-worker-0", "llm-worker-1"), FOUR, strict=False
    ):
        scene.runs(-5, pod, node, of=top)
    scene.dies(20, "gpu-002", 300)
    scene.fails(311, "llm-worker-0", 255, "Unknown")
    scene.gone(312, "llm-worker-0")
    scene.runs(313, "llm-worker-0", "gpu-004", of=top, life=2)
    scene.hit(
        "PyTorchJob",
        "llm",
        "gpu-002",
        ["llm-worker-0"],
        size=3,
        gpus=24,
        outcome="rescheduled",
        again=313,
    )
    return scene.unexplained("gpu-002")


@incident
def a_worker_of_pytorch_is_shut_down_and_all_is_over() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "PyTorchJob", TORCH))
    stops(scene, 20, "gpu-002")
    terminated(scene, 22, "w-1")
    turns(scene, 23, TORCH, "llm", "Failed", "PyTorchJobFailed")
    scene.silent(40, "gpu-002").boots(300, "gpu-002")
    hits_one(scene, "PyTorchJob", outcome="failed", hours=(0, 0.04))
    return shut_down(scene)


@incident
def the_first_step_of_a_training_was_done() -> Scene:
    scene = Scene(*FOUR)
    kind = "trainer.kubeflow.org/v1alpha1/trainjobs"
    top = under(scene, -900, kind, "TrainJob/llm", "trainer")
    jobs = under(scene, -899, JOBSETS, "JobSet/llm", "trainer", top)
    first = "Job/llm-dataset-initializer"
    loads = under(scene, -898, JOBS, first, "jobset", jobs)
    scene.runs(-897, "llm-dataset-0", "gpu-002", of=loads, gpus=0)
    done = 0, "Completed"
    scene.pod(-600, "llm-dataset-0", "kubelet", ended=done, phase="Succeeded")
    gang(scene, under(scene, -590, JOBS, "Job/llm-node", "jobset", jobs))
    lost(scene, "w-1")
    scene.runs(373, "w-3", "gpu-004", of=owner("Job", "llm-node", "batch/v1"))
    return hits_one(scene, "TrainJob", outcome="rescheduled", again=373)


@incident
def a_deployment_is_moved_by_a_shutdown() -> Scene:
    scene = Scene()
    kind = "apps/v1/deployments"
    top = under(scene, -20, kind, "Deployment/chat", "helm")
    sets = "apps/v1/replicasets"
    chat = under(scene, -19, sets, "ReplicaSet/chat-5f", "controller", top)
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"chat-{place}", node, gpus=1, of=chat)
    stops(scene, 20, "gpu-002")
    terminated(scene, 21, "chat-1")
    # The scheduler may not know yet: the kubelet takes nothing more.
    scene.runs(21.5, "chat-3", "gpu-002", gpus=1, of=chat, starts=False)
    says = "Pod was rejected as the node is shutting down."
    why = "NodeShutdown"
    scene.pod(
        21.8, "chat-3", "kubelet", phase="Failed", reason=why, message=says
    )
    scene.runs(22, "chat-4", "gpu-003", gpus=1, of=chat)
    scene.silent(40, "gpu-002").boots(300, "gpu-002")
    scene.hit(
        "Deployment",
        "chat",
        "gpu-002",
        ["chat-1"],
        size=1,
        gpus=1,
        outcome="rescheduled",
        again=22,
        hours=(0, 0.002),
        accept={
            "pods_hit": [["chat-1", "chat-3"]],
            "gang_size": [2],
            "gpus": [2],
        },
    )
    return shut_down(scene)
