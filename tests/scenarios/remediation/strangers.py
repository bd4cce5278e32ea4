"""Unknown tools, and what looks like something else."""

from typing import Any

from tests.scenarios.remediation.remediation import quarantines, remediates
from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND, xid
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import (
    OR_FAILED,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.upgrades.boots import NEW, kured, locks
from tests.scenarios.workloads.work import JOBS, owned

TICKETS = "fleet.example.com/v1/maintenancetickets"
SETS = "apps/v1/replicasets"


def pod_of(name: str, space: str = "train") -> dict[str, str]:
    """Refer to a Pod, as an Event does."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "namespace": space,
        "name": name,
        "uid": uid_of("Pod", space, name, "1"),
    }


def somehow_planned(scene: Scene, *, most: str = "possible") -> Scene:
    """Say that a reboot was planned in a way that no rule knows."""
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        most=most,
        boots=(1, 2),
        back=True,
        accept={
            "mode": ["unknown"],
            **or_decision("manual-drain", "admin-request"),
        },
    )


@incident
def a_ticket_that_nobody_knows_reboots_a_node() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.makes(
        10,
        TICKETS,
        "MaintenanceTicket",
        "chg-10442",
        by="servicenow-bridge",
        spec={"nodeName": "gpu-002", "work": "reseat"},
        status={"phase": "Approved"},
    )
    scene.node(20, "gpu-002", "fleet-operator", cordon=True)
    scene.evicts(21, "web-0")
    scene.dies(100, "gpu-002", 900)
    scene.node(950, "gpu-002", "fleet-operator", cordon=False)
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    scene.asks(
        0, 1000, node="gpu-002", verdicts=[0], workloads=["Pod/train/web-0"]
    )
    return somehow_planned(scene)


@incident
def an_annotation_asks_for_a_reboot() -> Scene:
    scene = Scene(audit=True)
    asked = {"ops.example.com/reboot-requested": "2026-03-01T10:00:20Z"}
    body = {"metadata": {"annotations": asked}}
    scene.asked(20, "alice@example.com", "patch", "gpu-002", body)
    scene.node(20.02, "gpu-002", "kubectl-annotate", notes=asked)
    scene.asked(
        40,
        "system:serviceaccount:ops:rebootd",
        "patch",
        "gpu-002",
        {"spec": {"unschedulable": True}},
        agent="rebootd/v0.4.1",
    )
    scene.node(40.02, "gpu-002", "rebootd", cordon=True)
    scene.silent(60, "gpu-002").stale(106, "gpu-002").boots(240, "gpu-002")
    scene.node(
        260, "gpu-002", "rebootd", cordon=False, notes=dict.fromkeys(asked)
    )
    # Who takes the request back has carried it out.
    return somehow_planned(scene, most="likely")


@incident
def a_descheduler_moves_a_pod() -> Scene:
    scene = Scene().runs(
        -5,
        "web-7d9-abcde",
        "gpu-002",
        gpus=0,
        of=owner("ReplicaSet", "web-7d9", "apps/v1"),
    )
    scene.makes(
        -10, SETS, "ReplicaSet", "web-7d9", by=KCM, space="train", spec={}
    )
    scene.says(
        20,
        "sigs.k8s.io/descheduler",
        "LowNodeUtilization",
        "pod eviction from gpu-002 node by sigs.k8s.io/descheduler",
        about=pod_of("web-7d9-abcde"),
    )
    scene.evicts(20.1, "web-7d9-abcde")
    web = owner("ReplicaSet", "web-7d9", "apps/v1")
    scene.runs(21, "web-7d9-fghij", "gpu-003", gpus=0, of=web)
    scene.hit(
        "ReplicaSet",
        "web-7d9",
        "gpu-002",
        ["web-7d9-abcde"],
        size=1,
        gpus=0,
        by="eviction",
        outcome="rescheduled",
    )
    return scene.asks(
        0, 100, node="gpu-002", workloads=["ReplicaSet/train/web-7d9"]
    )


@incident
def a_device_is_tainted_and_its_pods_are_deleted() -> Scene:
    scene = Scene()
    scene.runs(-5, "llm-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.makes(
        20,
        "resource.k8s.io/v1beta2/devicetaintrules",
        "DeviceTaintRule",
        "gpu-002-gpu-3",
        by="gpu-health",
        spec={
            "deviceSelector": {
                "driver": "gpu.nvidia.com",
                "pool": "gpu-002",
                "device": "gpu-3",
            },
            "taint": {
                "key": "gpu.nvidia.com/unhealthy",
                "effect": "NoExecute",
            },
        },
    )
    scene.says(
        20.4,
        "device-taint-eviction-controller",
        "DeviceTaintManagerEviction",
        "Marking for deletion",
        about=pod_of("llm-0"),
    )
    text = "Device Taint manager: deleting due to NoExecute taint"
    scene.pod(
        20.5,
        "llm-0",
        KCM,
        disrupted=("DeletionByDeviceTaintManager", text),
        deleting=True,
    )
    scene.fails(30, "llm-0", 143).gone(30.2, "llm-0")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["llm-0"],
        size=1,
        gpus=8,
        by="eviction",
        optional=True,
        accept=OR_FAILED,
    )
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="gpu-fault",
        most="likely",
        accept={
            "happened": [None, "drained"],
            "mode": ["unknown", "planned"],
            "fault": ["other-fault", None],
            "cause": ["other-fault", "unrecorded", "auto-remediation"],
            "decision": ["auto-remediation"],
        },
    )


@incident
def a_condition_flapped_for_an_hour_before_an_upgrade() -> Scene:
    scene = Scene()
    kured(scene)
    for at in range(60, 3000, 300):
        scene.node(at, "gpu-002", NPD, conditions=DEADLOCK)
        scene.node(at + 40, "gpu-002", NPD, conditions=SOUND)
        scene.expect(
            "gpu-002",
            "degraded",
            "abrupt",
            fault="hung-kernel",
            accept={"happened": [None], "mode": ["unknown"]},
        )
    locks(scene, 20000, "gpu-002")
    scene.node(20000.1, "gpu-002", "kured", cordon=True)
    scene.silent(20030, "gpu-002").boots(20070, "gpu-002", kernelVersion=NEW)
    scene.node(20130, "gpu-002", "kured", cordon=False)
    locks(scene, 20130.2)
    scene.asks(19000, 21000, node="gpu-002", verdicts=[10])
    scene.asks(10000, 15000, node="gpu-002")
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))


@incident
def a_condition_of_an_earlier_boot_still_stands() -> Scene:
    scene = Scene()
    broken = {"XfsShutdown": ("True", "XfsHasShutdown", "XFS (md0): shutdown")}
    scene.node(20, "gpu-002", NPD, conditions=broken)
    scene.dies(60, "gpu-002", 400)
    scene.dies(30000, "gpu-002").boots(30400, "gpu-002", 3)
    scene.broke("gpu-002", "disk-fault", accept=or_fault(None))
    return scene.unexplained(
        "gpu-002",
        back=None,
        most="possible",
        boots=(2, 3),
        accept=or_fault("disk-fault"),
    )


@incident
def nvsentinel_gives_a_machine_back() -> Scene:
    scene = Scene()
    kind = "SysLogsXIDError"
    broken = {kind: xid(79, "REPLACE_VM")}
    scene.node(20, "gpu-002", "platform-connectors", conditions=broken)
    scene.node(20.5, "gpu-002", "kubelet", gpus=7)
    quarantines(scene, 22)
    remediates(scene, 40)
    scene.makes(
        41,
        "janitor.dgxc.nvidia.com/v1alpha1/terminatenodes",
        "TerminateNode",
        "maintenance-gpu-002-68c77",
        by="fault-remediation",
        spec={"nodeName": "gpu-002"},
    )
    scene.silent(60, "gpu-002").stale(107, "gpu-002")
    scene.leaves(130, "gpu-002")
    scene.joins(900, "gpu-009").joined(901, "gpu-009").heals(912, "gpu-009")
    scene.expect("gpu-009", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
        back=False,
    )


@incident
def a_program_writes_what_only_looks_like_a_fault() -> Scene:
    scene = Scene()
    good: dict[str, Any] = {
        "BackupTargetReady": ("True", "Synced", "backups are taken"),
        "LicenseExpired": ("False", "Valid", "valid until 2027"),
    }
    scene.node(-900, "gpu-002", "licensed", conditions=good)
    bad = {"BackupTargetReady": ("False", "Lagging", "one snapshot behind")}
    scene.node(20, "gpu-002", "backupd", conditions=bad)
    scene.dies(500, "gpu-002", 900)
    return scene.unexplained(
        "gpu-002", most="possible", accept=or_fault("other-fault")
    )
