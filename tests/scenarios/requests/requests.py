"""A person requests a reboot, or something remediates."""

from typing import Any

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    controller,
    or_decision,
    user,
)

NLCC = "node-lifecycle-controller"
NPD = "node-problem-detector"
CW = "node.coreweave.cloud"
LOCKUP = "watchdog: BUG: soft lockup - CPU#63 stuck for 25s! [kswapd0:428]"
DEADLOCK = {"KernelDeadlock": ("True", "CPUSoftLockup", LOCKUP)}
SOUND = {"KernelDeadlock": ("False", "KernelHasNoDeadlock", "no deadlock")}
ASKED = {
    "PendingPhaseState": (
        "True",
        "production-powerreset",
        "Iris uv cache recovery threshold exceeded",
    )
}
REBOOT = {"PendingPhaseState": ("True", "production-reboot", "5 tenant pods")}
OBEYED = {"NLCCImmediateReboot": ("True", "NLCCRedfishReboot", "redfish")}
STATE = "dgxc.nvidia.com/nvsentinel-state"


def xid(code: int, action: str = "RESTART_BM") -> Any:
    message = (
        f"ErrorCode:{code} PCI:0000:b3:00.0 GPU_UUID:GPU-6f1d8a2e kernel: "
        f"NVRM: Xid (PCI:0000:b3:00.0): {code} Recommended Action={action};"
    )
    return ("True", "SysLogsXIDErrorIsNotHealthy", message)


def _nlcc_obeys(scene: Scene, at: float, node: str, back: float) -> Scene:
    """From the cordon to production, as a customer's record has it."""
    reason = {f"{CW}/cordonReason": "NLCCPendingExitProduction"}
    scene.node(at, node, NLCC, cordon=True, notes=reason)
    scene.node(
        at + 60,
        node,
        NLCC,
        conditions={**OBEYED, "PendingPhaseState": None},
        labels={f"{CW}/state": "production-reboot"},
    )
    scene.dies(at + 65, node, back)
    scene.node(back + 12, node, NLCC, taints={f"{CW}/reserved:NoExecute": ""})
    scene.node(
        back + 900,
        node,
        NLCC,
        cordon=False,
        conditions={"NLCCImmediateReboot": None},
        notes={f"{CW}/cordonReason": None},
        labels={f"{CW}/state": "production"},
    )
    taints: dict[str, str | None] = {f"{CW}/reserved:NoExecute": None}
    return scene.node(back + 901, node, NLCC, taints=taints)


@incident
def a_person_asks_by_a_condition_and_audit_saw_it() -> Scene:
    scene = Scene(audit=True)
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    scene.asked(
        30,
        "alice@example.com",
        "patch",
        "gpu-002",
        body,
        sub="status",
        agent="python-requests/2.32",
    )
    scene.node(30.02, "gpu-002", "python-requests", conditions=ASKED)
    scene.node(
        30.1,
        "gpu-002",
        "python-requests",
        labels={f"{CW}/pending-state": "production-powerreset"},
    )
    _nlcc_obeys(scene, 40, "gpu-002", 500)
    return scene.rebooted(
        "gpu-002", "admin-request", user("alice@example.com")
    )


@incident
def a_tool_asks_by_a_condition_and_nobody_saw_who() -> Scene:
    scene = Scene()
    scene.node(30, "gpu-002", "OpenAPI-Generator", conditions=ASKED)
    _nlcc_obeys(scene, 40, "gpu-002", 500)
    return scene.rebooted("gpu-002", "admin-request", SOMEONE, most="likely")


@incident
def a_proxy_acts_for_bob() -> Scene:
    scene = Scene(audit=True)
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    scene.asked(
        30,
        "system:serviceaccount:console:proxy",
        "patch",
        "gpu-002",
        body,
        sub="status",
        acting_as="bob@example.com",
    )
    scene.node(30.02, "gpu-002", "Mozilla", conditions=ASKED)
    _nlcc_obeys(scene, 40, "gpu-002", 500)
    return scene.rebooted(
        "gpu-002", "admin-request", user("bob@example.com"), boots=None
    )


@incident
def a_deadlock_is_remediated_while_ready_stays_true() -> Scene:
    scene = Scene()
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    reason = {f"{CW}/cordonReason": "KernelDeadlock,NLCCPendingExitProduction"}
    scene.node(30, "gpu-002", NLCC, cordon=True, notes=reason)
    scene.node(31, "gpu-002", NLCC, conditions=REBOOT)
    scene.node(700, "gpu-002", NLCC, conditions=OBEYED)
    scene.dies(705, "gpu-002", 1300)
    scene.node(1305, "gpu-002", NPD, conditions=SOUND)
    scene.node(1312, "gpu-002", NLCC, taints={f"{CW}/reserved:NoExecute": ""})
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller(NLCC),
        fault="hung-kernel",
        back=False,
    )


@incident
def a_controller_asks_and_nobody_says_what_broke() -> Scene:
    scene = Scene()
    scene.node(30, "gpu-002", NLCC, conditions=REBOOT)
    _nlcc_obeys(scene, 40, "gpu-002", 500)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller(NLCC),
        boots=None,
        back=None,
        most="possible",
        accept={
            "mode": ["unknown"],
            "cause": ["admin-request"],
            "decision": ["admin-request"],
        },
    )


@incident
def an_old_fault_was_cleared_before_a_person_asked() -> Scene:
    scene = Scene(audit=True)
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(620, "gpu-002", NPD, conditions=SOUND)
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    scene.asked(
        7800, "alice@example.com", "patch", "gpu-002", body, sub="status"
    )
    scene.node(7800.02, "gpu-002", "kubectl-edit", conditions=ASKED)
    _nlcc_obeys(scene, 7810, "gpu-002", 8300)
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="hung-kernel",
        accept={"mode": ["unknown"]},
    )
    return scene.rebooted(
        "gpu-002", "admin-request", user("alice@example.com"), back=None
    )


@incident
def an_admin_announces_maintenance_by_the_condition_of_kubernetes() -> Scene:
    scene = Scene()
    maintenance = {
        "MaintenanceInProgress": ("True", "Firmware", "BIOS update")
    }
    scene.node(30, "gpu-002", "kubectl-edit", conditions=maintenance)
    scene.node(40, "gpu-002", "kubectl-cordon", cordon=True)
    scene.dies(300, "gpu-002", 900)
    scene.node(
        960,
        "gpu-002",
        "kubectl-edit",
        conditions={"MaintenanceInProgress": None},
    )
    scene.node(961, "gpu-002", "kubectl", cordon=False)
    return scene.rebooted(
        "gpu-002",
        "admin-request",
        SOMEONE,
        boots=None,
        back=None,
        most="likely",
        accept=or_decision("host-maintenance"),
    )
