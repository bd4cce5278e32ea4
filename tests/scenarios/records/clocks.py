"""Times are wrong, names are used again, and machines boot back to back."""

from tests.corpus.blinding import Blind
from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.remediation.fencing import comes_up
from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    cloud,
    or_decision,
    or_fault,
)
from tests.scenarios.workloads.work import JOBS, gang, hits_one, owned

NTP = {"NTPProblem": ("True", "NTPIsDown", "NTP service is not running")}
NTP_UP = {"NTPProblem": ("False", "NTPIsUp", "NTP is running")}


@incident
def a_machine_boots_three_times_in_a_row() -> Scene:
    scene = Scene().dies(20, "gpu-002")
    comes_up(scene, 300, "gpu-002", 2)
    comes_up(scene, 345, "gpu-002", 3)
    scene.boots(390, "gpu-002", 4)
    for boots in ((1, 2), (2, 3), (3, 4)):
        scene.unexplained("gpu-002", boots=boots)
    return scene.asks(0, 600, node="gpu-002", verdicts=[0, 1, 2])


@incident
def a_machine_is_ready_for_a_minute_between_two_crashes() -> Scene:
    scene = Scene().dies(20, "gpu-002", 300)
    scene.dies(390, "gpu-002").boots(700, "gpu-002", 3)
    for boots in ((1, 2), (2, 3)):
        scene.unexplained("gpu-002", boots=boots)
    scene.asks(0, 340, node="gpu-002", verdicts=[0])
    return scene.asks(0, 900, node="gpu-002", verdicts=[0, 1])


@incident
def a_clock_was_ahead_and_jumps_back() -> Scene:
    scene = Scene().node(-600, "gpu-002", NPD, conditions=NTP)
    scene.dies(20, "gpu-002")
    ahead = {"firstTimestamp": clock(390), "lastTimestamp": clock(390)}
    scene.boots(300, "gpu-002")
    scene.kubelet(
        300.4,
        "gpu-002",
        "InvalidDiskCapacity",
        "invalid capacity 0 on image filesystem",
        type="Warning",
        **ahead,
    )
    scene.node(360, "gpu-002", NPD, conditions=NTP_UP)
    return scene.unexplained(
        "gpu-002", most="possible", accept=or_fault("other-fault")
    )


@incident
def a_name_is_used_again_while_a_pod_is_still_there() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-1", "gpu-002", of=job)
    scene.silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    vanishes(scene, 200, "gpu-002")
    scene.joins(215, "gpu-002", machine="b", boot=7)
    scene.joined(216, "gpu-002").heals(226, "gpu-002")
    scene.fails(228, "w-1", 137, "ContainerStatusUnknown").gone(240, "w-1")
    scene.runs(250, "w-2", "gpu-003", of=job)
    scene.hit(
        "Job", "llm", "gpu-002", ["w-1"], size=1, gpus=8, outcome="rescheduled"
    )
    return scene.expect(
        "gpu-002",
        "replaced",
        "abrupt",
        decision="node-deletion",
        actor=cloud("cloud-node-lifecycle-controller"),
        boots=(1, 7),
        back=True,
        accept={"mode": ["planned", "unknown"]},
    )


@incident
def a_controller_manager_fails_over_during_a_crash() -> Scene:
    scene = Scene().dies(20, "gpu-002", 600)
    for node in scene.names:
        scene.joined(58, node)
    scene.asks(0, 900, node="gpu-001").asks(0, 900, node="gpu-003")
    return scene.unexplained("gpu-002")


@incident
def nobody_watched_while_a_node_crashed() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    gang(scene, job)
    scene.dies(100, "gpu-002", 500)
    scene.tainted_away(451, "w-1")
    scene.fails(511, "w-1", 255, "Unknown").gone(512, "w-1")
    scene.runs(530, "w-3", "gpu-002", of=job)
    scene.blind(Blind(60, 800))
    hits_one(
        scene,
        outcome="unknown",
        accept={
            "outcome": ["restarted", "rescheduled", "down", "survived"],
            "hit_by": ["drain"],
        },
    )
    scene.asks(0, 900, node="gpu-002", verdicts=[0])
    return scene.expect(
        "gpu-002", "reboot", "unknown", most="unknown", boots=(1, 2), back=True
    )


@incident
def nobody_watched_while_a_machine_was_replaced() -> Scene:
    scene = Scene().leaves(100, "gpu-002")
    scene.joins(300, "gpu-002", machine="b", boot=9)
    scene.joined(301, "gpu-002").heals(312, "gpu-002").blind(Blind(60, 700))
    scene.asks(0, 900, node="gpu-002", verdicts=[0])
    return scene.expect(
        "gpu-002",
        "replaced",
        "unknown",
        boots=(1, 9),
        back=True,
        accept=or_decision("node-deletion"),
    )


@incident
def nobody_watched_and_nothing_happened() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    for node in scene.names:
        scene.renews(400, node).renews(800, node)
    return scene.blind(Blind(60, 700)).asks(0, 900, node="gpu-002")


@incident
def nobody_watched_the_cordon_before_a_reboot() -> Scene:
    scene = Scene()
    scene.node(100, "gpu-002", "kubectl", cordon=True)
    scene.blind(Blind(60, 200))
    scene.dies(260, "gpu-002", 700)
    scene.node(760, "gpu-002", "kubectl", cordon=False)
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        SOMEONE,
        most="likely",
        accept={"mode": ["unknown"]},
    )
