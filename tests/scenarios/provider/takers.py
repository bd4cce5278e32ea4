"""Machines are removed or rebuilt, each fleet in words of its own."""

from typing import Any

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import (
    CA,
    CANDIDATE,
    claim,
    disrupts,
    ends_claim,
    marks,
)
from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.parts import clock, uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    By,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.upgrades.boots import NEW, gives, kured, takes
from tests.scenarios.upgrades.operators import web

MACHINES = "machine.openshift.io/v1beta1/machines"
OCP = "openshift-machine-api"
MCM = "machine-controller-manager"
UPDATE = "node.machine.sapcloud.io"
MODULE = "kmm.node.kubernetes.io/version-module.kube-amd-gpu.mi300x"
CONFIGS = "amd.com/v1alpha1/deviceconfigs"
FLAPS = {"IBLinkFlapping": ("True", "IBLinkFlapping", "mlx5_3: 4 times")}
NLA = "node-lifecycle:NoSchedule"
PROGRAM: By = ["controller", "unknown"], None


def machine(scene: Scene) -> dict[str, str]:
    """Let OpenShift have made a machine; refer to it."""
    name = "worker-gpu-002"
    scene.makes(
        -900,
        MACHINES,
        "Machine",
        name,
        by="machine-controller-manager",
        space=OCP,
        status={"nodeRef": {"kind": "Node", "name": "gpu-002"}},
    )
    return {
        "kind": "Machine",
        "apiVersion": "machine.openshift.io/v1beta1",
        "namespace": OCP,
        "name": name,
        "uid": uid_of("Machine", OCP, name, "1"),
    }


def deletes_machine(scene: Scene, at: float, by: str, gone: float) -> None:
    """Let a machine be deleted, and its Node with it."""

    def ending(made: dict[str, Any]) -> None:
        made["metadata"]["deletionTimestamp"] = clock(at)

    name = "worker-gpu-002"
    scene.alters(at, MACHINES, name, ending, by=by, space=OCP)
    scene.node(at + 1, "gpu-002", "machine-controller-manager", cordon=True)
    scene.leaves(gone, "gpu-002")
    scene.removes(gone + 1, MACHINES, name, space=OCP)


@incident
def openshift_deletes_the_machine_of_a_silent_node() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    about = machine(scene)
    by = "machinehealthcheck-controller"
    place = f"{OCP}/workers/worker-gpu-002/gpu-002"
    says = f"Machine {place} has unhealthy node gpu-002"
    scene.says(70, by, "DetectedUnhealthy", says, about=about)
    says = (
        f"Machine {place} has been remediated by requesting to delete"
        " Machine object"
    )
    scene.says(370, by, "MachineDeleted", says, about=about)
    deletes_machine(scene, 370, "machine-healthcheck", 480)
    scene.joins(1200, "gpu-009").joined(1201, "gpu-009").heals(1212, "gpu-009")
    scene.expect("gpu-009", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller(),
        back=False,
        accept={"mode": ["unknown"], **or_fault("network-partition")},
    )


@incident
def somebody_makes_a_set_of_machines_smaller() -> Scene:
    scene = web(Scene())
    about = machine(scene)
    deletes_machine(scene, 20, "machineset-controller", 140)
    scene.evicts(22, "web-0")
    by = "machine-drain-controller"
    scene.says(30, by, "DrainSucceeded", 'Node "gpu-002" drained', about=about)
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        PROGRAM,
        back=False,
        accept={
            "mode": ["unknown"],
            **or_decision("scale-down", "manual-drain", None),
        },
    )


@incident
def kops_rolls_a_group_of_instances() -> Scene:
    scene = web(Scene())
    soon = {"kops.k8s.io/scheduled-for-update:PreferNoSchedule": ""}
    for node in scene.names:
        scene.node(20, node, "kops", taints=soon)
    scene.node(30, "gpu-002", "kops", cordon=True).evicts(31, "web-0")
    scene.silent(90, "gpu-002").leaves(95, "gpu-002")
    scene.joins(300, "gpu-009").joined(301, "gpu-009").heals(312, "gpu-009")
    scene.expect("gpu-009", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        PROGRAM,
        back=False,
        accept={
            "mode": ["unknown"],
            **or_decision("os-upgrade", "manual-drain", None),
        },
    )


@incident
def gardener_updates_a_machine_where_it_stands() -> Scene:
    scene = web(Scene())

    def reports(at: float, reason: str) -> None:
        state = {"InPlaceUpdate": ("True", reason, "in-place update")}
        scene.node(at, "gpu-002", MCM, conditions=state)

    candidate = {f"{UPDATE}/candidate-for-update": "true"}
    for node in scene.names:
        scene.node(20, node, MCM, labels=candidate)
    reports(21, "CandidateForUpdate")
    selected = {f"{UPDATE}/selected-for-update": "true"}
    scene.node(60, "gpu-002", MCM, labels=selected)
    reports(61, "SelectedForUpdate")
    scene.node(62, "gpu-002", MCM, cordon=True).evicts(63, "web-0")
    reports(80, "DrainSuccessful")
    reports(82, "ReadyForUpdate")
    scene.silent(150, "gpu-002").stale(197, "gpu-002")
    scene.boots(260, "gpu-002", osImage="Garden Linux 1877.4")
    result = {f"{UPDATE}/update-result": "successful"}
    scene.node(280, "gpu-002", "gardener-node-agent", labels=result)
    reports(281, "UpdateSuccessful")
    none = dict.fromkeys([*candidate, *selected, *result])
    scene.node(300, "gpu-002", MCM, cordon=False, labels=none)
    return scene.rebooted("gpu-002", "os-upgrade", PROGRAM)


@incident
def an_autoscaler_takes_what_has_flapped_for_hours() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", NPD, conditions=FLAPS)
    scene.node(10000, "gpu-002", CA, taints={CANDIDATE: "1772369200"})
    marks(scene, 10600, "1772369800")
    scene.evicts(10602, "web-0").leaves(10700, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller(CA),
        back=False,
        fault=None,
        accept=or_fault("link-fault"),
    )


@incident
def karpenter_consolidates_what_has_flapped_for_hours() -> Scene:
    scene = web(Scene())
    claim(scene)
    scene.node(20, "gpu-002", NPD, conditions=FLAPS)
    disrupts(scene, 10600, "Underutilized")
    scene.evicts(10604, "web-0")
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller("karpenter"),
        back=False,
        accept=or_fault("link-fault"),
    )


@incident
def a_drain_runner_marks_what_is_stuck_by_a_taint() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    for at, value in ((60, "drain-candidate"), (120, "draining")):
        scene.node(at, "gpu-002", "draino", taints={NLA: value})
    says = "Draining node"
    scene.says(121, "draino", "DrainStarting", says, node="gpu-002")
    scene.evicts(122, "web-0")
    scene.node(180, "gpu-002", "draino", taints={NLA: "drained"})
    scene.says(180, "draino", "DrainSucceeded", says, node="gpu-002")
    marks(scene, 900, "1772360100")
    scene.leaves(960, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller(),
        fault="hung-kernel",
        back=False,
        accept={"decision": ["scale-down"]},
    )


@incident
def a_driver_of_amd_is_upgraded_by_a_reboot() -> Scene:
    scene = web(Scene())
    by = "amd-gpu-operator"
    scene.makes(
        -900, CONFIGS, "DeviceConfig", "mi300x", by=by, space="kube-amd-gpu",
        status={"nodeModuleStatus": {}},
    )  # fmt: skip

    def reports(at: float, status: str) -> None:
        def change(made: dict[str, Any]) -> None:
            made["status"]["nodeModuleStatus"]["gpu-002"] = {"status": status}

        scene.alters(
            at, CONFIGS, "mi300x", change, by=by, space="kube-amd-gpu",
            sub="status",
        )  # fmt: skip

    reports(20, "Upgrade-In-Progress")
    scene.node(21, "gpu-002", by, cordon=True).evicts(22, "web-0")
    scene.node(60, "gpu-002", by, labels={MODULE: "6.4.1"})
    reports(200, "Reboot-In-Progress")
    scene.silent(230, "gpu-002").stale(277, "gpu-002").boots(600, "gpu-002")
    reports(640, "Upgrade-Complete")
    scene.node(641, "gpu-002", by, cordon=False)
    return scene.rebooted(
        "gpu-002",
        "driver-upgrade",
        PROGRAM,
        accept={"mode": ["unknown"], **or_decision(None)},
    )


@incident
def kured_reboots_what_has_flapped_for_half_an_hour() -> Scene:
    scene = Scene()
    kured(scene)
    scene.node(20, "gpu-002", NPD, conditions=FLAPS)
    takes(scene, 1500, "gpu-002")
    scene.silent(1540, "gpu-002").boots(1580, "gpu-002", kernelVersion=NEW)
    gives(scene, 1640, "gpu-002")
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("kured"),
        accept=or_fault("link-fault"),
    )


@incident
def karpenter_says_who_it_is_in_the_new_field_alone() -> Scene:
    scene = Scene()
    claim(scene)
    says = "Disrupting Node: Drifted"
    scene.says(
        20,
        "karpenter",
        "DisruptionTerminating",
        says,
        node="gpu-002",
        source={"component": "", "host": ""},
    )
    ends_claim(scene, 21, 90)
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("karpenter"),
        back=False,
    )


@incident
def an_instance_is_ended_while_kured_only_waits() -> Scene:
    scene = Scene()
    kured(scene)
    needed = {"weave.works/kured-most-recent-reboot-needed": "2026-03-01"}
    scene.node(20, "gpu-002", "kured", notes=needed)
    scene.silent(600, "gpu-002").stale(647, "gpu-002")
    vanishes(scene, 660, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        (["cloud", "controller"], None),
        never=["kured"],
        back=False,
        accept={"mode": ["unknown", "abrupt"], **or_decision(None)},
    )
