"""Machines boot for an upgrade, or beside one."""

import json
from typing import Any

from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import OR_FAILED, controller

KURED = "apps/v1/daemonsets"
LOCK = "weave.works/kured-node-lock"
NEW = "6.8.0-85-generic"
RACKS = {
    "gpu-001": "rack-a",
    "gpu-002": "rack-a",
    "gpu-003": "rack-b",
    "gpu-004": "rack-b",
}


def kured(scene: Scene) -> None:
    """Let kured be there, with its lock free."""
    scene.makes(
        -900,
        KURED,
        "DaemonSet",
        "kured",
        by="helm",
        space="kube-system",
        metadata={"annotations": {}},
    )


def locks(scene: Scene, at: float, *nodes: str, owners: int = 1) -> None:
    """Let nodes hold the lock of kured."""

    def one(node: str) -> dict[str, Any]:
        return {
            "nodeID": node,
            "metadata": {"unschedulable": False},
            "created": clock(at),
            "TTL": 0,
        }

    def change(made: dict[str, Any]) -> None:
        notes = made["metadata"]["annotations"]
        held = [one(node) for node in nodes]
        if owners > 1:
            value = {"maxOwners": owners, "locks": held}
            notes[LOCK] = json.dumps(value)
        elif held:
            notes[LOCK] = json.dumps(held[0])
        else:
            notes.pop(LOCK, None)

    scene.alters(at, KURED, "kured", change, by="kured", space="kube-system")


def takes(scene: Scene, at: float, node: str) -> None:
    """Let a node take the lock of kured and be cordoned."""
    locks(scene, at, node)
    scene.node(at + 0.03, node, "kured", cordon=True)


def gives(scene: Scene, at: float, node: str) -> None:
    """Let a node be uncordoned and give the lock of kured back."""
    scene.node(at, node, "kured", cordon=False)
    locks(scene, at + 0.1)


@incident
def kured_upgrades_a_kernel() -> Scene:
    scene = Scene()
    kured(scene)
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    takes(scene, 20, "gpu-002")
    scene.evicts(20.1, "web-0")
    scene.silent(40, "gpu-002").boots(75, "gpu-002", kernelVersion=NEW)
    gives(scene, 130, "gpu-002")
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def kured_reboots_two_at_a_time_and_a_third_crashes() -> Scene:
    scene = Scene("gpu-001", "gpu-002", "gpu-003", "gpu-004")
    kured(scene)
    locks(scene, 20, "gpu-001", owners=2)
    scene.node(20.03, "gpu-001", "kured", cordon=True)
    locks(scene, 25, "gpu-001", "gpu-002", owners=2)
    scene.node(25.03, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-001").silent(45, "gpu-002")
    scene.silent(60, "gpu-003").stale(86, "gpu-001").stale(91, "gpu-002")
    scene.stale(106, "gpu-003").boots(140, "gpu-001", kernelVersion=NEW)
    scene.boots(150, "gpu-002", kernelVersion=NEW).boots(170, "gpu-003")
    scene.node(200, "gpu-001", "kured", cordon=False)
    locks(scene, 200.1, "gpu-002", owners=2)
    scene.node(220, "gpu-002", "kured", cordon=False)
    locks(scene, 220.1, owners=2)
    for node in ("gpu-001", "gpu-002"):
        scene.rebooted(node, "os-upgrade", controller("kured"))
    return scene.unexplained("gpu-003", boots=None, back=None)


@incident
def a_lock_of_two_is_given_back_before_a_crash() -> Scene:
    scene = Scene()
    kured(scene)
    locks(scene, 20, "gpu-001", "gpu-002", owners=2)
    locks(scene, 50, "gpu-001", owners=2)
    scene.dies(120, "gpu-002", 500)
    return scene.unexplained("gpu-002", boots=None, back=None)


@incident
def the_machine_config_operator_reboots() -> Scene:
    scene = Scene()
    prefix = "machineconfiguration.openshift.io"
    daemon, by = "machineconfigdaemon", "machine-config-controller"
    scene.node(
        20,
        "gpu-002",
        by,
        notes={f"{prefix}/desiredConfig": "rendered-worker-2"},
    )
    scene.node(
        21,
        "gpu-002",
        "machine-config-daemon",
        notes={
            f"{prefix}/state": "Working",
            f"{prefix}/desiredDrain": "drain-2",
        },
    )
    scene.says(
        22, daemon, "Cordon", "Cordoned node to apply update", node="gpu-002"
    )
    scene.node(22.1, "gpu-002", by, cordon=True)
    scene.says(
        23, daemon, "Drain", "Draining node to update config.", node="gpu-002"
    )
    scene.says(
        40,
        daemon,
        "OSUpdateStarted",
        "Changing kernel arguments",
        node="gpu-002",
    )
    scene.says(
        90,
        daemon,
        "Reboot",
        "Node will reboot into config rendered-worker-2",
        node="gpu-002",
    )
    scene.node(
        90.1,
        "gpu-002",
        "machine-config-daemon",
        notes={f"{prefix}/post-config-action": "Rebooting"},
    )
    scene.silent(95, "gpu-002").stale(141, "gpu-002")
    scene.boots(300, "gpu-002", osImage="RHCOS 9.6.20260801")
    scene.says(
        320,
        daemon,
        "NodeDone",
        "Setting node gpu-002, currentConfig rendered-worker-2 to Done",
        node="gpu-002",
    )
    scene.says(321, daemon, "Uncordon", "Update completed", node="gpu-002")
    scene.node(
        321.1,
        "gpu-002",
        by,
        cordon=False,
        notes={
            f"{prefix}/state": "Done",
            f"{prefix}/post-config-action": None,
        },
    )
    return scene.rebooted(
        "gpu-002", "os-upgrade", controller("machine-config-daemon")
    )


@incident
def skyhook_interrupts_for_a_package() -> Scene:
    scene = Scene()
    scene.says(
        20,
        "skyhook-controller",
        "Interrupt",
        "Interrupting node [gpu-002] package [kernel:1.2.0] from"
        " [skyhook:tuning]",
        node="gpu-002",
    )
    scene.node(
        20.1,
        "gpu-002",
        "skyhook",
        cordon=True,
        notes={"skyhook.nvidia.com/status_tuning": "in_progress"},
    )
    scene.says(
        22,
        "skyhook-controller",
        "Drain",
        "draining node [gpu-002]",
        node="gpu-002",
    )
    scene.silent(60, "gpu-002").stale(106, "gpu-002").boots(300, "gpu-002")
    scene.says(
        315,
        "skyhook-controller",
        "Reboot",
        "detected reboot, resetting node for [tuning] to be reapplied",
        node="gpu-002",
    )
    scene.node(320, "gpu-002", "skyhook", cordon=False)
    return scene.rebooted("gpu-002", "os-upgrade", controller("skyhook"))


@incident
def skyhook_only_saw_a_reboot() -> Scene:
    scene = Scene().dies(20, "gpu-002", 300)
    scene.says(
        315,
        "skyhook-controller",
        "Reboot",
        "detected reboot, resetting node for [tuning] to be reapplied",
        node="gpu-002",
    )
    return scene.unexplained("gpu-002", boots=None, back=None)
