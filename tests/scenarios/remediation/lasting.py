"""What programs hold a node by for as long as something lasts."""

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import controller, or_fault
from tests.scenarios.workloads.work import JOBS, owned

KIND = "projectcalico.org/CalicoReady"
PROBE = "readiness-condition-reporter"
KEEPER = "node-readiness-controller"
TAINT = "readiness.k8s.io/NetworkReady:NoExecute"
WELL = {KIND: ("True", "HealthCheckPassed", "Endpoint reports ready")}
BAD = {KIND: ("False", "HealthCheckFailed", "connection refused")}


def moves(scene: Scene, at: float) -> None:
    """Let the taint manager delete a Pod of a Job, which runs elsewhere."""
    scene.tainted_away(at, "llm-0").fails(at + 5, "llm-0", 143)
    scene.gone(at + 5.2, "llm-0")
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["llm-0"],
        size=1,
        gpus=8,
        by="drain",
        outcome="rescheduled",
    )


@incident
def a_readiness_gate_drives_work_away_until_a_network_is_ready() -> Scene:
    scene = Scene().node(-900, "gpu-002", PROBE, conditions=WELL)
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "llm-0", "gpu-002", of=job)
    scene.node(20, "gpu-002", PROBE, conditions=BAD)
    # It names its own taint, and not what it waits for.
    scene.node(20.4, "gpu-002", KEEPER, taints={TAINT: "pending"})
    moves(scene, 20.6)
    scene.runs(27, "llm-1", "gpu-003", of=job)
    scene.node(300, "gpu-002", PROBE, conditions=WELL)
    scene.node(300.4, "gpu-002", KEEPER, taints={TAINT: None})
    return scene.decided(
        "gpu-002",
        "drained",
        "auto-remediation",
        controller(KEEPER),
        fault="other-fault",
        most="likely",
        boots=(1, 1),
        back=True,
        accept={
            **or_fault("link-fault"),
            "cause": ["auto-remediation", "link-fault", "other-fault"],
        },
    )


@incident
def a_taint_outlasts_a_condition_that_had_turned_before_it() -> Scene:
    scene = Scene().node(-900, "gpu-002", PROBE, conditions=WELL)
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "llm-0", "gpu-002", of=job)
    scene.node(20, "gpu-002", PROBE, conditions=BAD)
    taint = "example.com/rework:NoExecute"
    scene.node(26, "gpu-002", "line-planner", taints={taint: "3"})
    moves(scene, 26.2)
    scene.runs(33, "llm-1", "gpu-003", of=job)
    scene.node(60, "gpu-002", PROBE, conditions=WELL)
    scene.node(4000, "gpu-002", "line-planner", taints={taint: None})
    # They came together, and nothing else says that they belong so.
    return scene.expect(
        "gpu-002",
        "drained",
        "unknown",
        most="possible",
        boots=(1, 1),
        back=True,
        accept={"mode": ["planned"]},
    )


@incident
def a_node_is_lost_for_as_long_as_a_condition_lasts() -> Scene:
    scene = Scene().node(-900, "gpu-002", PROBE, conditions=WELL)
    scene.silent(20, "gpu-002")
    # Another node watches it from outside.
    scene.node(64, "gpu-002", PROBE, conditions=BAD)
    scene.stale(66, "gpu-002").unreachable(71, "gpu-002")
    scene.node(296, "gpu-002", PROBE, conditions=WELL)
    scene.heals(300, "gpu-002")
    return scene.cut_off(
        "gpu-002", "network-partition", most="likely", accept=or_fault(None)
    )
