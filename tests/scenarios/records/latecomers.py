"""What is reported late, by a wrong clock, or of what never came."""

from typing import Any

from tests.scenarios.requests.innocents import DENIED, wishes
from tests.scenarios.requests.requests import ASKED, DEADLOCK, NPD, SOUND
from tests.scenarios.telling.nodes import path_of, turned
from tests.scenarios.telling.parts import boot_id
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    or_decision,
    or_fault,
)
from tests.scenarios.telling.world import NODES
from tests.scenarios.upgrades.boots import RACKS

GPUS = {"XIDErrors": ("True", "XIDErrorsFound", "Xid 79 on GPU 0000:b3:00.0")}
OUT = ("True", "ContainerdUnhealthy", "crictl: timed out")
IN = ("False", "ContainerRuntimeIsHealthy", "well")
FULL = ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")
ROOM = ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
PLAN = "upgrade.cattle.io"


def later_known(scene: Scene, fault: Any) -> Scene:
    """Say that a fault is reported that held when all was over."""
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault=fault,
        accept={"happened": [None], "mode": ["unknown"]},
    )


@incident
def the_new_boot_finds_a_gpu_fallen_off() -> Scene:
    scene = Scene().dies(20, "gpu-002", 400)
    scene.node(470, "gpu-002", NPD, conditions=GPUS)
    scene.unexplained("gpu-002", back=None)
    return later_known(scene, "gpu-fault")


@incident
def a_slow_clock_makes_the_fault_of_a_new_boot_look_old() -> Scene:
    # The detector has the clock of its node, which is ten minutes slow.
    scene = Scene().dies(20, "gpu-002", 400)

    def hangs(node: dict[str, Any]) -> set[tuple[str, ...]]:
        kind = "KernelDeadlock"
        turned(-170, node["status"]["conditions"], kind, DEADLOCK[kind])
        return {path_of(kind)}

    scene.node(-900, "gpu-002", NPD, conditions=SOUND)
    scene.alters(430, NODES, "gpu-002", hangs, by=NPD, sub="status")
    scene.unexplained(
        "gpu-002", most="possible", back=None, accept=or_fault("hung-kernel")
    )
    return later_known(scene, "hung-kernel")


@incident
def a_store_is_restored_and_tells_of_an_old_boot() -> Scene:
    # The kubelet writes its own again; it said Rebooted once, as it started.
    scene = Scene().dies(20, "gpu-002", 400)
    old = {"bootID": boot_id("gpu-002", 1)}
    scene.node(3000, "gpu-002", "kubelet", info=old)
    new = {"bootID": boot_id("gpu-002", 2)}
    scene.node(3008.1, "gpu-002", "kubelet", info=new)
    scene.renews(3010, "gpu-002")
    return scene.unexplained("gpu-002")


@incident
def azure_would_freeze_a_machine_and_does_not() -> Scene:
    kind = "VMEventScheduled"
    soon = {kind: ("True", "FreezeScheduled", "Freeze at 10:15:00")}
    none = {kind: ("False", "NoVMEventScheduled", "none")}
    scene = Scene().node(20, "gpu-002", NPD, conditions=soon)
    scene.node(960, "gpu-002", NPD, conditions=none)
    scene.dies(9000, "gpu-002", 9400)
    return scene.unexplained("gpu-002")


@incident
def a_runtime_flaps_an_hour_before_a_cut() -> Scene:
    scene = Scene()
    kind = "ContainerRuntimeUnhealthy"
    for at in (20, 300, 500):
        scene.node(at, "gpu-002", NPD, conditions={kind: OUT})
        scene.node(at + 60, "gpu-002", NPD, conditions={kind: IN})
        scene.expect(
            "gpu-002",
            "degraded",
            "abrupt",
            fault="runtime-failure",
            accept={"happened": [None], "mode": ["unknown"]},
        )
    scene.silent(4000, "gpu-002").stale(4047, "gpu-002")
    scene.unreachable(4052, "gpu-002").heals(4200, "gpu-002")
    return scene.cut_off("gpu-002", "network-partition", most="likely")


@incident
def a_control_plane_is_back_and_one_machine_goes() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    for node in RACKS:
        scene.silent(20, node)
    for node in RACKS:
        scene.stale(66, node)
    for place, node in enumerate(RACKS):
        scene.heals(200 + place, node)
        scene.cut_off(node, "control-plane-outage")
    scene.dies(260, "gpu-003", 700)
    return scene.unexplained("gpu-003")


@incident
def a_kubelet_is_restarted_while_a_gpu_is_lost() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=GPUS)
    scene.starts(1800, "gpu-002")
    later_known(scene, "gpu-fault")
    # A repair of the GPU may restart it; no GPU takes a kubelet away.
    return scene.kubelet_restarted(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_fault("gpu-fault")},
    )


@incident
def a_disk_fills_up_and_a_kubelet_is_restarted() -> Scene:
    scene = Scene()
    scene.runs(-5, "loader-0", "gpu-002", gpus=0)
    says = "Attempting to reclaim ephemeral-storage"
    scene.kubelet(20, "gpu-002", "EvictionThresholdMet", says, type="Warning")
    full, room = {"DiskPressure": FULL}, {"DiskPressure": ROOM}
    scene.node(20.1, "gpu-002", "kubelet", conditions=full)
    scene.kubelet(
        20.2, "gpu-002", "NodeHasDiskPressure", "NodeHasDiskPressure"
    )
    text = "The node was low on resource: ephemeral-storage. "
    scene.pod(
        21,
        "loader-0",
        "kubelet",
        phase="Failed",
        reason="Evicted",
        message=text,
        disrupted=("TerminationByKubelet", text),
    )
    scene.starts(900, "gpu-002")
    scene.node(915, "gpu-002", "kubelet", conditions=room)
    scene.hit_pod("loader-0", "gpu-002", optional=True)
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="other-fault",
        accept={
            "mode": ["unknown"],
            "happened": [None],
            **or_fault("disk-fault"),
        },
    )
    return scene.kubelet_restarted(
        "gpu-002",
        accept={"mode": ["unknown"], **or_fault("other-fault", "disk-fault")},
    )


@incident
def a_virtual_machine_stands_still_for_a_minute_and_is_missed() -> Scene:
    # Its hypervisor moved it; nothing parts that from a cut.
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002").heals(88, "gpu-002")
    return scene.cut_off(
        "gpu-002", "network-partition", most="likely", accept=or_fault(None)
    )


@incident
def a_host_is_powered_off_and_on_for_nobody_knows_whom() -> Scene:
    scene = Scene()
    kind = "metal3.io/v1alpha1/baremetalhosts"
    name, space = "gpu-002", "metal3"
    by = "baremetal-operator"
    scene.makes(
        -900,
        kind,
        "BareMetalHost",
        name,
        by=by,
        space=space,
        spec={"online": True},
        status={"poweredOn": True},
    )

    def off(host: dict[str, Any]) -> None:
        host["spec"] = {"online": False}

    def on(host: dict[str, Any]) -> None:
        host["spec"] = {"online": True}

    for at, turn in ((20, off), (900, on)):
        by = "kubectl-edit"
        scene.alters(at, kind, name, turn, by=by, space=space)
    scene.silent(40, "gpu-002").stale(87, "gpu-002")
    scene.unreachable(92, "gpu-002").boots(1200, "gpu-002")
    return scene.unexplained(
        "gpu-002",
        most="likely",
        actor=SOMEONE,
        accept={
            "mode": ["unknown", "planned"],
            **or_decision("admin-request"),
        },
    )


@incident
def a_wish_is_answered_no_and_it_crashes_in_minutes() -> Scene:
    scene = Scene(audit=True)
    wishes(scene, 20, ASKED)
    wishes(scene, 200, DENIED)
    scene.dies(500, "gpu-002", 900)
    return scene.unexplained("gpu-002")
