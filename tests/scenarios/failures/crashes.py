"""Machines that went without a word, or with one too few."""

from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    SOMEONE,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.upgrades.boots import NEW, RACKS, gives, kured, takes


@incident
def a_panic_left_a_dump() -> Scene:
    scene = Scene().dies(20, "gpu-002", 300)
    scene.says(
        420,
        "abrt-adaptor",
        "VMcore",
        "System encountered a fatal error in the last reboot",
        node="gpu-002",
        type="Warning",
    )
    return scene.broke("gpu-002", "kernel-panic", most="proven")


@incident
def an_oops_and_a_hung_task_came_before_the_silence() -> Scene:
    scene = Scene()
    scene.says(
        15,
        "kernel-monitor",
        "TaskHung",
        "INFO: task python:4711 blocked for more than 120 seconds.",
        node="gpu-002",
        type="Warning",
    )
    scene.dies(60, "gpu-002", 400)
    return scene.broke("gpu-002", "hung-kernel", accept=or_fault(None))


@incident
def a_crash_without_a_word() -> Scene:
    scene = Scene().dies(20, "gpu-002", 400)
    return scene.unexplained("gpu-002")


@incident
def a_reboot_too_quick_to_be_missed() -> Scene:
    scene = Scene().silent(20, "gpu-002").boots(48, "gpu-002")
    return scene.unexplained("gpu-002")


@incident
def a_rack_loses_its_power() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    scene.silent(20, "gpu-001").silent(24, "gpu-002")
    scene.stale(66, "gpu-001").stale(70, "gpu-002")
    scene.boots(500, "gpu-002").boots(640, "gpu-001")
    for node in ("gpu-001", "gpu-002"):
        scene.broke(node, "power-loss", back=True)
    return scene


@incident
def a_rack_is_rebooted_one_after_another() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    kured(scene)
    for node, at in (("gpu-001", 20), ("gpu-002", 220)):
        takes(scene, at, node)
        scene.silent(at + 20, node).stale(at + 66, node).boots(at + 120, node)
        gives(scene, at + 150, node)
        scene.rebooted(node, "os-upgrade", controller("kured"), back=None)
    return scene


@incident
def two_nodes_of_a_rack_crash_minutes_apart() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    scene.dies(20, "gpu-001", 500).dies(200, "gpu-002", 700)
    for node in ("gpu-001", "gpu-002"):
        scene.unexplained(node, boots=None, back=None)
    return scene


@incident
def an_upgrade_and_then_a_crash() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, 20, "gpu-002")
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    gives(scene, 130, "gpu-002")
    scene.dies(1300, "gpu-002").boots(1700, "gpu-002", 3)
    scene.rebooted("gpu-002", "os-upgrade", controller("kured"))
    return scene.unexplained("gpu-002", boots=(2, 3))


@incident
def a_kubelet_tells_of_a_boot_that_never_was() -> Scene:
    scene = Scene().starts(20, "gpu-002").reports_boot(20.1, "gpu-002", 9)
    return scene.kubelet_restarted(
        "gpu-002", most="possible", accept={"mode": ["unknown"]}
    )


@incident
def a_fault_was_long_over() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(600, "gpu-002", NPD, conditions=SOUND)
    scene.dies(11000, "gpu-002", 11400)
    scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="hung-kernel",
        accept={"mode": ["unknown"]},
    )
    return scene.unexplained("gpu-002", back=None)


@incident
def a_fault_was_of_another_boot() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.dies(40, "gpu-002", 400)
    scene.node(405, "gpu-002", NPD, conditions=SOUND)
    scene.dies(4000, "gpu-002").boots(4400, "gpu-002", 3)
    scene.broke("gpu-002", "hung-kernel")
    return scene.unexplained("gpu-002", back=None, boots=(2, 3))


@incident
def somebody_shut_it_down_in_order() -> Scene:
    scene = Scene()
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    scene.kubelet(
        20, "gpu-002", "Shutdown", "Shutdown manager detected shutdown event"
    )
    scene.node(
        20.1,
        "gpu-002",
        "kubelet",
        conditions={
            "Ready": ("False", "KubeletNotReady", "node is shutting down")
        },
    )
    text = "Pod was terminated in response to imminent node shutdown."
    scene.pod(
        21,
        "web-0",
        "kubelet",
        disrupted=("TerminationByKubelet", text),
        phase="Failed",
        reason="Terminated",
        message=text,
    )
    scene.silent(40, "gpu-002").boots(200, "gpu-002")
    scene.hit_pod("web-0", "gpu-002")
    return scene.expect(
        "gpu-002", "reboot", "planned", most="unknown", boots=(1, 2), back=True
    )


@incident
def memory_of_the_machine_failed_before_it_crashed() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        NPD,
        conditions={
            "CperHardwareErrorFatal": (
                "True",
                "CperHardwareErrorFatal",
                "[Hardware Error]: event severity: fatal",
            )
        },
    )
    scene.dies(25, "gpu-002", 600)
    return scene.broke("gpu-002", "memory-fault")


@incident
def it_was_drained_by_hand_and_rebooted() -> Scene:
    scene = Scene()
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    scene.node(20, "gpu-002", "kubectl", cordon=True).evicts(21, "web-0")
    scene.kubelet(28, "gpu-002", "NodeNotSchedulable", "NodeNotSchedulable")
    scene.dies(600, "gpu-002", 900)
    scene.node(960, "gpu-002", "kubectl", cordon=False)
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        SOMEONE,
        most="likely",
        accept={"mode": ["unknown"]},
    )


@incident
def it_was_cordoned_for_hours_and_crashed() -> Scene:
    scene = Scene().node(20, "gpu-002", "kubectl", cordon=True)
    scene.dies(9000, "gpu-002", 9400)
    return scene.unexplained(
        "gpu-002",
        most="possible",
        back=False,
        accept={"mode": ["unknown"], **or_decision("manual-drain")},
    )


@incident
def memory_ran_out_and_the_machine_hung() -> Scene:
    scene = Scene()
    scene.kubelet(
        20,
        "gpu-002",
        "SystemOOM",
        "System OOM encountered, victim process: python3, pid: 4711",
        type="Warning",
    )
    scene.dies(40, "gpu-002", 600)
    return scene.broke("gpu-002", "system-oom")
