"""Checks that operators of fleets wrote themselves, in words of their own."""

from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import SOMEONE, controller, or_fault
from tests.scenarios.upgrades.operators import web

COUNT = "expected 8 GPUs, found 7"


@incident
def a_check_of_ones_own_counts_gpus_and_a_controller_acts() -> Scene:
    scene = web(Scene())
    kind = "GPUProblem"
    well = {kind: ("False", "GPUHealthy", "GPU is healthy")}
    scene.node(-900, "gpu-002", NPD, conditions=well)
    bad = {kind: ("True", "GPUCountMismatch", COUNT)}
    scene.node(20, "gpu-002", NPD, conditions=bad)
    scene.node(80, "gpu-002", "fleet-operator", cordon=True)
    scene.evicts(82, "web-0")
    scene.silent(200, "gpu-002").stale(247, "gpu-002").boots(800, "gpu-002")
    scene.node(860, "gpu-002", NPD, conditions=well)
    scene.node(900, "gpu-002", "fleet-operator", cordon=False)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("fleet-operator"),
        fault="gpu-fault",
    )


@incident
def a_check_says_false_and_means_broken() -> Scene:
    scene = Scene()
    kind = "GPUHealthy"
    well = {kind: ("True", "AllWell", "8 of 8")}
    scene.node(-900, "gpu-002", "gpu-checker", conditions=well)
    bad = {kind: ("False", "ECC", "GPU 3 has uncorrectable errors")}
    scene.node(20, "gpu-002", "gpu-checker", conditions=bad)
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="gpu-fault",
        boots=(1, 1),
        accept={"mode": ["unknown"]},
    )


@incident
def a_check_tells_of_a_fault_of_the_application() -> Scene:
    scene = Scene()
    kind = "GpuXidError"
    text = "NVRM: Xid (PCI:0000:b3:00.0): 31, pid=99, name=python"
    bad = {kind: ("True", "XidDetected", text)}
    scene.node(20, "gpu-002", NPD, conditions=bad)
    scene.dies(600, "gpu-002", 1200)
    return scene.unexplained("gpu-002")


@incident
def a_mount_hangs_and_somebody_drains() -> Scene:
    scene = web(Scene())
    kind = "NFSMountHung"
    bad = {kind: ("True", "MountTimedOut", "/scratch did not answer in 30 s")}
    scene.node(20, "gpu-002", NPD, conditions=bad)
    scene.node(200, "gpu-002", "kubectl", cordon=True).evicts(202, "web-0")
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        SOMEONE,
        fault="disk-fault",
        most="likely",
        boots=(1, 1),
        back=False,
        accept=or_fault("other-fault"),
    )


@incident
def a_check_of_programs_is_no_check_of_the_machine() -> Scene:
    scene = Scene()
    kinds = {
        "GPUDashboardSynced": ("False", "Lagging", "two scrapes behind"),
        "NVLinkTopologyKnown": ("True", "Read", "18 links"),
        "GPUFeatureDiscoveryDone": ("True", "Done", "labels are set"),
    }
    scene.node(20, "gpu-002", "labeller", conditions=kinds)
    scene.asks(0, 500, node="gpu-002")
    scene.dies(900, "gpu-002", 1500)
    return scene.unexplained("gpu-002")
