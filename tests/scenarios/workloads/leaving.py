"""Work is over, on its way out or of another kind when its node fails."""

from typing import Any

from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import SOMEONE
from tests.scenarios.telling.world import PODS
from tests.scenarios.workloads.attempts import lost, turns
from tests.scenarios.workloads.bystanders import DONE, HERE, spares
from tests.scenarios.workloads.gangs import SETS
from tests.scenarios.workloads.queues import preempts
from tests.scenarios.workloads.work import (
    JOBS,
    crash,
    gang,
    hits_one,
    loses,
    owned,
    under,
)


def drains(scene: Scene, *pods: str, until: float | None = 600) -> Scene:
    """Let a person drain gpu-002, and return it back if they do."""
    scene.node(20, "gpu-002", "kubectl", cordon=True).evicts(20.5, *pods)
    scene.kubelet(28, "gpu-002", "NodeNotSchedulable", "NodeNotSchedulable")
    if until is not None:
        scene.node(until, "gpu-002", "kubectl", cordon=False)
    back = until is not None
    return scene.decided(
        "gpu-002", "drained", "manual-drain", SOMEONE, boots=(1, 1), back=back
    )


def waits(scene: Scene, at: float, pod: str, of: Any, **more: Any) -> None:
    """Let a Pod be made for which there is no place."""
    scene.runs(at, pod, "", of=of, starts=False, **more)


def finds(scene: Scene, at: float, pod: str, node: str) -> None:
    """Let a Pod that waited find a place, and run."""

    def bound(made: dict[str, Any]) -> None:
        made["spec"]["nodeName"] = node
        made["status"]["phase"] = "Running"

    by = "kube-scheduler"
    scene.alters(at, PODS, pod, bound, by=by, space="train")


def chat(scene: Scene, at: float = -20, template: str = "5f") -> Any:
    """Let a ReplicaSet of a Deployment be there, of one of its templates."""
    top = owner("Deployment", "chat", "apps/v1")
    if at < 0:
        kind = "apps/v1/deployments"
        top = under(scene, at, kind, "Deployment/chat", "helm")
    sets, thing = "apps/v1/replicasets", f"ReplicaSet/chat-{template}"
    return under(scene, at + 1, sets, thing, KCM, top)


@incident
def a_job_had_failed_while_its_pods_were_kept() -> Scene:
    scene = Scene()
    jobs = "kubeflow.org/v1/pytorchjobs"
    gang(scene, owned(scene, "PyTorchJob", jobs))
    scene.fails(5, "w-0", 1)
    # Its policy cleans no Pods up: they hang, and wait for nothing.
    turns(scene, 6, jobs, "llm", "Failed", "PyTorchJobFailed")
    scene.tainted_away(372, "w-1")
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    return spares(scene)


@incident
def a_job_had_failed_before_anybody_listened() -> Scene:
    scene = Scene()
    jobs = "kubeflow.org/v1/pytorchjobs"
    top = under(scene, -901, jobs, "PyTorchJob/llm", "dave")
    for place, node in enumerate(scene.names):
        scene.runs(-900, f"w-{place}", node, of=top)
    turns(scene, -600, jobs, "llm", "Failed", "PyTorchJobFailed")
    scene.tainted_away(372, "w-1")
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    return spares(scene)


@incident
def the_leader_of_a_job_is_done_and_the_rest_may_go() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.pod(5, "w-0", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 5.5, JOBS, "llm", "SuccessCriteriaMet", "SuccessPolicy")
    for place in (1, 2):
        scene.pod(5.6, f"w-{place}", KCM, deleting=True)
    scene.fails(8, "w-2", 143).gone(8.2, "w-2")
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    turns(scene, 612, JOBS, "llm", "Complete", "SuccessPolicy")
    return spares(scene)


@incident
def a_server_is_replaced_just_before_its_node_dies() -> Scene:
    scene = Scene()
    old = chat(scene)
    scene.runs(-5, "chat-1", "gpu-002", of=old, gpus=1)
    new = chat(scene, 0.5, "7c")
    scene.runs(2, "chat-2", "gpu-003", of=new, gpus=1)
    # It ends what it was asked before, for as long as it may.
    scene.pod(5, "chat-1", KCM, deleting=True)
    scene.fails(611, "chat-1", 255, "Unknown").gone(611.2, "chat-1")
    return spares(scene)


@incident
def a_stateful_server_is_leaving_when_its_node_dies() -> Scene:
    # None of its name can come before it is gone, which takes its node.
    scene = Scene()
    kv = under(scene, -20, SETS, "StatefulSet/kv", "helm")
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"kv-{place}", node, of=kv, gpus=1)
    scene.pod(10, "kv-1", KCM, deleting=True)
    scene.dies(20, "gpu-002", 600)
    scene.fails(611, "kv-1", 255, "Unknown").gone(611.2, "kv-1")
    scene.runs(613, "kv-1", "gpu-002", of=kv, gpus=1, life=2)
    scene.hit(
        "StatefulSet",
        "kv",
        "gpu-002",
        ["kv-1"],
        size=1,
        gpus=1,
        outcome="restarted",
        again=613,
        hours=(0.1, 0.168),
    )
    return scene.unexplained("gpu-002")


@incident
def a_finished_job_is_swept_away_while_its_node_is_down() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    for place in range(3):
        scene.pod(5, f"w-{place}", "kubelet", ended=DONE, phase="Succeeded")
    turns(scene, 6, JOBS, "llm", "Complete", "CompletionsReached")
    scene.removes(66, JOBS, "llm", space="train")
    for place in range(3):
        scene.gone(66.5, f"w-{place}")
    return spares(scene)


@incident
def what_was_lost_takes_the_place_of_a_lesser_one() -> Scene:
    scene = Scene()
    high = under(scene, -20, JOBS, "Job/high", "dave")
    low = under(scene, -20, JOBS, "Job/low", "dave")
    scene.runs(-5, "high-0", "gpu-002", of=high)
    scene.runs(-5, "low-0", "gpu-003", of=low)
    lost(scene, "high-0")
    waits(scene, 373, "high-1", high)
    preempts(scene, 374, "low-0")
    finds(scene, 378, "high-1", "gpu-003")
    scene.hit(
        "Job",
        "high",
        "gpu-002",
        ["high-0"],
        size=1,
        gpus=8,
        outcome="rescheduled",
        again=378,
        hours=(0.6, 0.796),
    )
    scene.hit(
        "Job",
        "low",
        "gpu-003",
        ["low-0"],
        size=1,
        gpus=8,
        by="preemption",
        outcome="preempted",
    )
    scene.asks(0, 1000, labels=HERE, workloads=["Job/train/high"])
    return scene.asks(0, 1000, node="gpu-003", workloads=["Job/train/low"])


@incident
def a_job_had_failed_and_was_started_anew() -> Scene:
    scene = Scene()
    jobs = "kubeflow.org/v2beta1/mpijobs"
    top = owned(scene, "MPIJob", jobs)
    gang(scene, top)
    turns(scene, 3, jobs, "llm", "Failed", "MPIJobEvicted")

    def anew(made: dict[str, Any]) -> None:
        made["status"]["conditions"][0]["status"] = "False"

    scene.alters(6, jobs, "llm", anew, by="mpi-operator", space="train")
    crash(scene)
    loses(scene)
    return hits_one(scene, "MPIJob")


@incident
def a_jaxjob_loses_a_node() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "JAXJob", "kubeflow.org/v1/jaxjobs"))
    crash(scene)
    loses(scene)
    return hits_one(scene, "JAXJob")


@incident
def what_a_wrapper_holds_loses_a_node() -> Scene:
    scene = Scene()
    wrappers = "workload.codeflare.dev/v1beta2/appwrappers"
    top = owned(scene, "AppWrapper", wrappers)
    jobs = "kubeflow.org/v1/pytorchjobs"
    gang(scene, under(scene, -19, jobs, "PyTorchJob/llm-1", "codeflare", top))
    crash(scene)
    loses(scene)
    return hits_one(scene, "AppWrapper")


@incident
def a_debugger_of_a_node_is_lost_with_it() -> Scene:
    scene = Scene()
    name, space = "node-debugger-gpu-002-x7k2p", "default"
    anything = [{"operator": "Exists"}]
    scene.runs(
        -5,
        name,
        "gpu-002",
        gpus=0,
        space=space,
        tolerations=anything,
        restartPolicy="Never",
    )
    scene.dies(20, "gpu-002", 600)
    ended = 255, "Unknown"
    scene.pod(611, name, "kubelet", space=space, ended=ended, phase="Failed")
    scene.hit_pod(name, "gpu-002", space=space, hours=(0, 0))
    return scene.unexplained("gpu-002")


@incident
def a_drain_leaves_alone_what_nobody_owns() -> Scene:
    scene = Scene()
    job = under(scene, -20, JOBS, "Job/mine", "dave")
    scene.runs(-5, "mine-0", "gpu-002", of=job, gpus=4)
    scene.runs(-5, "shell", "gpu-002", gpus=4)
    drains(scene, "mine-0").runs(24, "mine-1", "gpu-003", of=job, gpus=4)
    return scene.hit(
        "Job",
        "mine",
        "gpu-002",
        ["mine-0"],
        size=1,
        gpus=4,
        by="drain",
        outcome="rescheduled",
        again=24,
    )


@incident
def a_drained_job_waits_for_its_node_and_returns() -> Scene:
    scene = Scene()
    job = under(scene, -20, JOBS, "Job/mine", "dave")
    scene.runs(-5, "mine-0", "gpu-002", of=job)
    drains(scene, "mine-0")
    waits(scene, 24, "mine-1", job)
    finds(scene, 601, "mine-1", "gpu-002")
    return scene.hit(
        "Job",
        "mine",
        "gpu-002",
        ["mine-0"],
        size=1,
        gpus=8,
        by="drain",
        outcome="restarted",
        again=601,
        hours=(1.2, 1.3),
    )


@incident
def a_server_leaves_in_order_and_finds_no_other_place() -> Scene:
    # A server that ends well when it is asked to is not done with its work.
    scene = Scene()
    of = chat(scene)
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"chat-{place}", node, of=of, gpus=1)
    drains(scene, until=None)
    why = "EvictionByEvictionAPI", "Eviction API: evicting"
    scene.pod(20.5, "chat-1", "kube-apiserver", disrupted=why, deleting=True)
    waits(scene, 20.6, "chat-3", of, gpus=1)
    scene.pod(22, "chat-1", "kubelet", ended=DONE, phase="Succeeded")
    scene.gone(22.2, "chat-1")
    return scene.hit(
        "Deployment", "chat", "gpu-002", ["chat-1"], size=1, gpus=1, by="drain"
    )


@incident
def one_of_a_stateful_set_gives_way_and_waits() -> Scene:
    scene = Scene()
    kv = under(scene, -20, SETS, "StatefulSet/kv", "helm")
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"kv-{place}", node, of=kv, gpus=1)
    preempts(scene, 20, "kv-1")
    waits(scene, 24, "kv-1", kv, gpus=1, life=2)
    scene.runs(24.5, "high-0", "gpu-002", gpus=8)
    return scene.hit(
        "StatefulSet",
        "kv",
        "gpu-002",
        ["kv-1"],
        size=1,
        gpus=1,
        by="preemption",
        outcome="preempted",
    )
