"""What is told late, by a wrong clock, or of what never came."""

from typing import Any

from tests.explain.heldout.boots import RACKS
from tests.explain.heldout.nodes import path_of, turned
from tests.explain.heldout.parts import boot_id
from tests.explain.heldout.registry import incident
from tests.explain.heldout.requests import DEADLOCK, NPD, SOUND
from tests.explain.heldout.scene import Scene, owner
from tests.explain.heldout.truths import (
    controller,
    or_decision,
    or_fault,
)
from tests.explain.heldout.upgrades import FLUO, MCC, SHADOWS, upgraded
from tests.explain.heldout.work import JOBS
from tests.explain.heldout.world import NODES

GPUS = {"XIDErrors": ("True", "XIDErrorsFound", "Xid 79 on GPU 0000:b3:00.0")}
OUT = ("True", "ContainerdUnhealthy", "crictl: timed out")
IN = ("False", "ContainerRuntimeIsHealthy", "well")
FULL = ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")
ROOM = ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
PLAN = "upgrade.cattle.io"


def later_known(scene: Scene, fault: Any) -> Scene:
    """Say that a fault is told of which held when all was over."""
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
    scene.untold("gpu-002", back=None)
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
    scene.untold(
        "gpu-002", most="possible", back=None, accept=or_fault("hung-kernel")
    )
    return later_known(scene, "hung-kernel")


@incident
def a_store_is_restored_and_tells_of_an_old_boot() -> Scene:
    # The kubelet finds its own boot missing, writes it, and says Rebooted.
    scene = Scene().dies(20, "gpu-002", 400)
    old = {"bootID": boot_id("gpu-002", 1)}
    scene.node(3000, "gpu-002", "kubelet", info=old)
    scene.tells_of_boot(3008, "gpu-002", 2)
    new = {"bootID": boot_id("gpu-002", 2)}
    scene.node(3008.1, "gpu-002", "kubelet", info=new)
    scene.renews(3010, "gpu-002")
    return scene.untold("gpu-002")


@incident
def talos_falls_back_to_what_it_was() -> Scene:
    scene = Scene()
    mark = {"talos.dev/cordoned": "true"}
    scene.node(20, "gpu-002", "talos", cordon=True, notes=mark)
    scene.silent(45, "gpu-002").stale(92, "gpu-002").boots(500, "gpu-002")
    gone = dict.fromkeys(mark)
    scene.node(516, "gpu-002", "talos", cordon=False, notes=gone)
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        (["controller", "unknown"], None),
        most="likely",
        accept=or_decision("manual-drain", "admin-request", None),
    )


@incident
def flatcar_has_an_update_and_crashes_into_it() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        "update-agent",
        notes={f"{FLUO}/reboot-needed": "true", f"{FLUO}/reboot-ok": "false"},
        labels={f"{FLUO}/reboot-needed": "true"},
    )
    scene.dies(90000, "gpu-002")
    scene.boots(90300, "gpu-002", osImage="Flatcar Container Linux 4459.2.1")
    return scene.untold(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_decision("os-upgrade")},
    )


@incident
def a_machine_config_reboots_and_is_not_what_was_wanted() -> Scene:
    scene = Scene()
    new, daemon = "rendered-gpu-9f3", "machine-config-daemon"
    config = "machine-config-controller"
    scene.node(20, "gpu-002", config, notes={f"{MCC}/desiredConfig": new})
    working = {f"{MCC}/state": "Working"}
    scene.node(21, "gpu-002", daemon, notes=working)
    scene.node(22, "gpu-002", config, cordon=True)
    for at, reason, says in (
        (22, "Cordon", "Cordoned node to apply update"),
        (40, "OSUpdateStarted", "Upgrading OS"),
        (60, "Reboot", f"Node will reboot into config {new}"),
    ):
        scene.says(at, "machineconfigdaemon", reason, says, node="gpu-002")
    going = {f"{MCC}/post-config-action": "Rebooting"}
    scene.node(60.2, "gpu-002", daemon, notes=going)
    scene.silent(70, "gpu-002").stale(117, "gpu-002").boots(400, "gpu-002")
    bad = {
        f"{MCC}/state": "Degraded",
        f"{MCC}/reason": "unexpected on-disk state validating against 9f3",
    }
    scene.node(440, "gpu-002", daemon, notes=bad)
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("machine-config-daemon"),
        back=False,
    )


@incident
def bottlerocket_goes_back_to_what_it_was() -> Scene:
    scene = Scene()
    name, space = "brs-gpu-002", "brupop-bottlerocket-aws"
    scene.makes(
        -900,
        SHADOWS,
        "BottlerocketShadow",
        name,
        by="brupop-agent",
        space=space,
        spec={"state": "Idle"},
        status={"current_state": "Idle", "current_version": "1.50.0"},
    )

    def says(at: float, where: str, state: str, key: str) -> None:
        def change(made: dict[str, Any]) -> None:
            made[where] = made[where] | {key: state}

        by = "brupop-controller" if where == "spec" else "brupop-agent"
        scene.alters(at, SHADOWS, name, change, by=by, space=space)

    says(20, "spec", "StagedAndPerformedUpdate", "state")
    says(30, "status", "StagedAndPerformedUpdate", "current_state")
    says(40, "spec", "RebootedIntoUpdate", "state")
    scene.node(41, "gpu-002", "brupop-apiserver", cordon=True)
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(300, "gpu-002")
    says(330, "spec", "ErrorReset", "state")
    says(331, "status", "ErrorReset", "current_state")
    scene.node(340, "gpu-002", "brupop-apiserver", cordon=False)
    return upgraded(scene)


@incident
def a_plan_fails_before_it_reboots_and_it_crashes_later() -> Scene:
    scene = Scene()
    name, space = "apply-os-on-gpu-002-with-11ab", "system-upgrade"
    by = "system-upgrade-controller"
    marks = {f"{PLAN}/node": "gpu-002", f"{PLAN}/plan": "os"}
    meta = {"labels": marks}
    scene.makes(15, JOBS, "Job", name, by=by, space=space, metadata=meta)
    job = owner("Job", name, "batch/v1", space)
    scene.runs(16, f"{name}-9", "gpu-002", of=job, gpus=0, space=space)
    scene.node(18, "gpu-002", "kubectl", cordon=True)
    failed = 1, "Error"
    scene.pod(
        60, f"{name}-9", "kubelet", space=space, ended=failed, phase="Failed"
    )
    scene.node(400, "gpu-002", "kubectl", cordon=False)
    scene.dies(9000, "gpu-002", 9400)
    scene.expect(
        "gpu-002",
        "cordoned",
        "planned",
        decision="os-upgrade",
        boots=(1, 1),
        accept={
            "happened": [None, "drained"],
            **or_decision("manual-drain"),
        },
    )
    return scene.untold("gpu-002")


@incident
def azure_would_freeze_a_machine_and_does_not() -> Scene:
    kind = "VMEventScheduled"
    soon = {kind: ("True", "FreezeScheduled", "Freeze at 10:15:00")}
    none = {kind: ("False", "NoVMEventScheduled", "none")}
    scene = Scene().node(20, "gpu-002", NPD, conditions=soon)
    scene.node(960, "gpu-002", NPD, conditions=none)
    scene.dies(9000, "gpu-002", 9400)
    return scene.untold("gpu-002")


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
    return scene.untold("gpu-003")


@incident
def a_kubelet_is_restarted_while_a_gpu_is_lost() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=GPUS)
    scene.starts(4000, "gpu-002")
    later_known(scene, "gpu-fault")
    return scene.kubelet_restarted("gpu-002", accept={"mode": ["unknown"]})


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
