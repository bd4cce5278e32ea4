"""What looks like a machine that was lost, and is the same boot."""

from typing import Any

from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.parts import fine, uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import or_fault
from tests.scenarios.telling.world import LEASES, NODES
from tests.scenarios.upgrades.operators import web
from tests.scenarios.workloads.work import FOUR, JOBS, gang, hits_one, owned

SIX = tuple(f"gpu-00{number}" for number in range(1, 7))
ZONE = "topology.kubernetes.io/zone"
PLEG = "PLEG is not healthy: pleg was last seen active 3m2s ago"
AWAY = "node.cloudprovider.kubernetes.io/shutdown:NoSchedule"


def zoned() -> Scene:
    """Return six nodes, three in each of two zones."""
    scene = Scene(*SIX)
    for place, node in enumerate(SIX):
        label = {ZONE: "zone-a" if place < 3 else "zone-b"}
        scene.node(-1700, node, "cloud-controller-manager", labels=label)
    return scene


@incident
def a_kernel_is_patched_while_it_runs() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    info = {"osImage": "Ubuntu 24.04.4 LTS"}
    scene.node(20, "gpu-002", "kubelet", info=info)
    note = {"livepatch.example.com/applied": "115.2"}
    scene.node(21, "gpu-002", "livepatchd", notes=note)
    scene.says(
        21.4,
        "livepatchd",
        "KernelPatched",
        "Applied livepatch 115.2; no reboot is required",
        node="gpu-002",
    )
    return scene.asks(0, 600, node="gpu-002").asks(0, 600, node="gpu-001")


@incident
def a_machine_is_moved_to_another_host() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    for at in (10, 20, 58, 68, 78):
        scene.renews(at, "gpu-002")
    return scene.asks(0, 300, node="gpu-002")


@incident
def a_certificate_expires_and_the_kubelet_is_shut_out() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.silent(20, "gpu-002").stale(67, "gpu-002").unreachable(72, "gpu-002")
    scene.tainted_away(372, "w-1")
    scene.starts(1500, "gpu-002").heals(1501, "gpu-002")
    scene.fails(1503, "w-1", 143).gone(1503.4, "w-1")
    hits_one(scene)
    return scene.kubelet_restarted("gpu-002", back=True)


@incident
def a_kubelet_loses_sight_of_its_containers() -> Scene:
    scene = Scene()
    unready = {"Ready": ("False", "KubeletNotReady", PLEG)}
    scene.node(20, "gpu-002", "kubelet", conditions=unready)
    scene.kubelet(20.1, "gpu-002", "NodeNotReady", "NodeNotReady")
    taint = {"node.kubernetes.io/not-ready:NoSchedule": ""}
    scene.node(20.2, "gpu-002", KCM, taints={**taint})
    for at in range(30, 230, 10):
        scene.renews(at, "gpu-002")
    scene.heals(230, "gpu-002")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="kubelet-failure",
        boots=(1, 1),
        accept={
            "mode": ["unknown"],
            "happened": ["unreachable"],
            **or_fault("runtime-failure", "other-fault"),
        },
    )


@incident
def a_node_is_given_another_address() -> Scene:
    scene = Scene()

    def moved(node: dict[str, Any]) -> set[tuple[str, ...]]:
        found = [{"type": "InternalIP", "address": "10.9.8.7"}]
        node["status"]["addresses"] = found
        return {("f:status", "f:addresses")}

    scene.starts(20, "gpu-002")
    by = "kubelet"
    scene.alters(20.2, NODES, "gpu-002", moved, by=by, sub="status")
    scene.renews(20.4, "gpu-002")
    return scene.kubelet_restarted("gpu-002")


@incident
def a_machine_sleeps_over_night() -> Scene:
    scene = web(Scene())
    by = "cloud-controller-manager"
    scene.silent(20, "gpu-002").stale(67, "gpu-002")
    scene.node(71, "gpu-002", by, taints={AWAY: ""})
    scene.unreachable(72, "gpu-002")
    scene.tainted_away(372, "web-0")
    scene.heals(28800, "gpu-002")
    scene.node(28815, "gpu-002", by, taints={AWAY: None})
    scene.fails(28803, "web-0", 143).gone(28803.2, "web-0")
    return scene.expect(
        "gpu-002",
        "unreachable",
        "planned",
        most="possible",
        boots=(1, 1),
        back=True,
        accept={
            "mode": ["abrupt", "unknown"],
            "fault": ["network-partition"],
            "decision": ["host-maintenance"],
            "cause": ["network-partition", "host-maintenance"],
        },
    )


@incident
def a_clock_of_a_node_goes_back_five_minutes() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))

    def renewed(at: float) -> Any:
        def change(lease: dict[str, Any]) -> set[tuple[str, ...]]:
            lease["spec"]["renewTime"] = fine(at)
            return {("f:spec",)}

        return change

    for at in range(10, 400, 10):
        renewal = renewed(at if at < 100 else at - 300)
        space = "kube-node-lease"
        scene.alters(at, LEASES, "gpu-002", renewal, by="kubelet", space=space)
    down = {"NTPProblem": ("True", "NTPIsDown", "NTP service is not running")}
    scene.node(200, "gpu-002", NPD, conditions=down)
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="other-fault",
        boots=(1, 1),
        accept={"happened": [None], "mode": ["unknown"]},
    )


@incident
def a_webhook_is_out_and_nothing_can_be_made() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    for at in (20, 30, 60):
        scene.says(
            at,
            "job-controller",
            "FailedCreate",
            "Error creating: Internal error occurred: failed calling webhook"
            ' "mutate.example.com": connection refused',
            about={
                "kind": "Job",
                "namespace": "train",
                "name": "llm",
                "apiVersion": "batch/v1",
                "uid": uid_of("Job", "train", "llm", "1"),
            },
            type="Warning",
        )
    scene.runs(200, "w-0", "gpu-002", of=job)
    return scene.asks(0, 300, node="gpu-002").asks(0, 300, node="gpu-003")


@incident
def etcd_loses_its_leader_and_half_of_the_nodes_look_lost() -> Scene:
    scene = zoned()
    lost = ("gpu-001", "gpu-003", "gpu-005")
    for place, node in enumerate(lost):
        scene.silent(20 + 3 * place, node)
    for node in lost:
        scene.stale(74, node)
    for place, node in enumerate(lost):
        scene.heals(76 + place / 2, node)
        scene.cut_off(
            node,
            "control-plane-outage",
            most="possible",
            accept={"mode": ["unknown"], **or_fault("network-partition")},
        )
    return scene


@incident
def a_zone_is_cut_off() -> Scene:
    scene = zoned()
    for place, node in enumerate(SIX[3:]):
        scene.silent(20 + place, node).stale(68 + place, node)
        scene.heals(600 + place, node)
        scene.cut_off(node, "network-partition", most="likely")
    return scene.asks(0, 900, labels={ZONE: "zone-b"})


@incident
def a_zone_loses_its_power() -> Scene:
    scene = zoned()
    for place, node in enumerate(SIX[3:]):
        scene.silent(20 + 2 * place, node).stale(68 + 2 * place, node)
        scene.boots(900 + 60 * place, node)
        scene.broke(node, "power-loss", back=True, accept=or_fault(None))
    return scene


@incident
def one_of_two_neighbours_was_only_cut_off() -> Scene:
    racks = dict.fromkeys(FOUR[:2], "rack-a") | dict.fromkeys(
        FOUR[2:], "rack-b"
    )
    scene = Scene(*FOUR, racks=racks)
    scene.runs(-5, "m-0", "gpu-004", of=owner("Job", "mine", "batch/v1"))
    scene.silent(20, "gpu-003").silent(24, "gpu-004")
    scene.stale(67, "gpu-003").stale(71, "gpu-004")
    scene.boots(400, "gpu-003").heals(300, "gpu-004")
    scene.hit(
        "Job",
        "mine",
        "gpu-004",
        ["m-0"],
        size=1,
        gpus=8,
        outcome="survived",
        optional=True,
    )
    scene.unexplained(
        "gpu-003", most="possible", accept=or_fault("power-loss")
    )
    return scene.cut_off("gpu-004", "network-partition", most="likely")
