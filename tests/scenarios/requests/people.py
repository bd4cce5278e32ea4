"""Cordons, drains, upgrades of drivers, and Nodes that are deleted."""

from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    controller,
    or_decision,
    user,
)

STATE = "nvidia.com/gpu-driver-upgrade-state"
STEPS = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
)
OFF = {"spec": {"unschedulable": True}}
ON = {"spec": {"unschedulable": None}}


def cordons(scene: Scene, at: float, who: str, *, on: bool = True) -> None:
    """Let a person cordon a node, or uncordon it, and audit see it."""
    scene.asked(at, who, "patch", "gpu-002", OFF if on else ON)
    scene.node(at + 0.02, "gpu-002", "kubectl", cordon=on)


def asks_eviction(scene: Scene, at: float, who: str, pod: str) -> None:
    """Let audit see a person request the eviction of a Pod."""
    scene.asked(
        at,
        who,
        "create",
        pod,
        {},
        resource="pods",
        space="train",
        sub="eviction",
    )


@incident
def somebody_drains_and_uncordons() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.node(20, "gpu-002", "kubectl", cordon=True).evicts(20.5, "web-0")
    scene.kubelet(28, "gpu-002", "NodeNotSchedulable", "NodeNotSchedulable")
    scene.node(600, "gpu-002", "kubectl", cordon=False)
    scene.hit_pod("web-0", "gpu-002", by="drain")
    return scene.decided(
        "gpu-002", "drained", "manual-drain", SOMEONE, boots=(1, 1), back=True
    )


@incident
def audit_saw_who_drained() -> Scene:
    scene = Scene(audit=True).runs(-5, "web-0", "gpu-002", gpus=0)
    cordons(scene, 20, "dave@example.com")
    asks_eviction(scene, 20.5, "dave@example.com", "web-0")
    scene.evicts(20.6, "web-0")
    cordons(scene, 600, "erin@example.com", on=False)
    scene.hit_pod("web-0", "gpu-002", by="drain")
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        user("dave@example.com"),
        never=["erin@example.com"],
        boots=(1, 1),
        back=True,
    )


@incident
def somebody_only_cordons() -> Scene:
    scene = Scene().node(20, "gpu-002", "kubectl", cordon=True)
    return scene.decided(
        "gpu-002", "cordoned", "manual-drain", SOMEONE, back=False
    )


@incident
def a_program_cordons_and_does_not_say_why() -> Scene:
    scene = Scene().node(20, "gpu-002", "fleet-janitor", cordon=True)
    return scene.expect(
        "gpu-002", "cordoned", "unknown", most="unknown", back=False
    )


@incident
def somebody_cordons_what_is_broken() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(120, "gpu-002", "kubectl", cordon=True)
    return scene.decided(
        "gpu-002",
        "cordoned",
        "manual-drain",
        SOMEONE,
        fault="hung-kernel",
        most="likely",
    )


@incident
def a_driver_is_upgraded() -> Scene:
    scene = Scene().runs(-5, "llm-0", "gpu-002")
    by = "gpu-operator"
    scene.node(20, "gpu-002", by, labels={STATE: "upgrade-required"})
    for place, step in enumerate(STEPS):
        at = 30 + 20 * place
        scene.node(at, "gpu-002", by, labels={STATE: step})
        scene.says(
            at + 0.1,
            "nvidia-gpu-operator",
            "GPUDriverUpgrade",
            f"Successfully updated node state label to {step}",
            node="gpu-002",
        )
    scene.node(31, "gpu-002", by, cordon=True).evicts(72, "llm-0")
    scene.node(115, "gpu-002", "kubelet", gpus=0)
    scene.node(128, "gpu-002", "kubelet", gpus=8)
    scene.node(160, "gpu-002", by, cordon=False)
    scene.node(161, "gpu-002", by, labels={STATE: "upgrade-done"})
    scene.hit_pod("llm-0", "gpu-002", gpus=8, by="drain")
    return scene.decided(
        "gpu-002",
        "drained",
        "driver-upgrade",
        controller(by),
        boots=(1, 1),
        back=True,
    )


@incident
def a_driver_upgrade_of_another_manager() -> Scene:
    scene = Scene()
    for place, step in enumerate(STEPS):
        scene.node(
            30 + 20 * place,
            "gpu-002",
            "manager",
            labels={"nvidia.com/ofed-driver-upgrade-state": step},
        )
    scene.node(31, "gpu-002", "manager", cordon=True)
    scene.node(
        160,
        "gpu-002",
        "manager",
        cordon=False,
        labels={"nvidia.com/ofed-driver-upgrade-state": "upgrade-done"},
    )
    return scene.decided(
        "gpu-002",
        "cordoned",
        "driver-upgrade",
        controller(),
        boots=(1, 1),
        back=True,
    )


@incident
def somebody_deletes_a_node_and_it_joins_again() -> Scene:
    scene = Scene(audit=True)
    scene.asked(20, "frank@example.com", "delete", "gpu-002")
    scene.leaves(20.1, "gpu-002")
    scene.joins(80, "gpu-002", boot=2).joined(81.5, "gpu-002")
    scene.heals(95, "gpu-002")
    return scene.decided(
        "gpu-002",
        "rejoined",
        "node-deletion",
        user("frank@example.com"),
        boots=(1, 2),
        back=True,
    )


@incident
def another_machine_takes_the_name() -> Scene:
    scene = Scene().leaves(20.1, "gpu-002")
    scene.joins(400, "gpu-002", machine="b", boot=5).joined(401, "gpu-002")
    scene.heals(410, "gpu-002")
    return scene.decided(
        "gpu-002",
        "replaced",
        "node-deletion",
        SOMEONE,
        boots=(1, 5),
        back=True,
    )


@incident
def a_machine_is_given_another_name() -> Scene:
    scene = Scene().leaves(20.1, "gpu-002")
    scene.joins(400, "gpu-102", machine="a").joined(401, "gpu-102")
    scene.heals(410, "gpu-102")
    scene.decided("gpu-002", "removed", "node-deletion", SOMEONE, back=False)
    return scene.expect("gpu-102", "joined", "unknown")


@incident
def a_node_that_was_silent_for_long_is_deleted() -> Scene:
    scene = Scene().dies(20, "gpu-002").leaves(4000, "gpu-002")
    return scene.expect(
        "gpu-002",
        "removed",
        "unknown",
        decision="node-deletion",
        actor=SOMEONE,
        back=False,
    )


@incident
def node_maintenance_is_asked_for_by_an_object() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.makes(
        20,
        "nodemaintenance.medik8s.io/v1beta1/nodemaintenances",
        "NodeMaintenance",
        "maintenance-gpu-002",
        by="kubectl-create",
        spec={"nodeName": "gpu-002", "reason": "replace a fan"},
    )
    scene.node(
        21,
        "gpu-002",
        "manager",
        cordon=True,
        taints={"medik8s.io/drain:NoSchedule": ""},
    )
    scene.evicts(22, "web-0")
    scene.hit_pod("web-0", "gpu-002", by="drain")
    return scene.decided(
        "gpu-002",
        "drained",
        "host-maintenance",
        controller("node-maintenance-operator"),
        back=False,
        accept=or_decision("admin-request"),
    )


@incident
def a_hero_takes_the_node_for_itself() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.node(
        20,
        "gpu-002",
        "hero-controller",
        notes={"hero.coreweave.com/drain-owner": "hero"},
        taints={"hero.coreweave.com/taint:NoSchedule": "hero"},
    )
    scene.evicts(21, "web-0")
    scene.node(
        200,
        "gpu-002",
        "hero-controller",
        notes={"hero.coreweave.com/drain-owner": None},
        taints={"hero.coreweave.com/taint:NoSchedule": None},
    )
    return scene.hit_pod(
        "web-0", "gpu-002", by="eviction", accept={"hit_by": ["drain"]}
    )


@incident
def sunk_drains_for_slurm() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        "sunk-node-controller",
        cordon=True,
        notes={"sunk.coreweave.com/drain": "k8s: cordon: x"},
    )
    scene.node(
        21,
        "gpu-002",
        "sunk-node-controller",
        conditions={"SlurmDrain": ("True", "drain", "k8s: cordon: x")},
    )
    return scene.expect(
        "gpu-002",
        "cordoned",
        "unknown",
        most="likely",
        back=False,
        accept={
            "mode": ["planned"],
            **or_decision("manual-drain", "auto-remediation", "admin-request"),
        },
    )
