"""Work ends, and no node is to blame; or a node, and not for that work."""

from typing import Any

from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import SOMEONE
from tests.scenarios.workloads.gangs import JOBSETS, LWS
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    gang,
    hits_one,
    owned,
    under,
)

RUNTIME = "container runtime is down"
NOT_READY = {"Ready": ("False", "KubeletNotReady", RUNTIME)}


@incident
def a_job_is_deleted_just_before_a_crash() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    for place in range(3):
        scene.pod(10, f"w-{place}", KCM, deleting=True)
        scene.fails(12, f"w-{place}", 143).gone(12.3, f"w-{place}")
    scene.removes(13, JOBS, "llm", space="train")
    scene.dies(200, "gpu-002", 800)
    scene.asks(0, 900, node="gpu-002", verdicts=[0])
    return scene.unexplained("gpu-002")


@incident
def a_job_is_deleted_while_its_node_is_lost() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.dies(20, "gpu-002", 900)
    for place in range(3):
        scene.pod(100, f"w-{place}", KCM, deleting=True)
    for place in (0, 2):
        scene.fails(103, f"w-{place}", 143).gone(103.3, f"w-{place}")
    scene.removes(104, JOBS, "llm", space="train")
    scene.fails(911, "w-1", 255, "Unknown").gone(911.2, "w-1")
    hits_one(scene, accept={"outcome": ["failed", "unknown"]})
    return scene.unexplained("gpu-002")


@incident
def a_jobset_restarts_for_a_bug_of_its_own() -> Scene:
    scene = Scene()
    top = owned(scene, "JobSet", JOBSETS)
    gang(scene, under(scene, -19, JOBS, "Job/llm-w-0", "jobset", top))
    scene.fails(100, "w-1", 1)
    for place in (0, 2):
        scene.pod(101, f"w-{place}", KCM, deleting=True)
        scene.fails(104, f"w-{place}", 143).gone(104.3, f"w-{place}")
    anew = under(scene, 106, JOBS, "Job/llm-w-0-1", "jobset", top)
    for place, node in enumerate(FOUR[:3]):
        scene.runs(110, f"x-{place}", node, of=anew)
    return scene.asks(0, 300, node="gpu-002").asks(0, 300, node="gpu-001")


@incident
def a_group_is_made_anew_for_a_bug_and_later_a_node_crashes() -> Scene:
    scene = Scene()
    top = owned(scene, "LeaderWorkerSet", LWS)
    labels = {
        "leaderworkerset.sigs.k8s.io/name": "llm",
        "leaderworkerset.sigs.k8s.io/group-index": "0",
    }
    sets = under(
        scene, -19, "apps/v1/statefulsets", "StatefulSet/llm-0", "lws", top
    )
    gang(scene, sets, labels, on=FOUR[:2])
    scene.fails(100, "w-1", 1)
    scene.pod(101, "w-0", "lws", deleting=True)
    scene.fails(104, "w-0", 143).gone(104.3, "w-0").gone(104.4, "w-1")
    for place, node in enumerate(("gpu-001", "gpu-003")):
        scene.runs(110, f"v-{place}", node, of=sets, labels=labels)
    scene.dies(2000, "gpu-002", 2600)
    return scene.unexplained("gpu-002")


@incident
def a_launcher_runs_out_of_memory() -> Scene:
    scene = Scene()
    job = owned(scene, "MPIJob", "kubeflow.org/v2beta1/mpijobs")
    gang(scene, job, on=FOUR[1:3])
    scene.runs(-5, "launcher", "gpu-001", of=job, gpus=0)
    scene.fails(60, "launcher", 137, "OOMKilled")
    for place in (0, 1):
        scene.pod(62, f"w-{place}", "mpi-operator", deleting=True)
        scene.fails(65, f"w-{place}", 143).gone(65.3, f"w-{place}")
    scene.hit(
        "MPIJob",
        "llm",
        "gpu-001",
        ["launcher"],
        size=3,
        gpus=16,
        optional=True,
        accept={"outcome": ["failed"]},
    )
    return scene.expect(
        "gpu-001",
        "degraded",
        "abrupt",
        fault="container-oom",
        accept={"happened": [None], "mode": ["unknown"]},
    )


@incident
def a_rank_fails_by_itself_before_its_node_crashes() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.fails(100, "w-1", 1)
    for place in (0, 2):
        scene.pod(101, f"w-{place}", KCM, deleting=True)
        scene.fails(104, f"w-{place}", 143).gone(104.3, f"w-{place}")

    def failed(made: dict[str, Any]) -> None:
        why = {
            "type": "Failed",
            "status": "True",
            "reason": "BackoffLimitExceeded",
            "lastTransitionTime": clock(105),
        }
        made["status"] = {"conditions": [why]}

    scene.alters(105, JOBS, "llm", failed, by=KCM, space="train", sub="status")
    scene.dies(2000, "gpu-002", 2600)
    scene.asks(0, 2700, node="gpu-002", verdicts=[0])
    return scene.unexplained("gpu-002")


@incident
def containerd_is_restarted_and_nothing_ends() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.node(20, "gpu-002", "kubelet", conditions=NOT_READY)
    scene.kubelet(20.1, "gpu-002", "NodeNotReady", "NodeNotReady")
    taint = "node.kubernetes.io/not-ready:NoSchedule"
    scene.node(20.3, "gpu-002", KCM, taints={taint: ""})
    scene.heals(32, "gpu-002")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="runtime-failure",
        most="likely",
        boots=(1, 1),
        accept={"happened": ["unreachable"]},
    )


@incident
def a_kubelet_makes_room_for_a_critical_pod() -> Scene:
    scene = Scene().runs(-5, "low-0", "gpu-002", gpus=0)
    why = "Preempted in order to admit critical pod"
    target = "TerminationByKubelet", f"Pod was preempted by Kubelet. {why}"
    scene.pod(
        20,
        "low-0",
        "kubelet",
        disrupted=target,
        phase="Failed",
        reason="Preempting",
        message=why,
    )
    scene.dies(4000, "gpu-002", 4600)
    scene.hit_pod(
        "low-0", "gpu-002", by="preemption", optional=True, outcome="preempted"
    )
    return scene.unexplained("gpu-002")


@incident
def memory_runs_short_and_a_pod_is_evicted_before_a_crash() -> Scene:
    scene = Scene().runs(-5, "fat-0", "gpu-002", gpus=0)
    low = ("True", "KubeletHasInsufficientMemory", "kubelet has little memory")
    fine = ("False", "KubeletHasSufficientMemory", "kubelet has memory")
    scene.node(20, "gpu-002", "kubelet", conditions={"MemoryPressure": low})
    key = "node.kubernetes.io/memory-pressure:NoSchedule"
    scene.node(20.2, "gpu-002", KCM, taints={key: ""})
    text = "The node was low on resource: memory. "
    target = "TerminationByKubelet", text
    scene.pod(
        22,
        "fat-0",
        "kubelet",
        disrupted=target,
        phase="Failed",
        reason="Evicted",
        message=text,
    )
    scene.node(330, "gpu-002", "kubelet", conditions={"MemoryPressure": fine})
    scene.node(330.2, "gpu-002", KCM, taints={key: None})
    scene.dies(5000, "gpu-002", 5600)
    scene.hit_pod("fat-0", "gpu-002", by="eviction")
    return scene.unexplained("gpu-002")


@incident
def two_gangs_are_taken_one_by_a_queue_and_one_by_a_drain() -> Scene:
    scene = Scene(*FOUR)
    first = owner("PyTorchJob", "one", "kubeflow.org/v1")
    scene.makes(
        -20, "kubeflow.org/v1/pytorchjobs", "PyTorchJob", "one",
        by="training-operator", space="train",
    )  # fmt: skip
    other = owned(scene, "Job", JOBS)
    for place, node in enumerate(("gpu-001", "gpu-003")):
        scene.runs(-5, f"p-{place}", node, of=first)
    for place, node in enumerate(("gpu-002", "gpu-004")):
        scene.runs(-5, f"w-{place}", node, of=other)
    scene.node(20, "gpu-002", "kubectl", cordon=True).evicts(20.5, "w-0")
    why = "Preempted to accommodate a workload"
    for place in (0, 1):
        scene.pod(
            21, f"p-{place}", "kube-scheduler", deleting=True,
            disrupted=("PreemptionByScheduler", why),
        )  # fmt: skip
        scene.fails(24, f"p-{place}", 143).gone(24.2, f"p-{place}")
    scene.hit("Job", "llm", "gpu-002", ["w-0"], size=2, gpus=16, by="drain")
    scene.hit(
        "PyTorchJob",
        "one",
        "gpu-001",
        ["p-0", "p-1"],
        nodes=["gpu-001", "gpu-003"],
        size=2,
        gpus=16,
        by="preemption",
        outcome="preempted",
        accept={"first_node": ["gpu-003"]},
    )
    return scene.decided(
        "gpu-002", "drained", "manual-drain", SOMEONE, boots=(1, 1), back=False
    )
