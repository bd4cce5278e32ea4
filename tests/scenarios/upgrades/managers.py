"""Writers named after libraries, which any program may use."""

from typing import Any

from tests.scenarios.requests.people import OFF
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    By,
    or_decision,
    or_fault,
    user,
)
from tests.scenarios.upgrades.operators import web

FULL = {"DiskHealthProblem": ("True", "SmartFailed", "nvme3: 12 bad blocks")}
SOME_PROGRAM: By = ["controller", "unknown"], None


def of_a_program(scene: Scene, *never: str, fault: str | None) -> Scene:
    """Say that some program acted on a fault, whatever it is called."""
    return scene.decided(
        "gpu-002",
        "drained",
        "auto-remediation",
        SOME_PROGRAM,
        fault=fault,
        never=never,
        boots=(1, 1),
        back=False,
        accept={
            "mode": ["unknown"],
            "decision": [None, "manual-drain"],
            "cause": ["manual-drain", "unrecorded"],
        },
    )


@incident
def an_operator_that_is_called_manager_acts_on_a_gpu() -> Scene:
    scene = web(Scene())
    bad = {"GPUHealthy": ("False", "XidObserved", "Xid 79 on GPU 3")}
    well = {"GPUHealthy": ("True", "NoXid", "all GPUs are well")}
    scene.node(-900, "gpu-002", "manager", conditions=well)
    scene.node(20, "gpu-002", "manager", conditions=bad)
    scene.node(40, "gpu-002", "manager", cordon=True).evicts(41, "web-0")
    return of_a_program(scene, "cluster-api", fault="gpu-fault")


@incident
def an_operator_that_is_called_manager_only_cordons() -> Scene:
    scene = Scene().node(20, "gpu-002", "manager", cordon=True)
    return scene.expect(
        "gpu-002",
        "cordoned",
        "unknown",
        most="possible",
        back=False,
        accept=or_decision("manual-drain"),
    )


@incident
def a_library_of_go_cordons_what_is_broken() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", "node-problem-detector", conditions=FULL)
    by = "Go-http-client"
    scene.node(600, "gpu-002", by, cordon=True).evicts(601, "web-0")
    return of_a_program(scene, by, fault="disk-fault")


@incident
def terraform_drives_work_away_and_the_machine_is_rebooted() -> Scene:
    scene = web(Scene())
    taint = "example.com/rework:NoExecute"
    scene.node(20, "gpu-002", "Terraform", taints={taint: "true"})
    scene.tainted_away(20.3, "web-0").fails(24, "web-0", 143)
    scene.gone(24.2, "web-0")
    scene.silent(100, "gpu-002").stale(147, "gpu-002").boots(500, "gpu-002")
    scene.node(900, "gpu-002", "Terraform", taints={taint: None})
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        SOMEONE,
        most="likely",
        accept={"mode": ["unknown"], **or_decision(None)},
    )


@incident
def a_playbook_drains_by_a_library_of_python() -> Scene:
    scene = web(Scene(audit=True))
    who = "system:serviceaccount:ops:ansible"
    body = {"spec": {"unschedulable": True}}
    agent = "OpenAPI-Generator/33.1.0/python"
    scene.asked(20, who, "patch", "gpu-002", body, agent=agent)
    scene.node(20.02, "gpu-002", "OpenAPI-Generator", cordon=True)
    scene.evicts(21, "web-0")
    return scene.expect(
        "gpu-002",
        "drained",
        "unknown",
        most="possible",
        boots=(1, 1),
        back=False,
        accept={
            "mode": ["planned"],
            **or_decision("manual-drain", "admin-request"),
        },
    )


@incident
def a_probe_in_go_says_that_a_disk_is_broken_and_it_crashes() -> Scene:
    scene = Scene()
    scene.node(20, "gpu-002", "Go-http-client", conditions=FULL)
    scene.dies(120, "gpu-002", 400)
    return scene.broke("gpu-002", "disk-fault", accept=or_fault(None))


@incident
def rancher_drains_for_a_person() -> Scene:
    scene = web(Scene(audit=True))
    proxy = "system:serviceaccount:cattle-impersonation-system:cattle-u-7xk2p"
    agent = "Go-http-client/2.0"
    who: Any = {"acting_as": "u-7xk2p", "agent": agent}
    scene.asked(20, proxy, "patch", "gpu-002", OFF, **who)
    scene.node(20.02, "gpu-002", "rancher", cordon=True)
    more: Any = {"resource": "pods", "space": "train", "sub": "eviction"}
    scene.asked(21, proxy, "create", "web-0", {}, **who, **more)
    scene.evicts(21.1, "web-0")
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        user("u-7xk2p"),
        never=["rancher"],
        boots=(1, 1),
        back=False,
    )


@incident
def an_operator_applies_beside_a_person_who_drains() -> Scene:
    scene = web(Scene())
    scene.node(20.0, "gpu-002", "kubectl", cordon=True)
    inventory = {"fleet.example.com/inventory": "2026-03-01"}
    scene.node(20.4, "gpu-002", "fleet-operator", notes=inventory)
    scene.evicts(21, "web-0")
    scene.node(25, "gpu-002", "fleet-operator", notes={"seen": "10:00:25"})
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        SOMEONE,
        never=["fleet-operator"],
        boots=(1, 1),
        back=False,
    )
