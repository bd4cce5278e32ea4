"""Logs, windows and requests that show less than what happened, or more."""

from tests.scenarios.requests.people import OFF
from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.parts import boot_id
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import SOMEONE, or_decision, user
from tests.scenarios.upgrades.operators import web
from tests.scenarios.workloads.work import JOBS, owned

RACK = "topology.example.com/rack"
POOL = "example.com/pool"
BOSS = "dave@example.com"


@incident
def the_log_begins_behind_the_cordon() -> Scene:
    scene = Scene().node(-60, "gpu-002", "kubectl", cordon=True)
    scene.dies(30, "gpu-002", 500)
    scene.node(560, "gpu-002", "kubectl", cordon=False)
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        SOMEONE,
        most="possible",
        accept={"mode": ["unknown", "abrupt"], **or_decision(None)},
    )


@incident
def the_log_begins_when_a_node_is_already_lost() -> Scene:
    scene = Scene().fell_silent(-300, "gpu-002")
    scene.unreachable(-249, "gpu-002").boots(200, "gpu-002")
    scene.asks(0, 400, node="gpu-002", verdicts=[0])
    return scene.expect(
        "gpu-002",
        "reboot",
        "unknown",
        most="possible",
        boots=(1, 2),
        back=True,
        accept={"mode": ["abrupt"]},
    )


@incident
def the_log_begins_just_after_a_reboot() -> Scene:
    scene = Scene().starts(-30, "gpu-002")
    boot = boot_id("gpu-002", 2)
    text = f"Node gpu-002 has been rebooted, boot id: {boot}"
    scene.kubelet(-29.9, "gpu-002", "Rebooted", text, type="Warning")
    scene.node(-29.9, "gpu-002", "kubelet", info={"bootID": boot})
    scene.asks(0, 600, node="gpu-001")
    return scene.expect(
        "gpu-002",
        "reboot",
        "unknown",
        most="possible",
        accept={"happened": [None], "mode": ["abrupt"]},
    )


@incident
def a_rack_is_asked_about_from_which_a_node_was_moved() -> Scene:
    racks = {"gpu-001": "r-1", "gpu-002": "r-1", "gpu-003": "r-2"}
    scene = Scene(racks=racks)
    scene.runs(-5, "w-0", "gpu-002", of=owned(scene, "Job", JOBS))
    scene.dies(20, "gpu-002", 600)
    moved = {RACK: "r-2", POOL: "new"}
    scene.node(1000, "gpu-002", "kubectl-label", labels=moved)
    scene.fails(611, "w-0", 255, "Unknown").gone(611.4, "w-0")
    hit = ["Job/train/llm"]
    scene.hit("Job", "llm", "gpu-002", ["w-0"], size=1, gpus=8)
    scene.asks(0, 900, rack="r-1", workloads=hit)
    scene.asks(0, 900, rack="r-2")
    scene.asks(1100, 1200, rack="r-2")
    scene.asks(1100, 1200, labels={POOL: "new"})
    scene.asks(0, 900, node="gpu-002", verdicts=[0], workloads=hit)
    scene.asks(1100, 1200, node="gpu-002")
    return scene.unexplained("gpu-002")


@incident
def a_window_begins_while_a_node_is_lost() -> Scene:
    scene = Scene()
    scene.runs(-5, "m-0", "gpu-002", of=owner("Job", "mine", "batch/v1"))
    scene.dies(20, "gpu-002", 600).fails(611, "m-0", 255, "Unknown")
    scene.hit("Job", "mine", "gpu-002", ["m-0"], size=1, gpus=8)
    scene.asks(300, 900, node="gpu-002", verdicts=[0])
    scene.asks(700, 900, node="gpu-002")
    scene.asks(5, 15, node="gpu-002")
    return scene.unexplained("gpu-002")


@incident
def somebody_was_not_allowed_to_cordon() -> Scene:
    scene = Scene(audit=True)
    scene.asked(20, "mallory@example.com", "patch", "gpu-002", OFF, code=403)
    scene.asked(30, "mallory@example.com", "delete", "gpu-002", {}, code=403)
    scene.dies(60, "gpu-002", 700)
    return scene.unexplained("gpu-002")


@incident
def a_budget_stops_a_drain() -> Scene:
    scene = Scene(audit=True).runs(-5, "web-0", "gpu-002", gpus=0)
    scene.asked(20, BOSS, "patch", "gpu-002", OFF)
    scene.node(20.02, "gpu-002", "kubectl", cordon=True)
    for at in (21, 26, 31, 36):
        scene.asked(
            at,
            BOSS,
            "create",
            "web-0",
            {},
            resource="pods",
            space="train",
            sub="eviction",
            code=429,
        )
    scene.asked(
        90, BOSS, "patch", "gpu-002", {"spec": {"unschedulable": None}}
    )
    scene.node(90.02, "gpu-002", "kubectl", cordon=False)
    return scene.decided(
        "gpu-002",
        "cordoned",
        "manual-drain",
        user(BOSS),
        boots=(1, 1),
        back=True,
    )


@incident
def a_fault_of_a_neighbour_is_no_cause() -> Scene:
    scene = Scene()
    scene.node(20, "gpu-001", NPD, conditions=DEADLOCK)
    scene.dies(40, "gpu-002", 600)
    scene.expect(
        "gpu-001",
        "degraded",
        "abrupt",
        fault="hung-kernel",
        boots=(1, 1),
        accept={"mode": ["unknown"]},
    )
    return scene.unexplained("gpu-002")


@incident
def one_person_cordons_and_another_reboots() -> Scene:
    scene = web(Scene(audit=True))
    scene.asked(20, BOSS, "patch", "gpu-002", OFF)
    scene.node(20.02, "gpu-002", "kubectl", cordon=True)
    scene.asked(
        25,
        "erin@example.com",
        "create",
        "web-0",
        {},
        resource="pods",
        space="train",
        sub="eviction",
    )
    scene.evicts(25.1, "web-0")
    scene.silent(70, "gpu-002").stale(117, "gpu-002").boots(400, "gpu-002")
    back = {"spec": {"unschedulable": None}}
    scene.asked(460, "erin@example.com", "patch", "gpu-002", back)
    scene.node(460.02, "gpu-002", "kubectl", cordon=False)
    return scene.rebooted("gpu-002", "manual-drain", (["user"], None))
