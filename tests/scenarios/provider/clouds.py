"""Clouds stop, take back and replace machines, and say so or not."""

from tests.scenarios.provider.provider import (
    CLOUD,
    NTH,
    claim,
    ends_claim,
    interrupts,
)
from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    PROVIDER,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.upgrades.upgrades import stops

NMA = "eks-node-monitoring-agent"
ABSENT = "Deleting node {} because it does not exist in the cloud provider"


def vanishes(scene: Scene, at: float, node: str) -> None:
    """Let the cloud's controller delete a Node whose instance is gone."""
    says = ABSENT.format(node)
    scene.says(at, CLOUD, "DeletingNode", says, node=node)
    scene.leaves(at + 0.5, node)


@incident
def a_rebalance_is_recommended_and_comes_to_nothing() -> Scene:
    scene = Scene()
    key = f"{NTH}/rebalance-recommendation:NoSchedule"
    scene.says(
        20,
        NTH,
        "RebalanceRecommendation",
        "Rebalance recommendation received. Instance will be cordoned at"
        " 2026-03-01T10:00:20Z",
        node="gpu-002",
        type="Warning",
    )
    scene.node(20.3, "gpu-002", NTH, cordon=True, taints={key: ""})
    says = "Node successfully cordoned"
    scene.says(20.6, NTH, "Cordon", says, node="gpu-002")
    scene.node(400, "gpu-002", NTH, cordon=False, taints={key: None})
    says = "Node successfully uncordoned"
    scene.says(400.2, NTH, "Uncordon", says, node="gpu-002")
    scene.dies(5000, "gpu-002", 5600)
    scene.expect(
        "gpu-002",
        "cordoned",
        "planned",
        decision="preemption",
        actor=(["cloud", "controller"], None),
        back=True,
        # Class 11 of the causes has notices of an interruption
        # or of maintenance; a recommendation is none of them.
        accept={
            "mode": ["unknown"],
            "decision": ["host-maintenance", None],
            "cause": ["host-maintenance", "unrecorded"],
        },
    )
    scene.asks(0, 1000, node="gpu-002", verdicts=[0])
    scene.asks(4000, 6000, node="gpu-002", verdicts=[1])
    scene.asks(1000, 3000, node="gpu-002")
    return scene.unexplained("gpu-002")


@incident
def an_autoscaling_group_terminates_an_instance() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.says(
        20,
        NTH,
        "ASGLifecycle",
        "ASG Lifecycle Termination event received. Instance will be"
        " interrupted at 2026-03-01 10:00:20 +0000 UTC",
        node="gpu-002",
        type="Warning",
    )
    key = f"{NTH}/asg-lifecycle-termination:NoSchedule"
    scene.node(20.3, "gpu-002", NTH, cordon=True, taints={key: ""})
    scene.evicts(21, "web-0")
    says = "Node successfully cordoned and drained"
    scene.says(26, NTH, "CordonAndDrain", says, node="gpu-002")
    scene.silent(90, "gpu-002").stale(137, "gpu-002")
    vanishes(scene, 140, "gpu-002")
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        PROVIDER,
        back=False,
        accept=or_decision("preemption", "host-maintenance", "node-deletion"),
    )


@incident
def an_instance_is_stopped_and_started() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    key = "node.cloudprovider.kubernetes.io/shutdown:NoSchedule"
    by = "cloud-controller-manager"
    scene.node(71, "gpu-002", by, taints={key: ""})
    scene.boots(900, "gpu-002")
    scene.node(915, "gpu-002", by, taints={key: None})
    return scene.unexplained(
        "gpu-002", most="possible", accept={"mode": ["unknown", "planned"]}
    )


@incident
def google_takes_a_machine_back_and_makes_one_of_its_name() -> Scene:
    scene = Scene()
    key = "cloud.google.com/impending-node-termination:NoSchedule"
    by = "node-termination-handler"
    scene.node(20, "gpu-002", by, taints={key: ""})
    stops(scene, 21, "gpu-002")
    scene.silent(45, "gpu-002").stale(92, "gpu-002")
    vanishes(scene, 96, "gpu-002")
    scene.joins(240, "gpu-002", machine="b", boot=6)
    scene.joined(241, "gpu-002").heals(252, "gpu-002")
    return scene.decided(
        "gpu-002",
        "replaced",
        "preemption",
        PROVIDER,
        boots=(1, 6),
        back=True,
        accept=or_decision("host-maintenance", "node-deletion"),
    )


@incident
def a_spot_machine_hung_before_it_was_taken_back() -> Scene:
    scene = Scene()
    claim(scene)
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    interrupts(scene, 60, 180)
    return scene.decided(
        "gpu-002",
        "removed",
        "preemption",
        PROVIDER,
        back=False,
        accept=or_fault("hung-kernel"),
    )


@incident
def karpenter_repairs_what_cannot_fork() -> Scene:
    scene = Scene()
    claim(scene)
    text = "KernelReady", "ForkFailedOutOfPIDs: fork failed out of pids"
    broken = {"KernelReady": ("False", "ForkFailedOutOfPIDs", "fork failed")}
    sound = {"KernelReady": ("True", "KernelIsReady", "Kernel is ready")}
    for node in ("gpu-002", "gpu-003"):
        scene.node(-900, node, NMA, conditions=sound)
    for at in (-600, -500, -400):
        scene.node(at, "gpu-002", NMA, conditions=broken)
        scene.node(at + 30, "gpu-002", NMA, conditions=sound)
    scene.says(20, NMA, *text, node="gpu-002", type="Warning")
    scene.node(20.1, "gpu-002", NMA, conditions=broken)
    scene.node(200, "gpu-003", NMA, conditions=broken)
    scene.node(300, "gpu-003", NMA, conditions=sound)
    ends_claim(scene, 1825, 1900)
    scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller("karpenter"),
        fault="hung-kernel",
        back=False,
        accept=or_fault("other-fault"),
    )
    return scene.expect(
        "gpu-003",
        "degraded",
        "abrupt",
        fault="hung-kernel",
        accept={**or_fault("other-fault"), "mode": ["unknown"]},
    )


@incident
def a_machine_gets_too_hot_and_goes_dark() -> Scene:
    scene = Scene()
    text = "ErrorCode:DCGM_FR_THERMAL_VIOLATIONS GPU:3 Thermal violations"
    hot = {"GpuThermalWatch": ("True", "GpuThermalWatchIsNotHealthy", text)}
    scene.node(20, "gpu-002", "platform-connectors", conditions=hot)
    scene.dies(70, "gpu-002", 900)
    sound = "False", "GpuThermalWatchIsHealthy", "No Health Failures"
    scene.node(
        930,
        "gpu-002",
        "platform-connectors",
        conditions={"GpuThermalWatch": sound},
    )
    return scene.broke("gpu-002", "thermal-fault", accept=or_fault(None))


@incident
def memory_was_corrected_and_then_it_went_dark() -> Scene:
    scene = Scene()
    for at in (20, 25, 31):
        scene.says(
            at,
            "kernel-monitor",
            "CperHardwareErrorCorrected",
            "[Hardware Error]: event severity: corrected",
            node="gpu-002",
            host="gpu-002",
            type="Warning",
        )
    scene.dies(600, "gpu-002", 1100)
    return scene.unexplained(
        "gpu-002", most="possible", accept=or_fault("memory-fault")
    )
