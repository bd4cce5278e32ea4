"""Operators reboot, drain and replace, each with marks of its own."""

import json
from typing import Any

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    PROVIDER,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.upgrades.boots import KURED, NEW

SRIOV = "sriovnetwork.openshift.io"
MIG = "nvidia.com/mig.config"
MCM = "machine-controller-manager"
CAST = "autoscaling.cast.ai/draining"
MACHINES = "cluster.x-k8s.io/v1beta2/machines"


def web(scene: Scene, node: str = "gpu-002") -> Scene:
    """Let a Pod that asks for no GPU be lost with a node."""
    scene.runs(-5, "web-0", node, gpus=0)
    return scene.hit_pod("web-0", node, by="drain", accept=OR_FAILED)


@incident
def the_network_of_a_node_wants_a_reboot() -> Scene:
    scene = web(Scene())
    state, current = f"{SRIOV}/state", f"{SRIOV}/current-state"
    daemon, by = "sriov-network-config-daemon", "sriov-network-operator"
    idle = {state: "Idle", current: "Idle"}
    scene.node(-900, "gpu-002", daemon, notes=idle)
    scene.node(20, "gpu-002", daemon, notes={state: "Reboot_Required"})
    scene.node(21, "gpu-002", by, notes={current: "Draining"})
    scene.node(21.2, "gpu-002", by, cordon=True).evicts(22, "web-0")
    scene.node(40, "gpu-002", by, notes={current: "DrainComplete"})
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(400, "gpu-002")
    scene.node(430, "gpu-002", daemon, notes={state: "Idle"})
    scene.node(431, "gpu-002", by, notes={current: "Idle"}, cordon=False)
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        most="possible",
        boots=(1, 2),
        back=True,
        accept={
            "mode": ["unknown"],
            **or_decision("os-upgrade", "driver-upgrade", "admin-request"),
        },
    )


@incident
def a_mode_of_gpus_is_changed_by_a_reboot() -> Scene:
    scene = Scene(audit=True)
    wanted = {MIG: "all-1g.10gb"}
    body = {"metadata": {"labels": wanted}}
    scene.asked(20, "alice@example.com", "patch", "gpu-002", body)
    scene.node(20.02, "gpu-002", "kubectl-label", labels=wanted)
    state = f"{MIG}.state"
    for at, value in ((24, "pending"), (60, "rebooting")):
        scene.node(at, "gpu-002", "kubectl-label", labels={state: value})
    scene.silent(70, "gpu-002").stale(117, "gpu-002").boots(500, "gpu-002")
    scene.node(540, "gpu-002", "kubectl-label", labels={state: "success"})
    return scene.rebooted(
        "gpu-002",
        "admin-request",
        (["user", "controller"], None),
        accept={
            "mode": ["unknown"],
            **or_decision(None, "driver-upgrade", "os-upgrade"),
        },
    )


@incident
def amd_remediates_a_gpu_by_a_workflow() -> Scene:
    scene = web(Scene())
    kind = "AMDGPUUnhealthy"
    text = "AFID 30: GPU 3 has an uncorrectable error"
    taint = "amd-gpu-unhealthy:NoSchedule"
    well = {kind: ("False", "AMDGPUIsUp", "AMDGPU is up")}
    scene.node(-900, "gpu-002", NPD, conditions=well)
    broken = {kind: ("True", "AMDGPUIsDown", text)}
    scene.node(20, "gpu-002", NPD, conditions=broken)
    scene.node(50, "gpu-002", "kubectl-taint", taints={taint: kind})
    scene.evicts(55, "web-0")
    scene.says(
        80,
        "gpu-002-default-template-x7k2p",
        kind,
        "Remediation workflow reboots the node",
        node="gpu-002",
        type="Warning",
        reportingComponent="amd-gpu-node-remediation-workflow",
    )
    scene.silent(90, "gpu-002").stale(137, "gpu-002").boots(700, "gpu-002")
    scene.node(760, "gpu-002", NPD, conditions=well)
    scene.node(900, "gpu-002", "kubectl-taint", taints={taint: None})
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        fault="gpu-fault",
        decision="auto-remediation",
        boots=(1, 2),
        back=True,
        accept={
            "mode": ["unknown"],
            **or_fault("other-fault"),
            "decision": [None],
        },
    )


def _terminates(scene: Scene, at: float, why: str, text: str) -> None:
    """Let Gardener take a machine away."""
    marked = {"Terminating": ("True", why, text)}
    scene.node(at, "gpu-002", MCM, conditions=marked)
    scene.node(at + 1, "gpu-002", MCM, cordon=True)


@incident
def gardener_replaces_a_machine_that_failed() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    says = "Machine Controller is terminating failed machine"
    _terminates(scene, 670, "Unhealthy", says)
    scene.leaves(760, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller(),
        back=False,
        accept={
            "mode": ["unknown"],
            "fault": ["network-partition"],
            "decision": ["node-deletion"],
            "cause": ["node-deletion", "network-partition"],
        },
    )


@incident
def gardener_scales_down() -> Scene:
    scene = web(Scene())
    says = "Machine Controller is scaling down machine"
    _terminates(scene, 20, "ScaleDown", says)
    scene.evicts(22, "web-0").leaves(120, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller(),
        back=False,
        accept={"mode": ["unknown"], **or_decision("node-deletion")},
    )


@incident
def openshift_is_told_that_an_instance_will_be_taken() -> Scene:
    scene = web(Scene())
    text = "The cloud provider has marked this instance for termination"
    marked = {"Terminating": ("True", "TerminationRequested", text)}
    scene.node(20, "gpu-002", "termination-handler", conditions=marked)
    by = "machine-controller-manager"
    scene.node(25, "gpu-002", by, cordon=True).evicts(26, "web-0")
    scene.silent(130, "gpu-002").leaves(150, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "preemption",
        PROVIDER,
        back=False,
        accept=or_decision("host-maintenance"),
    )


@incident
def cast_ai_drains_for_an_interruption() -> Scene:
    scene = web(Scene())
    by = "castai-spot-handler"
    scene.node(
        20,
        "gpu-002",
        by,
        cordon=True,
        labels={CAST: "spot-interruption"},
        taints={f"{CAST}:NoSchedule": "true"},
    )
    scene.evicts(24, "web-0").silent(140, "gpu-002").stale(187, "gpu-002")
    vanishes(scene, 195, "gpu-002")
    return scene.decided(
        "gpu-002", "removed", "preemption", PROVIDER, back=False
    )


@incident
def cast_ai_rebalances() -> Scene:
    scene = web(Scene())
    by = "castai-cluster-controller"
    drains = {CAST: "rebalancing"}
    scene.node(20, "gpu-002", by, cordon=True, labels=drains)
    scene.evicts(24, "web-0").leaves(90, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller(),
        back=False,
        accept=or_decision("node-deletion"),
    )


@incident
def cluster_api_rolls_out_a_template() -> Scene:
    scene = web(Scene())
    scene.makes(
        -100,
        MACHINES,
        "Machine",
        "md-0-abc",
        by="manager",
        space="fleet",
        status={"nodeRef": {"name": "gpu-002"}, "conditions": []},
    )
    old = {"node.cluster.x-k8s.io/outdated-revision:PreferNoSchedule": ""}
    scene.node(10, "gpu-002", "manager", taints={**old})
    scene.joins(60, "gpu-010").joined(61, "gpu-010").heals(71, "gpu-010")

    def deletes(made: dict[str, Any]) -> None:
        made["metadata"]["deletionTimestamp"] = clock(90)
        why = {"type": "Deleting", "status": "True", "reason": "DrainingNode"}
        made["status"]["conditions"] = [why]

    scene.alters(
        90, MACHINES, "md-0-abc", deletes, by="manager", space="fleet"
    )
    scene.node(90.4, "gpu-002", "manager", cordon=True).evicts(91, "web-0")
    scene.leaves(150, "gpu-002")
    scene.removes(151, MACHINES, "md-0-abc", space="fleet")
    scene.expect("gpu-010", "joined", "unknown", accept={"happened": [None]})
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        (["controller", "unknown"], None),
        back=False,
        accept={
            "mode": ["unknown"],
            **or_decision("os-upgrade", "scale-down"),
        },
    )


@incident
def kured_has_a_lock_of_another_name() -> Scene:
    scene = Scene()
    name, place = "ops.example.com/reboot-lock", "reboots"
    scene.makes(
        -900,
        KURED,
        "DaemonSet",
        "kured",
        by="helm",
        space=place,
        metadata={"annotations": {}},
    )

    def lock(node: str | None) -> Any:
        def change(made: dict[str, Any]) -> None:
            notes = made["metadata"]["annotations"]
            notes.pop(name, None)
            if node is not None:
                held = {"nodeID": node, "metadata": {"unschedulable": False}}
                notes[name] = json.dumps({**held, "created": clock(20)})

        return change

    held = lock("gpu-002")
    scene.alters(20, KURED, "kured", held, by="kured", space=place)
    scene.node(20.1, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    scene.node(140, "gpu-002", "kured", cordon=False)
    scene.alters(140.2, KURED, "kured", lock(None), by="kured", space=place)
    return scene.rebooted("gpu-002", "os-upgrade", controller("kured"))
