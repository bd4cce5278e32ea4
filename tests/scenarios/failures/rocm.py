"""GPUs of AMD fail, and its operator remediates by a workflow.

The node problem detector has a condition for every kind of error; a workflow
taints the Node, deletes its Pods, reboots, tests and takes the taint away.
"""

from typing import Any

from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import OR_FAILED, controller

TAINT = "amd-gpu-unhealthy:NoSchedule"
LABEL = "amd-gpu-node-remediation"
MONITOR = "amdgpu-custom-plugin-monitor"
RAS = "ErrorID: 17, fatal RAS errors of GPU 3: 1, threshold: 0"


def errs(scene: Scene, at: float, kind: str, *, on: bool = True) -> None:
    """Let the detector find an error, or find it no more."""
    state = ("True", "AMDGPUUnhealthy", RAS)
    state = state if on else ("False", "AMDGPUIsUp", "AMDGPU is up")
    if on:
        says = f"Node condition {kind} is now: True, reason: AMDGPUUnhealthy"
        scene.says(
            at, MONITOR, "AMDGPUUnhealthy", says, node="gpu-002",
            host="gpu-002", type="Warning",
        )  # fmt: skip
    scene.node(at + 0.4, "gpu-002", NPD, conditions={kind: state})


def notifies(scene: Scene, at: float, text: str) -> None:
    """Let the workflow show people what is theirs to do."""
    scene.says(
        at,
        "gpu-002-default-template-x7k2p",
        "AMDGPUUnhealthy",
        text,
        about={
            "kind": "Node",
            "name": "gpu-002",
            "apiVersion": "v1",
            "namespace": "kube-amd-gpu",
        },
        type="Warning",
        reportingComponent="amd-gpu-node-remediation-workflow",
        reportingInstance="amd-gpu-node-remediation-workflow",
        lastTimestamp=None,
    )


def begins(scene: Scene, at: float, kind: str) -> None:
    """Let the workflow mark the node and delete what runs there."""
    scene.node(at, "gpu-002", "kubectl-taint", taints={TAINT: kind})
    scene.pod(at + 5, "w-0", "kubectl", deleting=True)
    scene.fails(at + 8, "w-0", 143).gone(at + 8.2, "w-0")


def worked() -> Scene:
    scene = Scene().runs(-5, "w-0", "gpu-002")
    return scene.hit_pod(
        "w-0", "gpu-002", gpus=8, optional=True, by="drain", accept=OR_FAILED
    )


def remediated(scene: Scene, fault: Any, **more: Any) -> Scene:
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("amd-gpu-operator"),
        fault=fault,
        **more,
    )


@incident
def high_bandwidth_memory_of_amd_fails() -> Scene:
    scene = worked()
    errs(scene, 20, "AMDGPUHBMError")
    begins(scene, 50, "AMDGPUHBMError")
    scene.silent(90, "gpu-002").stale(137, "gpu-002").boots(700, "gpu-002")
    errs(scene, 760, "AMDGPUHBMError", on=False)
    scene.node(2000, "gpu-002", "kubectl-taint", taints={TAINT: None})
    return remediated(scene, "gpu-fault", accept={"mode": ["unknown"]})


@incident
def links_between_gpus_of_amd_want_hands() -> Scene:
    scene = worked()
    errs(scene, 20, "AMDGPUXgmi")
    begins(scene, 50, "AMDGPUXgmi")
    notifies(scene, 65, "Remove GPU tray from node. Confirm all four screws.")
    scene.silent(9000, "gpu-002").stale(9047, "gpu-002")
    scene.boots(9900, "gpu-002")
    errs(scene, 9960, "AMDGPUXgmi", on=False)
    scene.node(12000, "gpu-002", "kubectl-taint", taints={TAINT: None})
    return remediated(
        scene, "link-fault", accept={"mode": ["unknown"]}, most="proven"
    )


@incident
def a_test_of_amd_fails_after_the_reboot() -> Scene:
    scene = worked()
    errs(scene, 20, "AMDGPUHardwareAssertionHwa")
    begins(scene, 50, "AMDGPUHardwareAssertionHwa")
    scene.silent(90, "gpu-002").stale(137, "gpu-002").boots(700, "gpu-002")
    notifies(scene, 5600, "Remove the failing OAM and return to AMD")
    return remediated(
        scene, "gpu-fault", back=False, accept={"mode": ["unknown"]}
    )


@incident
def a_program_fails_on_a_gpu_of_amd() -> Scene:
    scene = Scene()
    errs(scene, 20, "AMDGPUGeneralApplicationFault")
    errs(scene, 320, "AMDGPUGeneralApplicationFault", on=False)
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        most="possible",
        accept={"happened": [None], "mode": ["unknown"]},
    )


@incident
def a_gpu_of_amd_gets_too_hot() -> Scene:
    scene = Scene()
    errs(scene, 20, "AMDGPUThrottle")
    errs(scene, 320, "AMDGPUThrottle", on=False)
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="thermal-fault",
        accept={"mode": ["unknown"]},
    )


@incident
def a_workflow_of_amd_is_under_way_when_the_log_begins() -> Scene:
    scene = Scene()
    errs(scene, -60, "AMDGPUOnDieEcc")
    scene.node(
        -30, "gpu-002", "kubectl-taint", taints={TAINT: "AMDGPUOnDieEcc"}
    )
    scene.silent(10, "gpu-002").stale(57, "gpu-002").boots(600, "gpu-002")
    errs(scene, 660, "AMDGPUOnDieEcc", on=False)
    scene.node(2000, "gpu-002", "kubectl-taint", taints={TAINT: None})
    return remediated(
        scene,
        "gpu-fault",
        accept={"mode": ["unknown"]},
    )
