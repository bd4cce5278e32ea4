"""The recorder comes when something is already under way.

What was done before is seen in the first lists, and nowhere else.
"""

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import CA, NTH, TO_BE_DELETED
from tests.scenarios.requests.orders import quarantines, releases
from tests.scenarios.requests.people import STATE as DRIVER
from tests.scenarios.requests.requests import STATE, xid
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    PROVIDER,
    SOMEONE,
    controller,
    or_decision,
)
from tests.scenarios.upgrades.boots import NEW, gives, kured, locks, takes

MCO = "machineconfiguration.openshift.io"
XID = {"SysLogsXIDError": xid(79)}
WELL = {
    "SysLogsXIDError": (
        "False",
        "SysLogsXIDErrorIsHealthy",
        "No Health Failures",
    )
}
MOUNT = "medik8s.io/drain:NoSchedule"


@incident
def kured_holds_its_lock_when_the_log_begins() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, -60, "gpu-002")
    scene.silent(10, "gpu-002").boots(60, "gpu-002", kernelVersion=NEW)
    gives(scene, 130, "gpu-002")
    scene.asks(0, 300, node="gpu-002", verdicts=[0])
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def kured_has_rebooted_a_node_when_the_log_begins() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, -120, "gpu-002")
    scene.fell_silent(-100, "gpu-002")
    scene.boots(30, "gpu-002", kernelVersion=NEW)
    gives(scene, 100, "gpu-002")
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("kured"),
        accept={"mode": ["unknown"]},
    )


@incident
def one_of_two_locks_is_held_when_the_log_begins() -> Scene:
    scene = Scene()
    kured(scene)
    locks(scene, -60, "gpu-001", owners=2)
    scene.node(-59, "gpu-001", "kured", cordon=True)
    scene.silent(10, "gpu-001").boots(60, "gpu-001", kernelVersion=NEW)
    scene.dies(30, "gpu-003", 500)
    scene.node(130, "gpu-001", "kured", cordon=False)
    locks(scene, 130.2, owners=2)
    scene.rebooted("gpu-001", "os-upgrade", controller("kured"))
    return scene.unexplained("gpu-003")


@incident
def a_lock_was_forgotten_when_the_log_begins() -> Scene:
    # Its holder came back long ago and never gave it: it is in service.
    scene = Scene()
    kured(scene)
    locks(scene, -900, "gpu-002")
    scene.dies(60, "gpu-002", 600)
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={**or_decision("os-upgrade"), "mode": ["unknown"]},
    )


@incident
def a_machine_config_is_applied_when_the_log_begins() -> Scene:
    scene = Scene()
    daemon = "machine-config-daemon"
    notes = {f"{MCO}/state": "Working", f"{MCO}/desiredConfig": "rendered-2"}
    scene.node(-90, "gpu-002", daemon, notes=notes)
    scene.node(-80, "gpu-002", "machine-config-controller", cordon=True)
    going = {f"{MCO}/post-config-action": "Rebooting"}
    scene.node(-5, "gpu-002", daemon, notes=going)
    scene.silent(10, "gpu-002").stale(57, "gpu-002")
    scene.boots(200, "gpu-002", osImage="RHCOS 9.6.20260801")
    done = {f"{MCO}/state": "Done", f"{MCO}/post-config-action": None}
    scene.node(240, "gpu-002", daemon, notes={**done})
    scene.node(241, "gpu-002", "machine-config-controller", cordon=False)
    return scene.rebooted("gpu-002", "os-upgrade", controller(daemon))


@incident
def a_node_is_marked_for_deletion_when_the_log_begins() -> Scene:
    scene = Scene()
    scene.node(-20, "gpu-002", CA, taints={TO_BE_DELETED: "1772359180"})
    scene.leaves(80, "gpu-002")
    return scene.decided(
        "gpu-002", "removed", "scale-down", controller(CA), back=False
    )


@incident
def nvsentinel_is_at_work_when_the_log_begins() -> Scene:
    scene = Scene()
    scene.node(-400, "gpu-002", "platform-connectors", conditions=XID)
    quarantines(scene, -395)
    remediating = {STATE: "remediating"}
    scene.node(-30, "gpu-002", "fault-remediation", labels=remediating)
    scene.makes(
        -29,
        "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
        "RebootNode",
        "maintenance-gpu-002-68ae1",
        by="fault-remediation",
        spec={"nodeName": "gpu-002", "force": False},
    )
    scene.silent(10, "gpu-002").stale(57, "gpu-002").boots(400, "gpu-002")
    scene.node(420, "gpu-002", "platform-connectors", conditions=WELL)
    releases(scene, 430)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def a_spot_machine_is_being_taken_when_the_log_begins() -> Scene:
    scene = Scene()
    marks = {f"{NTH}/spot-itn:NoSchedule": ""}
    scene.node(-30, "gpu-002", NTH, cordon=True, taints={**marks})
    scene.silent(80, "gpu-002").stale(127, "gpu-002")
    vanishes(scene, 140, "gpu-002")
    return scene.decided("gpu-002", "removed", "preemption", PROVIDER)


@incident
def a_driver_is_being_upgraded_when_the_log_begins() -> Scene:
    scene = Scene()
    by = "gpu-operator"
    scene.node(-60, "gpu-002", by, labels={DRIVER: "drain-required"})
    scene.node(-59, "gpu-002", by, cordon=True)
    scene.node(20, "gpu-002", by, labels={DRIVER: "pod-restart-required"})
    scene.node(30, "gpu-002", "kubelet", gpus=0)
    scene.node(80, "gpu-002", "kubelet", gpus=8)
    scene.node(90, "gpu-002", by, labels={DRIVER: "uncordon-required"})
    scene.node(91, "gpu-002", by, cordon=False)
    scene.node(92, "gpu-002", by, labels={DRIVER: "upgrade-done"})
    # When it was cordoned, and who was evicted, was before.
    return scene.expect(
        "gpu-002",
        "drained",
        "planned",
        decision="driver-upgrade",
        accept={
            "happened": [None, "cordoned", "degraded"],
            "mode": ["unknown"],
        },
    )


@incident
def a_maintenance_is_asked_for_when_the_log_begins() -> Scene:
    scene = Scene()
    by = "node-maintenance-operator"
    kind = "nodemaintenance.medik8s.io/v1beta1/nodemaintenances"
    name = "nodemaintenance-gpu-002"
    spec = {"nodeName": "gpu-002", "reason": "BIOS"}
    scene.makes(
        -120, kind, "NodeMaintenance", name, by="kubectl-create", spec=spec
    )
    scene.node(-119, "gpu-002", by, cordon=True, taints={MOUNT: ""})
    scene.silent(40, "gpu-002").stale(87, "gpu-002").boots(900, "gpu-002")
    scene.removes(1000, kind, name)
    scene.node(1001, "gpu-002", by, cordon=False, taints={MOUNT: None})
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
def a_machine_is_gone_and_its_node_is_cleaned_up_later() -> Scene:
    # Lost before the log began, for an unknown reason.
    scene = Scene().fell_silent(-400, "gpu-002")
    scene.unreachable(-348, "gpu-002")
    vanishes(scene, 60, "gpu-002")
    return scene.expect(
        "gpu-002",
        "removed",
        "unknown",
        decision="node-deletion",
        actor=PROVIDER,
        back=False,
        accept={"mode": ["abrupt"], **or_decision(None)},
    )


@incident
def a_drained_node_is_rebooted_after_the_log_begins() -> Scene:
    scene = Scene(audit=True).node(-600, "gpu-002", "kubectl", cordon=True)
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(500, "gpu-002")
    body = {"spec": {"unschedulable": None}}
    scene.asked(900, "carol@example.com", "patch", "gpu-002", body)
    scene.node(900.02, "gpu-002", "kubectl", cordon=False)
    return scene.expect(
        "gpu-002",
        "reboot",
        "unknown",
        most="possible",
        boots=(1, 2),
        back=True,
        actor=SOMEONE,
        never=["carol@example.com"],
        accept={"mode": ["abrupt", "planned"], **or_decision("manual-drain")},
    )
