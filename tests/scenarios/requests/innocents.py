"""More than one hand is on a node, and not all of them did it."""

from collections.abc import Mapping

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import (
    CA,
    CANDIDATE,
    XID,
    claim,
    disrupts,
)
from tests.scenarios.remediation.remediation import (
    quarantines,
    releases,
    remediates,
)
from tests.scenarios.remediation.repairs import AKS, aks_begins, aks_ends
from tests.scenarios.remediation.trials import LOST, WELL, orders
from tests.scenarios.requests.people import STATE as DRIVER
from tests.scenarios.requests.people import cordons
from tests.scenarios.requests.requests import (
    ASKED,
    DEADLOCK,
    NLCC,
    NPD,
    OBEYED,
    SOUND,
)
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    cloud,
    controller,
    or_decision,
    or_fault,
    or_lost_contact,
    user,
)
from tests.scenarios.upgrades.boots import NEW, gives, kured, takes

ALICE = "alice@example.com"
MAINTENANCES = "nodemaintenance.medik8s.io/v1beta1/nodemaintenances"
TRUE_AGAIN = {"AcceleratedHardwareReady": ("True", "NvidiaGPUIsReady", "well")}
WISH = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
DENIED = {"PendingPhaseState": ("False", "Cancelled", "not needed any more")}


def dumped(scene: Scene, at: float, node: str = "gpu-002") -> None:
    """Let the dump of a crash be found."""
    says = "System encountered a fatal error in the last reboot"
    by, reason = "abrt-adaptor", "VMcore"
    scene.says(at, by, reason, says, node=node, type="Warning")


def wishes(
    scene: Scene, at: float, what: Mapping[str, tuple[str, str, str]]
) -> None:
    """Let alice write the condition by which a reboot is asked for."""
    scene.asked(at, ALICE, "patch", "gpu-002", WISH, sub="status")
    scene.node(at + 0.02, "gpu-002", "kubectl-edit", conditions=what)


@incident
def a_candidate_for_a_scale_down_is_rebooted_by_aks() -> Scene:
    scene = Scene().node(5, "gpu-002", CA, taints={CANDIDATE: "1772359205"})
    scene.silent(100, "gpu-002").stale(147, "gpu-002")
    scene.unreachable(152, "gpu-002")
    aks_begins(scene, 460, "reboot")
    scene.boots(570, "gpu-002")
    aks_ends(scene, 580, "reboot")
    scene.node(600, "gpu-002", CA, taints={CANDIDATE: None})
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        cloud(AKS),
        accept=or_lost_contact({"mode": ["unknown"]}),
    )


@incident
def karpenter_is_blocked_and_nvsentinel_reboots() -> Scene:
    scene = Scene()
    claim(scene)
    says = "Node is nominated for a pending pod"
    scene.says(10, "karpenter", "DisruptionBlocked", says, node="gpu-002")
    scene.node(20, "gpu-002", "platform-connectors", conditions=LOST)
    quarantines(scene, 23)
    remediates(scene, 40)
    orders(scene, 41, "maintenance-gpu-002-77c01")
    says = "Can't replace with a cheaper node"
    scene.says(50, "karpenter", "Unconsolidatable", says, node="gpu-002")
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(500, "gpu-002")
    scene.node(540, "gpu-002", "platform-connectors", conditions=WELL)
    releases(scene, 560)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def draino_cordons_first_and_nvsentinel_reboots() -> Scene:
    scene = Scene().node(10, "gpu-002", NPD, conditions=DEADLOCK)
    about = {"kind": "Node", "name": "gpu-002", "uid": "gpu-002"}
    scene.says(12, "draino", "CordonStarting", "Cordoning node", about=about)
    scene.node(
        12.1,
        "gpu-002",
        "draino",
        cordon=True,
        notes={"draino.planet.com/conditions": "KernelDeadlock=True,0s"},
    )
    says = "Will drain node after 2026-03-01T10:40:00Z"
    scene.says(13, "draino", "DrainScheduled", says, about=about)
    scene.node(30, "gpu-002", "platform-connectors", conditions=LOST)
    scene.node(
        31,
        "gpu-002",
        "fault-quarantine",
        notes={"quarantineHealthEventCordonPreExisting": "True"},
        labels={"dgxc.nvidia.com/nvsentinel-state": "quarantined"},
    )
    remediates(scene, 50)
    orders(scene, 51, "maintenance-gpu-002-77c02")
    scene.silent(70, "gpu-002").stale(117, "gpu-002").boots(500, "gpu-002")
    scene.node(510, "gpu-002", NPD, conditions=SOUND)
    scene.node(540, "gpu-002", "platform-connectors", conditions=WELL)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
        back=False,
        accept=or_fault("hung-kernel"),
    )


@incident
def a_wish_is_answered_no_and_the_kernel_panics() -> Scene:
    scene = Scene(audit=True)
    wishes(scene, 20, ASKED)
    wishes(scene, 200, DENIED)
    scene.dies(1400, "gpu-002", 1800)
    dumped(scene, 1860)
    return scene.broke("gpu-002", "kernel-panic", most="proven")


@incident
def a_wish_comes_for_a_machine_that_is_silent_already() -> Scene:
    scene = Scene(audit=True).silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    wishes(scene, 400, ASKED)
    scene.node(410, "gpu-002", NLCC, cordon=True)
    done = {**OBEYED, "PendingPhaseState": None}
    scene.node(420, "gpu-002", NLCC, conditions=done)
    scene.boots(800, "gpu-002")
    gone = {"NLCCImmediateReboot": None}
    scene.node(830, "gpu-002", NLCC, conditions=gone, cordon=False)
    return scene.rebooted(
        "gpu-002",
        "admin-request",
        user(ALICE),
        accept={"mode": ["unknown", "abrupt"]},
    )


@incident
def it_was_cordoned_for_a_fan_weeks_before_it_crashed() -> Scene:
    scene = Scene(audit=True)
    cordons(scene, 20, ALICE)
    scene.dies(1_500_000, "gpu-002", 1_500_400)
    scene.expect(
        "gpu-002",
        "cordoned",
        "planned",
        decision="manual-drain",
        actor=user(ALICE),
        boots=(1, 1),
        accept={"happened": [None]},
    )
    return scene.unexplained("gpu-002", back=False)


@incident
def a_name_gets_another_machine_during_maintenance() -> Scene:
    scene = Scene()
    name, by = "nodemaintenance-gpu-002", "node-maintenance-operator"
    spec = {"nodeName": "gpu-002", "reason": "swap the board"}
    taint = "medik8s.io/drain:NoSchedule"
    kind = "NodeMaintenance"
    scene.makes(20, MAINTENANCES, kind, name, by="kubectl-create", spec=spec)
    scene.node(21, "gpu-002", by, cordon=True, taints={taint: ""})
    scene.silent(600, "gpu-002").stale(647, "gpu-002")
    vanishes(scene, 700, "gpu-002")
    scene.joins(4000, "gpu-002", machine="b", boot=2).joined(4001, "gpu-002")
    scene.node(4002, "gpu-002", by, cordon=True, taints={taint: ""})
    scene.heals(4012, "gpu-002")
    scene.removes(4100, MAINTENANCES, name)
    scene.node(4101, "gpu-002", by, cordon=False, taints={taint: None})
    return scene.expect(
        "gpu-002",
        "replaced",
        "planned",
        decision="host-maintenance",
        boots=(1, 2),
        back=True,
        # Who begins to listen late sees the new Node be cordoned as well.
        accept={
            "happened": ["cordoned"],
            **or_decision("admin-request", "node-deletion"),
        },
    )


@incident
def a_driver_fails_to_be_upgraded_and_the_kernel_panics() -> Scene:
    scene = Scene()
    by = "gpu-operator"
    scene.node(20, "gpu-002", by, labels={DRIVER: "cordon-required"})
    scene.node(20.2, "gpu-002", by, cordon=True)
    scene.node(60, "gpu-002", by, labels={DRIVER: "pod-restart-required"})
    scene.node(70, "gpu-002", "kubelet", gpus=0)
    scene.node(370, "gpu-002", by, labels={DRIVER: "upgrade-failed"})
    scene.dies(9000, "gpu-002", 9400)
    dumped(scene, 9460)
    scene.expect(
        "gpu-002",
        "drained",
        "planned",
        decision="driver-upgrade",
        actor=controller(),
        # It never came back between, so that both may be one; and
        # who begins to listen at the end sees a state that failed.
        accept={
            "happened": ["cordoned", "degraded", None],
            "mode": ["abrupt"],
            "fault": ["gpu-fault"],
            "cause": ["gpu-fault"],
            "decision": [None],
        },
    )
    return scene.broke("gpu-002", "kernel-panic", most="proven", back=False)


@incident
def a_drained_node_is_cut_off_and_heals() -> Scene:
    scene = Scene(audit=True)
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    cordons(scene, 20, ALICE)
    scene.evicts(21, "web-0")
    scene.silent(900, "gpu-002").stale(947, "gpu-002")
    scene.unreachable(952, "gpu-002").heals(1300, "gpu-002")
    cordons(scene, 1500, ALICE, on=False)
    scene.hit_pod("web-0", "gpu-002", by="drain")
    scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        user(ALICE),
        accept={"happened": [None]},
    )
    # Whether the cut was what it was drained for is not recorded.
    return scene.cut_off(
        "gpu-002",
        "network-partition",
        accept={
            "mode": ["planned", "unknown"],
            "decision": ["manual-drain"],
            "fault": [None],
            "cause": ["manual-drain"],
        },
    )


@incident
def one_panics_while_it_waits_for_its_turn() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, 20, "gpu-001")
    scene.silent(40, "gpu-001").stale(87, "gpu-001")
    scene.dies(100, "gpu-003", 480)
    scene.boots(160, "gpu-001", kernelVersion=NEW)
    gives(scene, 220, "gpu-001")
    dumped(scene, 540, "gpu-003")
    takes(scene, 900, "gpu-003")
    scene.silent(920, "gpu-003").stale(967, "gpu-003")
    scene.boots(1040, "gpu-003", 3, kernelVersion=NEW)
    gives(scene, 1100, "gpu-003")
    scene.rebooted("gpu-001", "os-upgrade", controller("kured"))
    scene.broke("gpu-003", "kernel-panic", most="proven", back=True)
    return scene.rebooted(
        "gpu-003", "os-upgrade", controller("kured"), boots=(2, 3)
    )


@incident
def memory_ran_out_and_kured_comes_in_its_turn() -> Scene:
    scene = Scene()
    kured(scene)
    says = "System OOM encountered, victim process: tensorboard, pid: 4102"
    scene.kubelet(20, "gpu-002", "SystemOOM", says, type="Warning")
    takes(scene, 1200, "gpu-002")
    scene.silent(1220, "gpu-002").stale(1267, "gpu-002")
    scene.boots(1330, "gpu-002", kernelVersion=NEW)
    gives(scene, 1400, "gpu-002")
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="system-oom",
        accept={"happened": [None], "mode": ["unknown"]},
    )
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def eks_would_have_repaired_what_karpenter_consolidates() -> Scene:
    scene = Scene()
    claim(scene)
    by = "eks-node-monitoring-agent"
    scene.node(20, "gpu-002", by, conditions=XID)
    scene.node(420, "gpu-002", by, conditions=TRUE_AGAIN)
    disrupts(scene, 4200, "Underutilized")
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="gpu-fault",
        boots=(1, 1),
        accept={"happened": [None], "mode": ["unknown"]},
    )
    return scene.decided(
        "gpu-002", "removed", "scale-down", controller("karpenter"), back=False
    )


@incident
def a_new_kernel_panics_a_minute_after_its_upgrade() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, 20, "gpu-002")
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    gives(scene, 130, "gpu-002")
    scene.dies(190, "gpu-002").boots(600, "gpu-002", 3)
    dumped(scene, 660)
    scene.rebooted("gpu-002", "os-upgrade", controller("kured"))
    return scene.broke("gpu-002", "kernel-panic", most="proven", boots=(2, 3))
