"""Controllers try, are stopped, fail, and try again."""

from typing import Any

from tests.scenarios.remediation.remediation import (
    NHC,
    finds_unhealthy,
    quarantines,
    releases,
    remediates,
)
from tests.scenarios.remediation.repairs import AKS, aks_begins
from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND, STATE, xid
from tests.scenarios.telling.parts import boot_id, uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    controller,
    or_decision,
    or_fault,
    or_lost_contact,
)
from tests.scenarios.upgrades.boots import NEW, gives, kured, takes

FAR = "fence-agents-remediation.medik8s.io/v1alpha1/fenceagentsremediations"
SNR = "self-node-remediation.medik8s.io/v1alpha1/selfnoderemediations"
REBOOTS = "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes"
SPACE = "openshift-workload-availability"
BY_FAR = "remediation.medik8s.io/fence-agents-remediation:NoSchedule"
BY_SNR = "remediation.medik8s.io/self-node-remediation:NoSchedule"
MCO = "machineconfiguration.openshift.io"
CONNECTORS = "platform-connectors"
LOST = {"SysLogsXIDError": xid(79)}
WELL = {
    "SysLogsXIDError": (
        "False",
        "SysLogsXIDErrorIsHealthy",
        "No Health Failures",
    )
}
HOT = (
    "True",
    "GpuThermalWatchIsNotHealthy",
    "ErrorCode:DCGM_FR_CLOCK_THROTTLE_THERMAL GPU:3 Recommended Action=NONE;",
)


def check() -> dict[str, str]:
    """Refer to the health check that asks for remediations."""
    return NHC | {"uid": uid_of("NodeHealthCheck", "", "nhc-gpu", "1")}


def remediation(scene: Scene, at: float, resource: str, kind: str) -> None:
    """Let a health check make a remediation of a node."""
    by = "node-healthcheck-operator"
    scene.makes(at, resource, kind, "gpu-002", by=by, space=SPACE, spec={})


def states(
    scene: Scene, at: float, resource: str, name: str, **condition: Any
) -> None:
    """Let a remediator set a condition of its object."""

    def change(made: dict[str, Any]) -> None:
        had = made.setdefault("status", {}).setdefault("conditions", [])
        had[:] = [one for one in had if one["type"] != condition["type"]]
        had.append(condition)

    space = SPACE if resource != REBOOTS else ""
    by = "manager" if space else "janitor"
    scene.alters(at, resource, name, change, by=by, space=space, sub="status")


def orders(scene: Scene, at: float, name: str) -> None:
    """Let NVSentinel order a reboot, and the order be sent."""
    spec = {"nodeName": "gpu-002", "force": False}
    by = "fault-remediation"
    scene.makes(at, REBOOTS, "RebootNode", name, by=by, spec=spec)
    sent = {"status": "True", "reason": "Succeeded"}
    states(scene, at + 2, REBOOTS, name, type="SignalSent", **sent)


def fails(scene: Scene, at: float, name: str) -> None:
    """Let an order of NVSentinel fail."""
    failed = {"status": "False", "reason": "Failed", "message": "timed out"}
    states(scene, at, REBOOTS, name, type="NodeReady", **failed)


def loses_a_gpu(scene: Scene) -> Scene:
    """Let a GPU fall off the bus, and NVSentinel begin."""
    scene.node(20, "gpu-002", CONNECTORS, conditions=LOST)
    scene.node(21, "gpu-002", "kubelet", gpus=7)
    quarantines(scene, 23)
    remediates(scene, 40)
    return scene


@incident
def a_fence_agent_times_out_and_another_remediator_follows() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    finds_unhealthy(scene, 367, check())
    remediation(scene, 367.1, FAR, "FenceAgentsRemediation")
    scene.node(368, "gpu-002", "manager", taints={BY_FAR: ""})
    late = {"status": "False", "reason": "FenceAgentTimedOut"}
    kind = "FenceAgentActionSucceeded"
    states(scene, 430, FAR, "gpu-002", type=kind, **late)
    remediation(scene, 670, SNR, "SelfNodeRemediation")
    scene.node(671, "gpu-002", "manager", taints={BY_SNR: ""})
    scene.boots(900, "gpu-002")
    for resource in (FAR, SNR):
        scene.removes(960, resource, "gpu-002", space=SPACE)
    gone = {BY_FAR: None, BY_SNR: None}
    scene.node(961, "gpu-002", "manager", taints=gone)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller(),
        accept=or_lost_contact({"mode": ["unknown"]}),
    )


@incident
def a_remediation_is_called_off_because_the_network_heals() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    finds_unhealthy(scene, 367, check())
    remediation(scene, 367.1, SNR, "SelfNodeRemediation")
    scene.node(368, "gpu-002", "manager", taints={BY_SNR: ""})
    scene.heals(400, "gpu-002")
    says = "[remediation] Removed remediation object for node gpu-002"
    scene.says(403, "NodeHealthCheck", "RemediationRemoved", says, about=NHC)
    scene.removes(403.1, SNR, "gpu-002", space=SPACE)
    scene.node(404, "gpu-002", "manager", taints={BY_SNR: None})
    return scene.cut_off("gpu-002", "network-partition")


@incident
def a_reboot_is_ordered_that_fails_and_somebody_cycles_the_power() -> Scene:
    scene = loses_a_gpu(Scene())
    orders(scene, 41, "maintenance-gpu-002-68e01")
    fails(scene, 1900, "maintenance-gpu-002-68e01")
    by = "fault-remediation"
    failed = {STATE: "remediation-failed"}
    scene.node(1901, "gpu-002", by, labels=failed)
    scene.dies(7200, "gpu-002", 7500)
    scene.node(7560, "gpu-002", CONNECTORS, conditions=WELL)
    releases(scene, 7600)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
        most="likely",
        accept={"mode": ["unknown"], "decision": [None]},
    )


@incident
def the_first_order_fails_and_the_second_reboots() -> Scene:
    scene = loses_a_gpu(Scene())
    orders(scene, 41, "maintenance-gpu-002-68e01")
    fails(scene, 300, "maintenance-gpu-002-68e01")
    orders(scene, 310, "maintenance-gpu-002-68e02")
    scene.silent(330, "gpu-002").stale(377, "gpu-002").boots(700, "gpu-002")
    scene.node(760, "gpu-002", CONNECTORS, conditions=WELL)
    releases(scene, 780)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def a_reboot_does_not_help_and_is_tried_again() -> Scene:
    scene = loses_a_gpu(Scene())
    orders(scene, 41, "maintenance-gpu-002-68e01")
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(400, "gpu-002")
    scene.node(430, "gpu-002", CONNECTORS, conditions=WELL)
    scene.node(500, "gpu-002", CONNECTORS, conditions=LOST)
    scene.node(501, "gpu-002", "kubelet", gpus=7)
    remediates(scene, 520)
    orders(scene, 521, "maintenance-gpu-002-68e02")
    scene.silent(540, "gpu-002").stale(587, "gpu-002")
    scene.boots(900, "gpu-002", 3)
    failed = {STATE: "remediation-failed"}
    scene.node(1500, "gpu-002", "fault-remediation", labels=failed)
    for boots in ((1, 2), (2, 3)):
        scene.rebooted(
            "gpu-002",
            "auto-remediation",
            controller("NVSentinel"),
            fault="gpu-fault",
            boots=boots,
            back=False,
        )
    return scene


@incident
def aks_fails_to_reboot_and_the_node_heals() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002")
    aks_begins(scene, 370, "reboot")
    says = "Node auto-repair reboot action failed due to an operation error."
    scene.says(400, AKS, "NodeRebootError", says, node="gpu-002")
    scene.heals(900, "gpu-002")
    return scene.cut_off("gpu-002", "network-partition")


@incident
def a_machine_config_cannot_drain_and_the_machine_crashes() -> Scene:
    scene = Scene()
    daemon, by = "machineconfigdaemon", "machine-config-controller"
    wanted = {f"{MCO}/desiredConfig": "rendered-worker-2"}
    scene.node(20, "gpu-002", by, notes=wanted)
    state = {f"{MCO}/state": "Working"}
    scene.node(21, "gpu-002", "machine-config-daemon", notes=state)
    for at, reason, says in (
        (22, "Cordon", "Cordoned node to apply update"),
        (23, "Drain", "Draining node to update config."),
    ):
        scene.says(at, daemon, reason, says, node="gpu-002")
    scene.node(22.1, "gpu-002", by, cordon=True)
    says = "failed to drain node: gpu-002 after 1 hour. Please see logs"
    scene.says(3623, by, "FailedToDrain", says, node="gpu-002")
    scene.dies(9000, "gpu-002", 9300)
    return scene.expect(
        "gpu-002",
        "reboot",
        "unknown",
        most="possible",
        boots=(1, 2),
        back=False,
        accept={"mode": ["abrupt"], **or_decision("os-upgrade")},
    )


@incident
def draino_fails_to_drain_and_gives_the_node_back() -> Scene:
    scene = Scene()
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    for at, reason, says in (
        (25, "CordonStarting", "Cordoning node"),
        (25.2, "CordonSucceeded", "Cordoned node"),
        (85, "DrainStarting", "Draining node"),
        (385, "DrainFailed", "Draining failed: timed out"),
        (905, "UncordonStarting", "Uncordoning node"),
        (905.2, "UncordonSucceeded", "Uncordoned node"),
    ):
        scene.says(at, "draino", reason, says, node="gpu-002")
    scene.node(25.1, "gpu-002", "draino", cordon=True)
    scene.node(900, "gpu-002", NPD, conditions=SOUND)
    scene.node(905.1, "gpu-002", "draino", cordon=False)
    return scene.decided(
        "gpu-002",
        "cordoned",
        "auto-remediation",
        controller("draino"),
        fault="hung-kernel",
        boots=(1, 1),
        back=True,
    )


@incident
def a_machine_had_cooled_down_before_kured_came() -> Scene:
    scene = Scene()
    kured(scene)
    hot = {"GpuThermalWatch": HOT}
    cool = {
        "GpuThermalWatch": ("False", "GpuThermalWatchIsHealthy", "No Health")
    }
    scene.node(20, "gpu-002", CONNECTORS, conditions=hot)
    scene.node(60, "gpu-002", CONNECTORS, conditions=cool)
    takes(scene, 120, "gpu-002")
    scene.silent(140, "gpu-002").boots(175, "gpu-002", kernelVersion=NEW)
    gives(scene, 230, "gpu-002")
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="thermal-fault",
        accept={"happened": [None], "mode": ["unknown"]},
    )
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def memory_ran_out_half_an_hour_before_a_crash() -> Scene:
    scene = Scene()
    says = "System OOM encountered, victim process: python3, pid: 4411"
    scene.kubelet(20, "gpu-002", "SystemOOM", says, type="Warning")
    scene.dies(1820, "gpu-002", 2100)
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="system-oom",
        accept={"happened": [None], "mode": ["unknown"]},
    )
    return scene.unexplained(
        "gpu-002", most="possible", accept=or_fault("system-oom")
    )


@incident
def a_boot_is_told_again_by_an_event_that_is_counted() -> Scene:
    scene = Scene().dies(20, "gpu-002", 300)
    says = f"Node gpu-002 has been rebooted, boot id: {boot_id('gpu-002', 2)}"
    scene.kubelet(2000, "gpu-002", "Rebooted", says, type="Warning")
    scene.kubelet(2000, "gpu-002", "Starting", "Starting kubelet.")
    scene.unexplained("gpu-002", back=None)
    return scene.kubelet_restarted("gpu-002", boots=(2, 2))
