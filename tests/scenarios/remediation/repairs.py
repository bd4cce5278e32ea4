"""Clouds, schedulers and fleets repair their nodes."""

from typing import Any

from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.parts import uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import cloud, controller, or_lost_contact

AKS = "aks-auto-repair"


def aks_begins(scene: Scene, at: float, action: str) -> None:
    """Let AKS say that it will do something to a node."""
    says = (
        f"Node auto-repair is initiating a {action} action due to NotReady"
        " status persisting for more than five minutes."
    )
    scene.says(at, AKS, f"Node{action.title()}Start", says, node="gpu-002")


def aks_ends(scene: Scene, at: float, action: str) -> None:
    """Let AKS say that it has done it."""
    done = action.title()
    says = f"{done} action from node auto-repair is completed."
    scene.says(at, AKS, f"Node{done}End", says, node="gpu-002")


@incident
def aks_repairs_what_was_not_ready() -> Scene:
    scene = Scene()
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    aks_begins(scene, 370, "reboot")
    scene.boots(480, "gpu-002")
    aks_ends(scene, 485, "reboot")
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        cloud(AKS),
        accept=or_lost_contact({"mode": ["unknown"]}),
    )


@incident
def slurm_finds_hardware_suspect_and_reboots() -> Scene:
    scene = Scene()
    scene.node(
        20,
        "gpu-002",
        "soperator",
        conditions={
            "HardwareIssuesSuspected": ("True", "[hardware_problem]", "GPU 3")
        },
    )
    scene.node(
        25,
        "gpu-002",
        "soperator",
        conditions={
            "SlurmNodeDrain": ("True", "[hardware_problem]", "draining")
        },
    )
    scene.node(
        300,
        "gpu-002",
        "soperator",
        conditions={
            "SlurmNodeReboot": ("True", "[hardware_problem]", "reboot")
        },
    )
    scene.dies(310, "gpu-002", 800)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("soperator"),
        back=None,
        fault="other-fault",
    )


@incident
def draino_drains_what_is_stuck() -> Scene:
    scene = Scene()
    scene.runs(-5, "web-0", "gpu-002")
    draino = {"kind": "Node", "name": "gpu-002", "uid": "gpu-002"}
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.says(
        25,
        "draino",
        "CordonStarting",
        "Cordoning node",
        about=draino,
        type="Warning",
    )
    scene.node(
        25.1,
        "gpu-002",
        "draino",
        cordon=True,
        notes={"draino.planet.com/conditions": "KernelDeadlock=True,0s"},
    )
    scene.says(
        26,
        "draino",
        "DrainScheduled",
        "Will drain node after 10:10",
        about=draino,
        type="Warning",
    )
    scene.says(
        600,
        "draino",
        "DrainStarting",
        "Draining node",
        about=draino,
        type="Warning",
    )
    scene.evicts(601, "web-0")
    scene.says(
        630,
        "draino",
        "DrainSucceeded",
        "Drained node",
        about=draino,
        type="Warning",
    )
    scene.hit_pod("web-0", "gpu-002", gpus=8, by="drain")
    return scene.decided(
        "gpu-002",
        "drained",
        "auto-remediation",
        controller("draino"),
        fault="hung-kernel",
        back=False,
    )


@incident
def a_machine_health_check_has_the_machine_replaced() -> Scene:
    scene = Scene()
    machines = "cluster.x-k8s.io/v1beta2/machines"
    conditions = [{"type": "NodeHealthy", "status": "True"}]
    scene.makes(
        -100,
        machines,
        "Machine",
        "md-0-x7k2p",
        by="manager",
        space="fleet",
        status={"nodeRef": {"name": "gpu-002"}, "conditions": conditions},
    )
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002")

    def unhealthy(machine: dict[str, Any]) -> None:
        machine["status"]["conditions"] = [
            {
                "type": "HealthCheckSucceeded",
                "status": "False",
                "reason": "UnhealthyNode",
                "message": "Condition Ready on Node is reporting status"
                " Unknown for more than 5m0s",
            },
            {
                "type": "OwnerRemediated",
                "status": "False",
                "reason": "WaitingForRemediation",
            },
        ]

    scene.alters(
        366,
        machines,
        "md-0-x7k2p",
        unhealthy,
        by="manager",
        space="fleet",
        sub="status",
    )
    scene.says(
        366.1,
        "machinehealthcheck-controller",
        "MachineMarkedUnhealthy",
        "Machine fleet/md-0-x7k2p has been marked as unhealthy",
        about={
            "kind": "Machine",
            "namespace": "fleet",
            "name": "md-0-x7k2p",
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "uid": uid_of("Machine", "fleet", "md-0-x7k2p", "1"),
        },
    )

    def deleting(machine: dict[str, Any]) -> None:
        machine["metadata"]["deletionTimestamp"] = "2026-03-01T10:06:07Z"

    scene.alters(
        367, machines, "md-0-x7k2p", deleting, by="manager", space="fleet"
    )
    scene.leaves(420, "gpu-002")
    scene.removes(421, machines, "md-0-x7k2p", space="fleet")
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller(),
        back=False,
        accept=or_lost_contact({"mode": ["unknown"]}),
    )
