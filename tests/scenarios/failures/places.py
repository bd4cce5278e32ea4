"""Nodes that fail together, and one among them that does not."""

from tests.scenarios.failures.stillness import SIX
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import or_fault, user
from tests.scenarios.workloads.work import FOUR, JOBS, owned

HALVES = {
    node: "rack-a" if place < 3 else "rack-b" for place, node in enumerate(SIX)
}


def dark(scene: Scene, *nodes: str) -> Scene:
    """Say that nodes lost their power together."""
    for node in nodes:
        scene.broke(node, "power-loss", back=True, accept=or_fault(None))
    return scene


@incident
def a_rack_goes_dark_of_which_one_was_gone_before() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    scene.silent(5, "gpu-004").stale(52, "gpu-004").unreachable(57, "gpu-004")
    for place, node in enumerate(("gpu-005", "gpu-006")):
        scene.silent(3000 + 2 * place, node).stale(3048 + 2 * place, node)
        scene.boots(3600 + 50 * place, node)
    scene.expect(
        "gpu-004",
        "unreachable",
        "abrupt",
        most="possible",
        back=False,
        accept={**or_fault("network-partition"), "mode": ["unknown"]},
    )
    # That one was gone before is read of no neighbour: unknown is right too.
    return dark(scene, "gpu-005", "gpu-006")


@incident
def most_of_a_rack_goes_dark() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    for place, node in enumerate(("gpu-005", "gpu-006")):
        scene.silent(20 + 2 * place, node).stale(68 + 2 * place, node)
        scene.boots(600 + 50 * place, node)
    return dark(scene, "gpu-005", "gpu-006")


@incident
def all_that_there_is_goes_dark() -> Scene:
    scene = Scene(*FOUR, racks=dict.fromkeys(FOUR, "rack-a"))
    for place, node in enumerate(FOUR):
        scene.silent(20 + 2 * place, node).stale(68 + 2 * place, node)
        scene.boots(600 + 50 * place, node)
    return dark(scene, *FOUR)


@incident
def one_crashes_while_the_control_plane_is_out() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    for place, node in enumerate(SIX):
        scene.silent(20 + place / 2, node)
    for node in SIX:
        scene.stale(72, node)
    for place, node in enumerate(SIX):
        if node != "gpu-004":
            scene.heals(90 + place / 4, node)
            scene.cut_off(node, "control-plane-outage")
    scene.boots(500, "gpu-004")
    return scene.unexplained(
        "gpu-004", most="possible", accept=or_fault("power-loss")
    )


@incident
def a_pod_was_bound_and_never_ran() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-0", "gpu-001", of=job)
    scene.runs(-5, "w-1", "gpu-002", of=job)
    scene.dies(20, "gpu-002", 600)
    scene.tainted_away(372, "w-1")
    scene.gone(611, "w-1").runs(613, "w-2", "gpu-003", of=job)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1"],
        size=2,
        gpus=16,
        outcome="rescheduled",
    )
    return scene.unexplained("gpu-002")


@incident
def a_plugin_starts_anew_and_counts_to_eight() -> Scene:
    scene = Scene()
    scene.runs(-5, "w-0", "gpu-002", of=owner("Job", "mine", "batch/v1"))
    scene.node(20, "gpu-002", "kubelet", gpus=0)
    scene.node(32, "gpu-002", "kubelet", gpus=8)
    return scene.asks(0, 300, node="gpu-002")


@incident
def a_link_to_the_storage_is_lost_and_somebody_reboots() -> Scene:
    scene = Scene(audit=True)
    kind = "IBLinkFlapping"
    by = "node-problem-detector"
    bad = {kind: ("True", "IBLinkFlapping", "mlx5_3 went down 4 times")}
    scene.node(20, "gpu-002", by, conditions=bad)
    scene.asked(
        300,
        "dave@example.com",
        "patch",
        "gpu-002",
        {"spec": {"unschedulable": True}},
    )
    scene.node(300.02, "gpu-002", "kubectl", cordon=True)
    scene.silent(400, "gpu-002").stale(447, "gpu-002").boots(900, "gpu-002")
    well = {kind: ("False", "NoIBLinkFlapping", "links are up")}
    scene.node(950, "gpu-002", by, conditions=well)
    scene.node(1000, "gpu-002", "kubectl", cordon=False)
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        user("dave@example.com"),
        fault="link-fault",
        most="likely",
        accept={"mode": ["unknown"]},
    )
