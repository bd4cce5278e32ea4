"""What is to be done to a node is ordered by an object, a Job or a label."""

from typing import Any

from tests.scenarios.provider.provider import claim, ends_claim, says_of_claim
from tests.scenarios.requests.people import STATE as DRIVER
from tests.scenarios.requests.people import STEPS
from tests.scenarios.requests.requests import STATE
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import controller, or_decision, or_fault
from tests.scenarios.upgrades.boots import NEW
from tests.scenarios.upgrades.operators import web
from tests.scenarios.workloads.work import JOBS

WANTED = "maintenance.nvidia.com/v1alpha1/nodemaintenances"
PLANS = "system-upgrade-controller"
CONNECTORS = "platform-connectors"


def quarantines(scene: Scene, at: float, node: str = "gpu-002") -> None:
    """Let NVSentinel quarantine a node."""
    scene.node(
        at,
        node,
        "fault-quarantine",
        cordon=True,
        notes={"quarantineHealthEventIsCordoned": "True"},
        labels={
            STATE: "quarantined",
            "k8saas.nvidia.com/cordon-by": "NVSentinel",
        },
    )


def releases(scene: Scene, at: float, node: str = "gpu-002") -> None:
    """Let NVSentinel give a node back."""
    scene.node(
        at,
        node,
        "fault-quarantine",
        cordon=False,
        notes={"quarantineHealthEventIsCordoned": None},
        labels={STATE: None, "k8saas.nvidia.com/cordon-by": None},
    )


@incident
def a_plan_patches_a_system_and_reboots() -> Scene:
    scene = web(Scene())
    name, space = "apply-os-patch-on-gpu-002-with-77aa", "system-upgrade"
    marks = {
        "upgrade.cattle.io/node": "gpu-002",
        "upgrade.cattle.io/plan": "os-patch",
    }
    scene.makes(
        15,
        JOBS,
        "Job",
        name,
        by=PLANS,
        space=space,
        metadata={"labels": marks},
    )
    job = owner("Job", name, "batch/v1", space)
    scene.runs(16, f"{name}-9", "gpu-002", of=job, gpus=0, space=space)
    scene.node(18, "gpu-002", "kubectl", cordon=True).evicts(20, "web-0")
    scene.silent(60, "gpu-002").stale(107, "gpu-002")
    scene.boots(200, "gpu-002", kernelVersion=NEW)
    scene.pod(
        215,
        f"{name}-9",
        "kubelet",
        space=space,
        ended=(0, "Completed"),
        phase="Succeeded",
    )
    done = {"plan.upgrade.cattle.io/os-patch": "77aa"}
    scene.node(220, "gpu-002", PLANS, labels=done, cordon=False)
    scene.hit(
        "Job",
        name,
        "gpu-002",
        [f"{name}-9"],
        size=1,
        gpus=0,
        space=space,
        outcome="survived",
        optional=True,
        accept={
            "outcome": ["completed", "restarted", "failed", "down"],
            "hit_by": ["drain"],
        },
    )
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        (["controller", "unknown"], None),
        most="likely",
        accept=or_decision("manual-drain"),
    )


@incident
def a_driver_is_upgraded_by_the_leave_of_another_operator() -> Scene:
    scene = web(Scene())
    by = "gpu-operator"
    name, space = "nvidia.gpu.operator-gpu-002", "maintenance"
    steps = ["upgrade-required", "node-maintenance-required"]
    for place, step in enumerate(steps):
        at = 20 + 4 * place
        scene.node(at, "gpu-002", by, labels={DRIVER: step})
    scene.makes(
        25,
        WANTED,
        "NodeMaintenance",
        name,
        by=by,
        space=space,
        spec={"nodeName": "gpu-002", "requestorID": "nvidia.gpu.operator"},
    )
    keeper = "maintenance-operator"
    scene.node(28, "gpu-002", keeper, cordon=True).evicts(30, "web-0")

    def ready(made: dict[str, Any]) -> None:
        why = {"type": "Ready", "status": "True", "reason": "Ready"}
        made["status"] = {"conditions": [why]}

    scene.alters(50, WANTED, name, ready, by=keeper, space=space)
    for place, step in enumerate(STEPS[-3:]):
        at = 52 + 20 * place
        scene.node(at, "gpu-002", by, labels={DRIVER: step})
    scene.node(60, "gpu-002", "kubelet", gpus=0)
    scene.node(85, "gpu-002", "kubelet", gpus=8)
    scene.removes(112, WANTED, name, space=space)
    scene.node(113, "gpu-002", keeper, cordon=False)
    scene.node(115, "gpu-002", by, labels={DRIVER: "upgrade-done"})
    return scene.decided(
        "gpu-002",
        "drained",
        "driver-upgrade",
        controller(by),
        boots=(1, 1),
        back=True,
    )


@incident
def nvsentinel_reboots_bare_metal_by_a_job() -> Scene:
    scene = web(Scene())
    kind = "GpuMemWatch"
    text = (
        "ErrorCode:DCGM_FR_VOLATILE_DBE_DETECTED GPU:3 double bit errors"
        " Recommended Action=RESTART_BM;"
    )
    bad = {kind: ("True", f"{kind}IsNotHealthy", text)}
    scene.node(20, "gpu-002", CONNECTORS, conditions=bad)
    quarantines(scene, 22)
    scene.node(23, "gpu-002", "node-drainer", labels={STATE: "draining"})
    scene.evicts(24, "web-0")
    by = "fault-remediation"
    scene.node(40, "gpu-002", by, labels={STATE: "remediating"})
    name, space = "reboot-gpu-002-5d1c", "nvsentinel"
    marks = {"nvsentinel.nvidia.com/reboot-job": "true"}
    scene.makes(
        41,
        JOBS,
        "Job",
        name,
        by="janitor",
        space=space,
        metadata={"labels": marks},
    )
    job = owner("Job", name, "batch/v1", space)
    scene.runs(42, f"{name}-q", "gpu-002", of=job, gpus=0, space=space)
    scene.silent(50, "gpu-002").stale(97, "gpu-002").boots(600, "gpu-002")
    well = {kind: ("False", f"{kind}IsHealthy", "No Health Failures")}
    scene.node(640, "gpu-002", CONNECTORS, conditions=well)
    releases(scene, 650)
    scene.hit(
        "Job",
        name,
        "gpu-002",
        [f"{name}-q"],
        size=1,
        gpus=0,
        space=space,
        optional=True,
        accept={"outcome": ["survived", "failed", "restarted"]},
    )
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def a_switch_between_gpus_fails_and_support_is_called() -> Scene:
    scene = Scene()
    kind = "NVSwitchFatalError"
    text = "ErrorCode:12028 NVSWITCH:2 Recommended Action=CONTACT_SUPPORT;"
    bad = {kind: ("True", f"{kind}IsNotHealthy", text)}
    scene.node(20, "gpu-002", CONNECTORS, conditions=bad)
    quarantines(scene, 22)
    return scene.decided(
        "gpu-002",
        "cordoned",
        "auto-remediation",
        controller("NVSentinel"),
        fault="link-fault",
        boots=(1, 1),
        back=False,
        accept=or_fault("gpu-fault"),
    )


@incident
def a_provider_tells_nvsentinel_of_maintenance() -> Scene:
    scene = web(Scene())
    kind = "CSPMaintenance"
    text = (
        "ErrorCode: host maintenance is scheduled for 2026-03-01T10:20:00Z"
        " Recommended Action=NONE;"
    )
    soon = {kind: ("True", f"{kind}IsNotHealthy", text)}
    scene.node(20, "gpu-002", CONNECTORS, conditions=soon)
    quarantines(scene, 22)
    scene.node(23, "gpu-002", "node-drainer", labels={STATE: "draining"})
    scene.evicts(24, "web-0")
    scene.node(
        40, "gpu-002", "node-drainer", labels={STATE: "drain-succeeded"}
    )
    scene.silent(1200, "gpu-002").stale(1247, "gpu-002")
    scene.boots(3000, "gpu-002")
    over = {kind: ("False", f"{kind}IsHealthy", "No Health Failures")}
    scene.node(3040, "gpu-002", CONNECTORS, conditions=over)
    releases(scene, 3050)
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="host-maintenance",
        boots=(1, 2),
        back=True,
        accept=or_decision("auto-remediation"),
    )


@incident
def karpenter_says_that_a_node_is_unhealthy() -> Scene:
    scene = Scene()
    claim(scene)
    kind = "NetworkingReady"
    well = {kind: ("True", "NetworkingIsReady", "Networking is ready")}
    scene.node(-900, "gpu-002", "eks-node-monitoring-agent", conditions=well)
    bad = {kind: ("False", "IPAMDNotRunning", "IPAMD is not running")}
    scene.node(20, "gpu-002", "eks-node-monitoring-agent", conditions=bad)
    text = "Disrupting Node: Unhealthy"
    reason = "DisruptionTerminating"
    scene.says(1830, "karpenter", reason, text, node="gpu-002")
    says_of_claim(scene, 1830, reason, "Disrupting NodeClaim: Unhealthy")
    ends_claim(scene, 1831, 1900)
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller("karpenter"),
        fault="other-fault",
        back=False,
        accept=or_fault("link-fault"),
    )


@incident
def karpenter_lets_a_node_expire() -> Scene:
    scene = Scene()
    claim(scene)
    scene.joins(15, "gpu-010").joined(16, "gpu-010").heals(26, "gpu-010")
    ends_claim(scene, 20, 90)
    scene.expect("gpu-010", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("karpenter"),
        back=False,
        accept={
            "mode": ["unknown"],
            **or_decision("scale-down", "auto-remediation"),
        },
        most="possible",
    )


@incident
def a_dead_node_is_scaled_down_as_not_ready() -> Scene:
    scene = Scene().runs(-5, "w-0", "gpu-002")
    scene.silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    by = "cluster-autoscaler"
    taint = {"ToBeDeletedByClusterAutoscaler:NoSchedule": "1772360500"}
    scene.node(1300, "gpu-002", by, taints={**taint})
    text = "marked the node as toBeDeleted/unschedulable"
    scene.says(1300.1, by, "ScaleDown", text, node="gpu-002")
    scene.pod(1310, "w-0", KCM, deleting=True)
    scene.leaves(1400, "gpu-002")
    scene.pod(
        1440,
        "w-0",
        KCM,
        disrupted=("DeletionByPodGC", "PodGC: node no longer exists"),
        phase="Failed",
    )
    scene.gone(1440.2, "w-0")
    scene.hit_pod("w-0", "gpu-002", gpus=8)
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller(by),
        back=False,
        accept={
            "mode": ["unknown", "abrupt"],
            **or_fault("network-partition"),
        },
    )
