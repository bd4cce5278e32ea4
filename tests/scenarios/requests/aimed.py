"""One node is acted upon, and another falls; or several at one time."""

from typing import Any

from tests.scenarios.remediation.remediation import (
    quarantines,
    releases,
    remediates,
)
from tests.scenarios.remediation.strangers import somehow_planned
from tests.scenarios.remediation.trials import CONNECTORS, LOST, WELL, orders
from tests.scenarios.requests.beside import MACHINES, maintains
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    controller,
    or_decision,
    or_fault,
    or_lost_contact,
)
from tests.scenarios.upgrades.boots import NEW, RACKS
from tests.scenarios.upgrades.operators import web
from tests.scenarios.upgrades.upgrades import stops
from tests.scenarios.workloads.work import FOUR

DAEMON = "machineconfigdaemon"


@incident
def a_health_check_remediates_the_neighbour_of_what_crashed() -> Scene:
    scene = Scene()
    for node in ("gpu-002", "gpu-003"):
        status: dict[str, Any] = {
            "nodeRef": {"name": node},
            "conditions": [],
        }
        more: Any = {"space": "fleet", "status": status}
        name = f"md-0-{node}"
        scene.makes(-900, MACHINES, "Machine", name, by="manager", **more)
    scene.silent(20, "gpu-003").stale(67, "gpu-003")
    scene.unreachable(72, "gpu-003")

    def unhealthy(machine: dict[str, Any]) -> None:
        machine["status"]["conditions"] = [
            {
                "type": "HealthCheckSucceeded",
                "status": "False",
                "reason": "UnhealthyNode",
            },
            {
                "type": "OwnerRemediated",
                "status": "False",
                "reason": "WaitingForRemediation",
            },
        ]

    more = {"by": "manager", "space": "fleet", "sub": "status"}
    scene.alters(370, MACHINES, "md-0-gpu-003", unhealthy, **more)
    scene.dies(380, "gpu-002", 700)
    scene.leaves(480, "gpu-003")
    scene.removes(481, MACHINES, "md-0-gpu-003", space="fleet")
    scene.decided(
        "gpu-003",
        "removed",
        "auto-remediation",
        controller(),
        back=False,
        accept=or_lost_contact({"mode": ["unknown"]}),
    )
    return scene.unexplained("gpu-002", back=None)


@incident
def a_machine_config_reboots_one_and_another_crashes() -> Scene:
    scene = Scene()
    by = "machine-config-controller"
    scene.says(
        20, DAEMON, "Cordon", "Cordoned node to apply update", node="gpu-003"
    )
    scene.node(20.1, "gpu-003", by, cordon=True)
    says = "Node will reboot into config rendered-worker-2"
    scene.says(60, DAEMON, "Reboot", says, node="gpu-003")
    scene.silent(62, "gpu-003").silent(64, "gpu-002")
    scene.stale(109, "gpu-003").stale(111, "gpu-002")
    scene.boots(300, "gpu-003", osImage="RHCOS 9.6.20260801")
    scene.boots(330, "gpu-002")
    says = "Setting node gpu-003, currentConfig rendered-worker-2 to Done"
    scene.says(330, DAEMON, "NodeDone", says, node="gpu-003")
    scene.node(331, "gpu-003", by, cordon=False)
    scene.rebooted(
        "gpu-003", "os-upgrade", controller("machine-config-daemon")
    )
    return scene.unexplained("gpu-002")


@incident
def maintenance_is_asked_for_another_node() -> Scene:
    scene = Scene()
    maintains(scene, 20, "gpu-003", 900)
    scene.dies(200, "gpu-002", 500)
    scene.decided(
        "gpu-003",
        "cordoned",
        "host-maintenance",
        controller("node-maintenance-operator"),
        boots=(1, 1),
        back=True,
    )
    return scene.unexplained("gpu-002", back=None)


@incident
def two_of_a_rack_are_remediated_at_once() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    for place, node in enumerate(FOUR[2:]):
        scene.node(20 + place, node, CONNECTORS, conditions=LOST)
        scene.node(22 + place, node, "kubelet", gpus=7)
        quarantines(scene, 24 + place, node)
        remediates(scene, 40 + place, node)
        name = f"maintenance-{node}-68f0{place}"
        spec = {"nodeName": node, "force": False}
        scene.makes(
            41 + place,
            "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
            "RebootNode",
            name,
            by="fault-remediation",
            spec=spec,
        )
        scene.silent(60 + place, node).stale(107 + place, node)
        scene.boots(500 + 20 * place, node)
        scene.node(560 + place, node, CONNECTORS, conditions=WELL)
        releases(scene, 580 + place, node)
        scene.rebooted(
            node,
            "auto-remediation",
            controller("NVSentinel"),
            fault="gpu-fault",
        )
    return scene


@incident
def a_rack_is_flashed_by_a_program_at_once() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    by = "firmware-rollout"
    for place, node in enumerate(FOUR[2:]):
        note = {"firmware.example.com/target": "BIOS 2.9.1"}
        scene.node(20 + place / 4, node, by, cordon=True, notes=note)
        scene.silent(100 + place, node).stale(147 + place, node)
        scene.boots(900 + 30 * place, node)
        scene.node(1000 + place, node, by, cordon=False)
        scene.expect(
            node,
            "reboot",
            "planned",
            most="possible",
            boots=(1, 2),
            back=True,
            accept={
                "mode": ["unknown"],
                **or_fault("power-loss"),
                **or_decision("manual-drain", "os-upgrade"),
                "cause": ["power-loss", "manual-drain", "os-upgrade"],
            },
        )
    return scene


@incident
def one_of_a_rack_is_shut_down_while_another_crashes() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    stops(scene, 15, "gpu-003")
    scene.silent(20, "gpu-003").silent(24, "gpu-004")
    scene.stale(67, "gpu-003").stale(71, "gpu-004")
    scene.boots(200, "gpu-003").boots(300, "gpu-004")
    scene.expect(
        "gpu-003",
        "reboot",
        "planned",
        most="likely",
        boots=(1, 2),
        back=True,
    )
    return scene.unexplained(
        "gpu-004", most="possible", accept=or_fault("power-loss")
    )


@incident
def systems_upgrade_themselves_one_after_another() -> Scene:
    scene = Scene()
    for place, node in enumerate(scene.names):
        at = 20 + 400 * place
        scene.silent(at, node).boots(at + 45, node, kernelVersion=NEW)
        scene.expect(
            node,
            "reboot",
            "abrupt",
            most="possible",
            boots=(1, 2),
            back=True,
            accept={"mode": ["unknown"], **or_decision("os-upgrade")},
        )
    return scene


@incident
def a_system_upgrades_itself_in_order() -> Scene:
    scene = Scene()
    stops(scene, 20, "gpu-002")
    scene.silent(24, "gpu-002").stale(71, "gpu-002")
    scene.boots(120, "gpu-002", kernelVersion=NEW)
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        most="likely",
        boots=(1, 2),
        back=True,
        accept=or_decision("os-upgrade"),
    )


@incident
def a_daemon_flashes_a_disk_and_reboots() -> Scene:
    scene = web(Scene())
    note = "luks.example.com/rotating"
    by = "key-rotator"
    scene.node(20, "gpu-002", by, cordon=True, notes={note: "slot 2"})
    scene.evicts(21, "web-0")
    stops(scene, 60, "gpu-002")
    scene.silent(64, "gpu-002").stale(111, "gpu-002").boots(240, "gpu-002")
    scene.node(260, "gpu-002", by, cordon=False, notes={note: None})
    return somehow_planned(scene)


@incident
def one_order_of_nvsentinel_names_another_node() -> Scene:
    scene = Scene()
    orders(scene, 20, "maintenance-gpu-002-68f01")
    scene.silent(40, "gpu-002").silent(44, "gpu-003")
    scene.stale(87, "gpu-002").stale(91, "gpu-003")
    scene.boots(300, "gpu-002").boots(320, "gpu-003")
    scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        most="possible",
    )
    return scene.unexplained("gpu-003")
