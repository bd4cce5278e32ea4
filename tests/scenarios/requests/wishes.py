"""Reboots that a person wants, announces, or cancels."""

from typing import Any

from tests.scenarios.provider.maintained import LABEL
from tests.scenarios.requests.people import OFF
from tests.scenarios.requests.requests import ASKED, CW, DEADLOCK, NPD, SOUND
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    controller,
    or_decision,
    or_fault,
    user,
)
from tests.scenarios.upgrades.boots import NEW, kured, locks
from tests.scenarios.upgrades.operators import web

NLCC = "node-lifecycle-controller"
ALICE = "alice@example.com"


def crashed(scene: Scene) -> Scene:
    """Say that gpu-002 crashed, for an unknown reason."""
    return scene.unexplained("gpu-002")


@incident
def a_wish_is_taken_back_before_it_is_granted() -> Scene:
    scene = Scene(audit=True)
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    scene.asked(20, ALICE, "patch", "gpu-002", body, sub="status")
    scene.node(20.02, "gpu-002", "kubectl-edit", conditions=ASKED)
    scene.asked(80, ALICE, "patch", "gpu-002", body, sub="status")
    gone = {"PendingPhaseState": None}
    scene.node(80.02, "gpu-002", "kubectl-edit", conditions=gone)
    scene.dies(9000, "gpu-002", 9600)
    return crashed(scene)


@incident
def an_admin_wishes_by_a_condition_of_their_own() -> Scene:
    scene = Scene(audit=True)
    kind = "AdminSafeReboot"
    body = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
    scene.asked(20, ALICE, "patch", "gpu-002", body, sub="status")
    wish = {kind: ("True", "Requested", "swap the NIC")}
    scene.node(20.02, "gpu-002", "kubectl-edit", conditions=wish)
    scene.node(40, "gpu-002", NLCC, cordon=True)
    scene.dies(100, "gpu-002", 500)
    scene.node(530, "gpu-002", NLCC, conditions={kind: None}, cordon=False)
    return scene.rebooted("gpu-002", "admin-request", user(ALICE))


@incident
def a_lock_is_taken_and_the_drain_fails() -> Scene:
    scene = Scene()
    kured(scene)
    locks(scene, 20, "gpu-002")
    scene.node(20.1, "gpu-002", "kured", cordon=True)
    scene.node(320, "gpu-002", "kured", cordon=False)
    locks(scene, 320.2)
    scene.dies(9000, "gpu-002", 9600)
    scene.decided(
        "gpu-002",
        "cordoned",
        "os-upgrade",
        controller("kured"),
        boots=(1, 1),
        back=True,
    )
    return crashed(scene)


@incident
def a_lock_goes_from_one_node_to_the_next() -> Scene:
    scene = Scene()
    kured(scene)
    locks(scene, 20, "gpu-001")
    scene.node(20.1, "gpu-001", "kured", cordon=True)
    scene.silent(40, "gpu-001").boots(80, "gpu-001", kernelVersion=NEW)
    scene.node(130, "gpu-001", "kured", cordon=False)
    locks(scene, 131, "gpu-002")
    scene.node(131.1, "gpu-002", "kured", cordon=True)
    scene.silent(150, "gpu-002").boots(190, "gpu-002", kernelVersion=NEW)
    scene.node(240, "gpu-002", "kured", cordon=False)
    locks(scene, 240.2)
    for node in ("gpu-001", "gpu-002"):
        scene.rebooted(node, "os-upgrade", controller("kured"))
    return scene


@incident
def kured_tells_of_itself_in_the_node() -> Scene:
    scene = Scene()
    going = "weave.works/kured-reboot-in-progress"
    need = {"weave.works/kured-most-recent-reboot-needed": "2026-03-01T10:00"}
    scene.node(20, "gpu-002", "kured", notes={**need, going: "2026-03-01"})
    scene.node(20.3, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    scene.node(140, "gpu-002", "kured", cordon=False, notes={going: None})
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def a_reboot_was_needed_for_days_and_it_crashed() -> Scene:
    scene = Scene()
    need = {"weave.works/kured-most-recent-reboot-needed": "2026-02-27T10:00"}
    scene.node(-1500, "gpu-002", "kured", notes=need)
    scene.dies(60, "gpu-002", 600)
    return crashed(scene)


@incident
def a_maintenance_in_days_and_an_upgrade_today() -> Scene:
    scene = Scene()
    kured(scene)
    soon = {f"{LABEL}/scheduled-maintenance-time": "1772640000"}
    scene.node(10, "gpu-002", "gcp-controller-manager", labels=soon)
    locks(scene, 20, "gpu-002")
    scene.node(20.1, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    scene.node(130, "gpu-002", "kured", cordon=False)
    locks(scene, 130.2)
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def somebody_drives_work_away_by_a_taint() -> Scene:
    scene = web(Scene(audit=True))
    taint = {"maintenance:NoExecute": "true"}
    body = {"spec": {"taints": [{"key": "maintenance"}]}}
    scene.asked(20, ALICE, "patch", "gpu-002", body)
    scene.node(20.02, "gpu-002", "kubectl-taint", taints={**taint})
    scene.tainted_away(21, "web-0")
    scene.fails(24, "web-0", 143).gone(24.2, "web-0")
    scene.silent(300, "gpu-002").stale(347, "gpu-002").boots(700, "gpu-002")
    scene.asked(800, ALICE, "patch", "gpu-002", {"spec": {"taints": []}})
    none = {"maintenance:NoExecute": None}
    scene.node(800.02, "gpu-002", "kubectl-taint", taints={**none})
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        user(ALICE),
        accept={"mode": ["unknown"], **or_decision(None, "admin-request")},
    )


@incident
def a_detector_starts_anew_while_the_kernel_hangs() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(200, "gpu-002", NPD, conditions=SOUND)
    scene.dies(230, "gpu-002", 900)
    # What is said to be over ends what it began, as the contract has it;
    # that it ended by a restart of the detector is on record nowhere.
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="hung-kernel",
        accept={"happened": [None], "mode": ["unknown"]},
    )
    return scene.unexplained(
        "gpu-002", most="possible", accept=or_fault("hung-kernel")
    )


@incident
def a_machine_is_sent_to_triage_and_replaced() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    reason = {f"{CW}/cordonReason": "KernelDeadlock,NLCCPendingExitProduction"}
    scene.node(30, "gpu-002", NLCC, cordon=True, notes=reason)
    sent = {"PendingPhaseState": ("True", "production-triage", "triage")}
    scene.node(31, "gpu-002", NLCC, conditions=sent)
    scene.evicts(40, "web-0")
    scene.node(300, "gpu-002", NLCC, labels={f"{CW}/state": "triage"})
    scene.silent(310, "gpu-002").stale(357, "gpu-002").leaves(400, "gpu-002")
    scene.joins(5000, "gpu-002", machine="b", boot=9)
    scene.joined(5001, "gpu-002").heals(5011, "gpu-002")
    return scene.decided(
        "gpu-002",
        "replaced",
        "auto-remediation",
        controller(NLCC),
        fault="hung-kernel",
        boots=(1, 9),
        back=True,
    )


@incident
def an_idle_node_is_verified() -> Scene:
    scene = Scene()
    key = f"{CW}/reserved:NoExecute"
    scene.node(20, "gpu-002", NLCC, taints={key: "verification"})
    scene.node(1220, "gpu-002", NLCC, taints={key: None})
    return scene.asks(0, 1500, node="gpu-001")


@incident
def a_maintenance_of_medik8s_reboots() -> Scene:
    scene = web(Scene())
    name = "nodemaintenance-gpu-002"
    kind = "nodemaintenance.medik8s.io/v1beta1/nodemaintenances"
    by = "node-maintenance-operator"
    scene.makes(
        20,
        kind,
        "NodeMaintenance",
        name,
        by="kubectl-create",
        spec={"nodeName": "gpu-002", "reason": "BIOS"},
    )
    taint = "medik8s.io/drain:NoSchedule"
    scene.node(21, "gpu-002", by, cordon=True, taints={taint: ""})
    scene.evicts(22, "web-0")
    scene.silent(600, "gpu-002").stale(647, "gpu-002").boots(1500, "gpu-002")
    scene.removes(1600, kind, name)
    scene.node(1601, "gpu-002", by, cordon=False, taints={taint: None})
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="host-maintenance",
        boots=(1, 2),
        back=True,
        accept=or_decision("admin-request"),
    )


@incident
def a_pool_is_cordoned_and_then_scaled_away() -> Scene:
    scene = web(Scene(audit=True))
    scene.asked(20, ALICE, "patch", "gpu-002", OFF)
    scene.node(20.02, "gpu-002", "kubectl", cordon=True)
    scene.evicts(22, "web-0")
    by = "cluster-autoscaler"
    taint = {"ToBeDeletedByClusterAutoscaler:NoSchedule": "1772360000"}
    scene.node(700, "gpu-002", by, taints={**taint})
    text = "marked the node as toBeDeleted/unschedulable"
    scene.says(700.1, by, "ScaleDown", text, node="gpu-002")
    scene.leaves(800, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller(by),
        back=False,
        accept=or_decision("manual-drain"),
    )


@incident
def it_gets_too_hot_and_cools_down() -> Scene:
    scene = Scene()
    kind: Any = "GpuThermalWatch"
    text = "ErrorCode:DCGM_FR_THERMAL GPU:2 Recommended Action=NONE;"
    scene.says(
        20,
        "gpu-health-monitor",
        f"{kind}IsNotHealthy",
        text,
        about={"kind": "Node", "name": "gpu-002", "uid": "gpu-002"},
        type=kind,
    )
    scene.asks(0, 300, node="gpu-001")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="thermal-fault",
        accept={"happened": [None], "mode": ["unknown"]},
    )
