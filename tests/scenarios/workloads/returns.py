"""Work comes back where it was, never left, or is refused there."""

from tests.scenarios.remediation.strangers import pod_of
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.workloads.gangs import SETS
from tests.scenarios.workloads.work import (
    FOUR,
    JOBS,
    gang,
    hits_one,
    owned,
    under,
)

REFUSED = "UnexpectedAdmissionError"


def refused(scene: Scene, at: float, pod: str) -> None:
    """Let a kubelet refuse a Pod: its GPUs are not known yet."""
    says = (
        "Allocate failed due to no healthy devices present; cannot allocate"
        " unhealthy devices nvidia.com/gpu, which is unexpected"
    )
    scene.pod(at, pod, "kubelet", phase="Failed", reason=REFUSED, message=says)
    scene.says(at, "kubelet", REFUSED, says, about=pod_of(pod), host="gpu-002")


@incident
def a_server_comes_back_with_its_node() -> Scene:
    scene = Scene()
    kind = "apps/v1/deployments"
    top = under(scene, -20, kind, "Deployment/chat", "helm")
    sets = "apps/v1/replicasets"
    chat = under(scene, -19, sets, "ReplicaSet/chat-5f", KCM, top)
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"chat-{place}", node, gpus=1, of=chat)
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    ended = 255, "Unknown"
    scene.pod(90, "chat-1", "kubelet", ended=ended, again=True)
    scene.hit(
        "Deployment",
        "chat",
        "gpu-002",
        ["chat-1"],
        size=1,
        gpus=1,
        outcome="restarted",
        again=90,
        hours=(0.004, 0.02),
    )
    return scene.unexplained("gpu-002")


@incident
def a_worker_of_a_gang_comes_back_in_its_place() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    scene.pod(92, "w-1", "kubelet", ended=(255, "Unknown"), again=True)
    hits_one(scene, outcome="restarted", again=92, hours=(0.1, 0.49))
    return scene.unexplained("gpu-002")


@incident
def a_pod_that_tolerates_all_waits_for_its_node() -> Scene:
    scene = Scene()
    anything = [{"operator": "Exists"}]
    scene.runs(-5, "shell", "gpu-002", gpus=2, tolerations=anything)
    scene.dies(20, "gpu-002", 900)
    scene.pod(915, "shell", "kubelet", ended=(255, "Unknown"), again=True)
    scene.hit_pod(
        "shell",
        "gpu-002",
        gpus=2,
        outcome="restarted",
        again=915,
        hours=(0.46, 0.5),
    )
    return scene.unexplained("gpu-002")


@incident
def a_job_is_refused_until_its_plugin_is_there() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-0", "gpu-002", of=job)
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    refused(scene, 77, "w-0")
    scene.runs(78, "w-1", "gpu-002", of=job, starts=False)
    refused(scene, 78.5, "w-1")
    scene.runs(98, "w-2", "gpu-002", of=job)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="restarted",
        again=98,
        hours=(0.04, 0.174),
        accept={"pods_hit": [["w-0", "w-1"]]},
    )
    return scene.unexplained("gpu-002")


@incident
def a_kubelet_starts_and_a_job_fails_much_later() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.starts(20, "gpu-002")
    scene.fails(900, "w-1", 1).runs(905, "w-3", "gpu-002", of=job)
    hits_one(scene, outcome="survived", hours=(0, 0))
    return scene.kubelet_restarted("gpu-002", boots=None)


@incident
def a_kubelet_starts_beside_a_rollout() -> Scene:
    scene = Scene()
    kind = "apps/v1/deployments"
    top = under(scene, -20, kind, "Deployment/chat", "helm")
    sets = "apps/v1/replicasets"
    old = under(scene, -19, sets, "ReplicaSet/chat-5f", KCM, top)
    new = under(scene, 16, sets, "ReplicaSet/chat-7a", KCM, top)
    scene.runs(-5, "chat-5f-0", "gpu-002", gpus=0, of=old)
    scene.runs(17, "chat-7a-0", "gpu-002", gpus=0, of=new)
    scene.pod(19, "chat-5f-0", KCM, deleting=True).starts(20, "gpu-002")
    scene.fails(22, "chat-5f-0", 143).gone(22.2, "chat-5f-0")
    new_pod = ["chat-7a-0"]
    scene.hit("Deployment", "chat", "gpu-002", new_pod, size=1, gpus=0,
              outcome="survived", accept={"pods_hit": [[]]})  # fmt: skip
    return scene.kubelet_restarted("gpu-002", boots=None)


@incident
def a_kubelet_starts_and_refuses_what_it_ran() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.starts(20, "gpu-002")
    refused(scene, 21, "w-1")
    scene.runs(25, "w-3", "gpu-003", of=job)
    hits_one(scene, outcome="rescheduled", again=25)
    return scene.kubelet_restarted("gpu-002", boots=None)


@incident
def a_pod_is_cut_off_for_longer_than_it_may_be() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002").tainted_away(372, "w-1")
    scene.runs(373, "w-3", "gpu-004", of=job).heals(400, "gpu-002")
    scene.fails(402, "w-1", 137).gone(403, "w-1")
    hits_one(scene, outcome="rescheduled", again=373)
    return scene.cut_off("gpu-002", "network-partition", most="likely")


@incident
def a_pod_is_cut_off_and_stays() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").stale(66, "gpu-002").heals(200, "gpu-002")
    hits_one(scene, outcome="survived", hours=(0, 0))
    return scene.cut_off("gpu-002", "network-partition", most="likely")


def stateful(scene: Scene) -> object:
    """Let a StatefulSet run a Pod on each node."""
    kv = under(scene, -20, SETS, "StatefulSet/kv", "helm")
    for place, node in enumerate(FOUR[:3]):
        scene.runs(-5, f"kv-{place}", node, of=kv, gpus=1)
    return kv


@incident
def a_stateful_pod_is_deleted_by_force() -> Scene:
    scene = Scene(audit=True)
    kv = stateful(scene)
    scene.dies(20, "gpu-002", 2000).tainted_away(372, "kv-1")
    scene.asked(
        800,
        "dave@example.com",
        "delete",
        "kv-1",
        {"gracePeriodSeconds": 0},
        resource="pods",
        space="train",
    )
    scene.gone(800.1, "kv-1")
    scene.runs(801, "kv-1", "gpu-003", of=kv, gpus=1, life=2)
    scene.hit(
        "StatefulSet",
        "kv",
        "gpu-002",
        ["kv-1"],
        size=1,
        gpus=1,
        outcome="rescheduled",
        again=801,
        hours=(0.2, 0.218),
    )
    return scene.unexplained("gpu-002")


@incident
def a_node_is_deleted_and_its_pods_are_collected() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-0", "gpu-002", of=job)
    scene.silent(20, "gpu-002").stale(66, "gpu-002").leaves(300, "gpu-002")
    why = "DeletionByPodGC", "PodGC: node no longer exists"
    scene.pod(345, "w-0", KCM, disrupted=why, phase="Failed")
    scene.gone(345.1, "w-0").runs(346, "w-1", "gpu-003", of=job)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=8,
        outcome="rescheduled",
        again=346,
    )
    return scene.expect(
        "gpu-002",
        "removed",
        "unknown",
        most="possible",
        back=False,
        accept={
            "mode": ["abrupt", "planned"],
            "decision": ["node-deletion"],
            "cause": ["node-deletion", "network-partition"],
            "fault": ["network-partition"],
        },
    )


@incident
def two_tenants_have_a_job_of_the_same_name() -> Scene:
    scene = Scene()
    for space in ("blue", "green"):
        job = owner("Job", "llm", "batch/v1", space)
        scene.runs(-5, "w-0", "gpu-002", of=job, space=space)
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    ended = 255, "Unknown"
    scene.pod(90, "w-0", "kubelet", ended=ended, again=True, space="blue").pod(
        86, "w-0", "kubelet", ended=ended, phase="Failed", space="green"
    )
    for space, outcome in (("blue", "restarted"), ("green", "down")):
        scene.hit(
            "Job",
            "llm",
            "gpu-002",
            ["w-0"],
            size=1,
            gpus=8,
            outcome=outcome,
            space=space,
        )
    return scene.unexplained("gpu-002")
