"""More than one thing happens to a machine, or to its name."""

from tests.scenarios.requests.orders import CONNECTORS
from tests.scenarios.requests.people import OFF, STEPS
from tests.scenarios.requests.people import STATE as DRIVER
from tests.scenarios.requests.requests import ASKED, OBEYED, xid
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import (
    OR_FAILED,
    SOMEONE,
    controller,
    or_fault,
    user,
)
from tests.scenarios.upgrades.boots import NEW, kured, locks
from tests.scenarios.upgrades.operators import web
from tests.scenarios.workloads.work import gang, hits_one, owned

ON = {"spec": {"unschedulable": None}}
XID = {"SysLogsXIDError": xid(79)}
WELL = {
    "SysLogsXIDError": (
        "False",
        "SysLogsXIDErrorIsHealthy",
        "No Health Failures",
    )
}
BOSS = "dave@example.com"


@incident
def three_reboots_in_ten_minutes_each_for_another_cause() -> Scene:
    scene = Scene(audit=True)
    kured(scene)
    locks(scene, 20, "gpu-002")
    scene.node(20.1, "gpu-002", "kured", cordon=True)
    scene.silent(40, "gpu-002").boots(80, "gpu-002", kernelVersion=NEW)
    scene.node(130, "gpu-002", "kured", cordon=False)
    locks(scene, 130.2)
    scene.dies(180, "gpu-002").boots(260, "gpu-002", 3)
    scene.says(
        266,
        "abrt-adaptor",
        "VMcore",
        "VMcore of a fatal kernel error was found",
        node="gpu-002",
        host="gpu-002",
        type="Warning",
    )
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    scene.asked(
        400, "alice@example.com", "patch", "gpu-002", body, sub="status"
    )
    scene.node(400.02, "gpu-002", "kubectl-edit", conditions=ASKED)
    by = "node-lifecycle-controller"
    scene.node(410, "gpu-002", by, cordon=True)
    gone = {**OBEYED, "PendingPhaseState": None}
    scene.node(420, "gpu-002", by, conditions=gone)
    scene.dies(430, "gpu-002").boots(560, "gpu-002", 4)
    over = {"NLCCImmediateReboot": None}
    scene.node(590, "gpu-002", by, cordon=False, conditions=over)
    scene.rebooted("gpu-002", "os-upgrade", controller("kured"))
    scene.broke(
        "gpu-002", "kernel-panic", most="proven", boots=(2, 3), back=True
    )
    scene.asks(0, 700, node="gpu-002", verdicts=[0, 1, 2])
    scene.asks(0, 170, node="gpu-002", verdicts=[0])
    scene.asks(390, 700, node="gpu-002", verdicts=[2])
    return scene.rebooted(
        "gpu-002",
        "admin-request",
        user("alice@example.com"),
        never=["kured"],
        boots=(3, 4),
    )


@incident
def two_machines_exchange_their_names() -> Scene:
    scene = Scene()
    for place, node in enumerate(("gpu-001", "gpu-002")):
        scene.leaves(20 + place, node)
    pairs = (("gpu-001", "gpu-002"), ("gpu-002", "gpu-001"))
    for place, (node, box) in enumerate(pairs):
        at = 300 + 20 * place
        scene.joins(at, node, box=box, boot=5 + place)
        scene.joined(at + 1, node).heals(at + 11, node)
        scene.decided(
            node,
            "replaced",
            "node-deletion",
            SOMEONE,
            boots=(1, 5 + place),
            back=True,
            accept={"mode": ["unknown", "abrupt"]},
        )
    return scene.asks(0, 600, node="gpu-002", verdicts=[1])


@incident
def a_person_deletes_a_pod_of_a_node_that_is_lost() -> Scene:
    scene = Scene(audit=True)
    job = owned(scene, "Job", "batch/v1/jobs")
    gang(scene, job)
    scene.silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    scene.asked(120, BOSS, "delete", "w-1", {}, resource="pods", space="train")
    scene.pod(120.1, "w-1", KCM, deleting=True).gone(120.3, "w-1")
    scene.runs(121, "x-1", "gpu-004", of=job)
    scene.boots(600, "gpu-002")
    hits_one(scene, outcome="rescheduled")
    return scene.unexplained("gpu-002")


@incident
def a_person_deletes_a_pod_of_a_node_that_is_well() -> Scene:
    scene = Scene(audit=True)
    job = owned(scene, "Job", "batch/v1/jobs")
    gang(scene, job)
    scene.asked(20, BOSS, "delete", "w-1", {}, resource="pods", space="train")
    scene.pod(20.1, "w-1", "kubectl", deleting=True)
    scene.fails(23, "w-1", 143).gone(23.2, "w-1")
    scene.runs(24, "x-1", "gpu-002", of=job)
    return scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-1"],
        size=3,
        gpus=24,
        by="deletion",
        outcome="restarted",
        again=24,
    ).asks(0, 300, node="gpu-002", workloads=["Job/train/llm"])


@incident
def a_pod_gives_way_in_the_moment_of_a_crash() -> Scene:
    scene = Scene()
    low = owner("Job", "low", "batch/v1")
    scene.runs(-5, "low-0", "gpu-002", of=low, gpus=4)
    scene.runs(
        -5, "mine-0", "gpu-002", of=owner("Job", "mine", "batch/v1"), gpus=4
    )
    why = "default-scheduler: preempting to accommodate a higher priority pod"
    scene.pod(
        12,
        "low-0",
        "kube-scheduler",
        deleting=True,
        disrupted=("PreemptionByScheduler", why),
    )
    scene.fails(16, "low-0", 143).gone(16.2, "low-0")
    scene.dies(20, "gpu-002", 600)
    scene.tainted_away(372, "mine-0")
    scene.fails(611, "mine-0", 255, "Unknown").gone(611.2, "mine-0")
    scene.hit("Job", "mine", "gpu-002", ["mine-0"], size=1, gpus=4)
    scene.hit(
        "Job",
        "low",
        "gpu-002",
        ["low-0"],
        size=1,
        gpus=4,
        by="preemption",
        outcome="preempted",
    )
    return scene.unexplained("gpu-002")


@incident
def a_driver_is_upgraded_and_then_somebody_reboots() -> Scene:
    scene = web(Scene(audit=True))
    by = "gpu-operator"
    scene.node(20, "gpu-002", by, labels={DRIVER: "upgrade-required"})
    for place, step in enumerate(STEPS):
        scene.node(30 + 20 * place, "gpu-002", by, labels={DRIVER: step})
    scene.node(31, "gpu-002", by, cordon=True).evicts(92, "web-0")
    scene.node(160, "gpu-002", by, cordon=False)
    scene.node(161, "gpu-002", by, labels={DRIVER: "upgrade-done"})
    scene.asked(1500, BOSS, "patch", "gpu-002", OFF)
    scene.node(1500.02, "gpu-002", "kubectl", cordon=True)
    scene.runs(1400, "web-1", "gpu-002", gpus=0)
    scene.asked(
        1501,
        BOSS,
        "create",
        "web-1",
        {},
        resource="pods",
        space="train",
        sub="eviction",
    )
    scene.evicts(1501.1, "web-1")
    scene.silent(1560, "gpu-002").stale(1607, "gpu-002")
    scene.boots(1800, "gpu-002")
    scene.asked(1900, BOSS, "patch", "gpu-002", ON)
    scene.node(1900.02, "gpu-002", "kubectl", cordon=False)
    scene.hit_pod("web-1", "gpu-002", by="drain", accept=OR_FAILED)
    scene.decided(
        "gpu-002",
        "drained",
        "driver-upgrade",
        controller(by),
        boots=(1, 1),
        back=True,
    )
    scene.asks(0, 1000, node="gpu-002", verdicts=[0])
    return scene.rebooted("gpu-002", "manual-drain", user(BOSS))


@incident
def a_gpu_falls_off_while_kured_is_at_work() -> Scene:
    scene = web(Scene())
    kured(scene)
    locks(scene, 20, "gpu-002")
    scene.node(20.1, "gpu-002", "kured", cordon=True).evicts(21, "web-0")
    scene.node(30, "gpu-002", CONNECTORS, conditions=XID)
    scene.silent(50, "gpu-002").boots(95, "gpu-002", kernelVersion=NEW)
    scene.node(105, "gpu-002", CONNECTORS, conditions=WELL)
    scene.node(150, "gpu-002", "kured", cordon=False)
    locks(scene, 150.2)
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("kured"),
        accept=or_fault("gpu-fault"),
    )


@incident
def somebody_deletes_a_node_whose_gpu_fell_off() -> Scene:
    scene = Scene(audit=True)
    scene.node(20, "gpu-002", CONNECTORS, conditions=XID)
    scene.asked(600, BOSS, "delete", "gpu-002", {})
    scene.leaves(600.1, "gpu-002")
    scene.joins(2000, "gpu-002", machine="b", boot=8)
    scene.joined(2001, "gpu-002").heals(2011, "gpu-002")
    return scene.decided(
        "gpu-002",
        "replaced",
        "node-deletion",
        user(BOSS),
        fault="gpu-fault",
        boots=(1, 8),
        back=True,
    )
