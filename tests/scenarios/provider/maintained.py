"""Clouds maintain and take back, in the words that people have recorded."""

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import claim, ends_claim, says_of_claim
from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    PROVIDER,
    cloud,
    or_decision,
)
from tests.scenarios.upgrades.upgrades import stops
from tests.scenarios.workloads.work import FOUR, JOBS, owned

ANNOUNCED = "custom-scheduledevents-consolidated-condition-plugin-monitor"
MORE = "For more information, see https://aka.ms/aks/scheduledevents."
LABEL = "cloud.google.com"
IMPENDING = f"{LABEL}/impending-node-termination:NoSchedule"
EKS = "eks:node-manager"
OFF = {"spec": {"unschedulable": True}}


def announces(scene: Scene, at: float, node: str, what: str) -> None:
    """Let AKS report an event of Azure: its condition has one reason."""
    text = f"{what} {MORE}"
    kind = reason = "VMEventScheduled"
    scene.says(
        at,
        ANNOUNCED,
        reason,
        f"Node condition {kind} is now: True, reason: {reason},"
        f' message: "{text}"',
        node=node,
        type="Warning",
    )
    scene.node(at + 0.4, node, NPD, conditions={kind: ("True", reason, text)})


@incident
def aks_restarts_a_machine_whose_kubelet_was_down() -> Scene:
    scene = Scene()
    text = "Kubelet service is not running"
    down = {"KubeletProblem": ("True", "KubeletIsDown", text)}
    by = "kubelet-custom-plugin-monitor"
    scene.says(
        20,
        by,
        "KubeletIsDown",
        "Node condition KubeletProblem is now: True, reason: KubeletIsDown,"
        f' message: "{text}"',
        node="gpu-002",
        type="Warning",
    )
    scene.node(20.3, "gpu-002", NPD, conditions=down)
    scene.silent(12, "gpu-002").stale(59, "gpu-002")
    scene.unreachable(64, "gpu-002")
    announces(
        scene,
        800,
        "gpu-002",
        "Reboot Scheduled: Sun, 01 Mar 2026 10:13:25 GMT. DurationInSeconds:"
        " -1. Virtual machine is going to be restarted as requested by"
        " authorized user.",
    )
    scene.boots(850, "gpu-002")
    well = {
        "KubeletProblem": ("False", "KubeletIsUp", "kubelet service is up")
    }
    none = {"VMEventScheduled": ("False", "NoVMEventScheduled", "none")}
    scene.node(900, "gpu-002", NPD, conditions={**well, **none})
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        fault="kubelet-failure",
        decision="auto-remediation",
        boots=(1, 2),
        back=True,
        accept={"decision": ["host-maintenance", "admin-request"]},
    )


@incident
def azure_preempts_and_the_reason_does_not_say_so() -> Scene:
    scene = Scene(*FOUR)
    job = owned(scene, "Job", JOBS)
    for place, node in enumerate(("gpu-002", "gpu-003")):
        scene.runs(-5, f"w-{place}", node, of=job)
    announces(
        scene,
        20,
        "gpu-002",
        "Preempt Scheduled: Sun, 01 Mar 2026 10:00:59 GMT."
        " DurationInSeconds: -1.",
    )
    scene.evicts(26, "w-0").evicts(86, "w-1", by="kai-scheduler")
    scene.silent(55, "gpu-002").stale(114, "gpu-002")
    vanishes(scene, 124, "gpu-002")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=2,
        gpus=16,
        by="drain",
        accept={"hit_by": ["node-failure", "preemption"]},
    )
    return scene.decided(
        "gpu-002", "removed", "preemption", cloud(), back=False
    )


@incident
def google_maintains_a_host_when_a_person_says_now() -> Scene:
    scene = Scene(audit=True)
    soon = {f"{LABEL}/scheduled-maintenance-time": "1772964000"}
    scene.node(-600, "gpu-002", "gcp-controller-manager", labels=soon)
    now = {f"{LABEL}/perform-maintenance": "true"}
    body = {"metadata": {"labels": now}}
    scene.asked(20, "alice@example.com", "patch", "gpu-002", body)
    scene.node(20.02, "gpu-002", "kubectl-label", labels=now)
    by = "gcp-controller-manager"
    scene.node(41, "gpu-002", by, taints={IMPENDING: ""})
    active = f"{LABEL}/active-node-maintenance"
    scene.node(50, "gpu-002", by, labels={active: "ONGOING"})
    stops(scene, 290, "gpu-002")
    scene.silent(300, "gpu-002").stale(347, "gpu-002")
    scene.boots(3000, "gpu-002")
    gone = {active: None, **dict.fromkeys([*soon, *now])}
    scene.node(3030, "gpu-002", by, labels=gone, taints={IMPENDING: None})
    return scene.rebooted(
        "gpu-002",
        "host-maintenance",
        (["cloud", "user"], None),
        accept=or_decision("admin-request"),
    )


@incident
def google_repairs_what_was_not_ready() -> Scene:
    scene = Scene()
    text = "PLEG is not healthy: pleg was last seen active 3m5s ago"
    unready = {"Ready": ("False", "KubeletNotReady", text)}
    scene.node(20, "gpu-002", "kubelet", conditions=unready)
    scene.kubelet(20.1, "gpu-002", "NodeNotReady", "NodeNotReady")
    scene.silent(700, "gpu-002").stale(747, "gpu-002")
    vanishes(scene, 760, "gpu-002")
    scene.joins(880, "gpu-002", machine="b", boot=4)
    scene.joined(881, "gpu-002").heals(892, "gpu-002")
    kinds: list[str | None] = ["kubelet-failure", "runtime-failure"]
    decisions = ["node-deletion", "auto-remediation"]
    return scene.decided(
        "gpu-002",
        "replaced",
        "node-deletion",
        PROVIDER,
        boots=(1, 4),
        back=True,
        accept={
            "mode": ["abrupt", "unknown"],
            "fault": kinds,
            "decision": decisions,
            "cause": [*kinds, *decisions],
        },
    )


@incident
def google_takes_a_spot_machine_and_another_comes() -> Scene:
    scene = Scene().runs(-5, "w-0", "gpu-002", of=None)
    by = "node-termination-handler"
    scene.node(20, "gpu-002", by, taints={IMPENDING: ""})
    stops(scene, 21, "gpu-002")
    text = "Pod was terminated in response to imminent node shutdown."
    scene.pod(
        23,
        "w-0",
        "kubelet",
        disrupted=("TerminationByKubelet", text),
        ended=(143, "Error"),
        phase="Failed",
        reason="Terminated",
        message=text,
    )
    scene.silent(45, "gpu-002").stale(92, "gpu-002")
    vanishes(scene, 100, "gpu-002")
    scene.gone(141, "w-0")
    scene.joins(200, "gpu-012").joined(201, "gpu-012").heals(211, "gpu-012")
    scene.hit_pod(
        "w-0",
        "gpu-002",
        gpus=8,
        outcome="down",
        accept={"hit_by": ["drain"], "outcome": ["failed"]},
    )
    scene.expect("gpu-012", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "preemption",
        PROVIDER,
        back=False,
        accept=or_decision("host-maintenance", "node-deletion"),
    )


@incident
def eks_updates_a_managed_node_group() -> Scene:
    scene = Scene(audit=True).runs(-5, "web-0", "gpu-002", gpus=0)
    scene.joins(10, "gpu-011").joined(11, "gpu-011").heals(21, "gpu-011")
    agent = "vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format"
    scene.asked(40, EKS, "patch", "gpu-002", OFF, agent=agent)
    scene.node(40.02, "gpu-002", "vpcLambda", cordon=True)
    scene.asked(
        41,
        EKS,
        "create",
        "web-0",
        {},
        resource="pods",
        space="train",
        sub="eviction",
        agent=agent,
    )
    scene.evicts(41.1, "web-0")
    scene.silent(120, "gpu-002").stale(167, "gpu-002")
    vanishes(scene, 180, "gpu-002")
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    scene.expect("gpu-011", "joined", "unknown", accept={"happened": [None]})
    other = ["os-upgrade", "scale-down", "host-maintenance"]
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        decision="node-deletion",
        back=False,
        accept={"mode": ["unknown"], "decision": other, "cause": other},
    )


@incident
def aks_upgrades_the_image_of_a_node() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    by = "upgrader"
    text = "Created a surge node [gpu-009 nodepool1] for agentpool nodepool1"
    scene.joins(10, "gpu-009").joined(11, "gpu-009").heals(21, "gpu-009")
    scene.says(25, by, "Surge", text, node="gpu-009")
    scene.says(60, by, "Drain", "Draining node: [gpu-002]", node="gpu-002")
    scene.node(60.2, "gpu-002", by, cordon=True).evicts(61, "web-0")
    scene.leaves(120, "gpu-002")
    scene.joins(400, "gpu-002", boot=3, machine="b")
    scene.joined(401, "gpu-002").heals(411, "gpu-002")
    new = {"kubeletVersion": "v1.37.1", "osImage": "Ubuntu 24.04.4 LTS"}
    scene.node(401.5, "gpu-002", "kubelet", info=new)
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    scene.expect("gpu-009", "joined", "unknown", accept={"happened": [None]})
    return scene.expect(
        "gpu-002",
        "replaced",
        "planned",
        decision="os-upgrade",
        boots=(1, 3),
        back=True,
        accept=or_decision("node-deletion"),
    )


@incident
def a_reservation_of_capacity_ends() -> Scene:
    scene = Scene()
    claim(scene)
    text = "Capacity reservation instance interruption warning was triggered"
    reason = "CapacityReservationInstanceInterrupted"
    scene.says(20, "karpenter", reason, text, node="gpu-002", type="Warning")
    says_of_claim(scene, 20, reason, text)
    ends_claim(scene, 21, 600)
    return scene.decided(
        "gpu-002",
        "removed",
        "preemption",
        PROVIDER,
        back=False,
        accept=or_decision("host-maintenance"),
    )


@incident
def a_maintenance_is_announced_for_what_is_over() -> Scene:
    scene = Scene()
    passed = {f"{LABEL}/scheduled-maintenance-time": "1772300000"}
    scene.node(-900, "gpu-002", "gcp-controller-manager", labels=passed)
    scene.dies(20, "gpu-002", 600)
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_decision("host-maintenance")},
    )
