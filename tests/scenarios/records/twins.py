"""Several things happen at once, and are not to be mixed up."""

from tests.scenarios.provider.provider import CA, marks
from tests.scenarios.remediation.remediation import (
    NHC,
    quarantines,
    releases,
    remediates,
)
from tests.scenarios.requests.people import asks_eviction, cordons
from tests.scenarios.requests.requests import xid
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import (
    OR_FAILED,
    controller,
    or_fault,
    user,
)
from tests.scenarios.upgrades.boots import RACKS
from tests.scenarios.workloads.work import FOUR, JOBS, gang, owned

PDU = "topology.example.com/pdu"


@incident
def two_nodes_of_a_gang_fail_for_different_reasons() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    gang(scene, owned(scene, "Job", JOBS), on=FOUR)
    kind = "SysLogsXIDError"
    by = "platform-connectors"
    scene.node(20, "gpu-003", by, conditions={kind: xid(79)})
    scene.node(21, "gpu-003", "kubelet", gpus=7)
    quarantines(scene, 23, "gpu-003")
    scene.evicts(26, "w-2")
    scene.silent(50, "gpu-001").stale(97, "gpu-001")
    scene.unreachable(102, "gpu-001")
    remediates(scene, 60, "gpu-003")
    scene.makes(
        61,
        "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
        "RebootNode",
        "maintenance-gpu-003-68d01",
        by="fault-remediation",
        spec={"nodeName": "gpu-003", "force": False},
    )
    scene.silent(90, "gpu-003").stale(137, "gpu-003")
    scene.boots(420, "gpu-001").boots(450, "gpu-003")
    scene.fails(421, "w-0", 255, "Unknown")
    sound = "False", f"{kind}IsHealthy", "No Health Failures"
    scene.node(470, "gpu-003", by, conditions={kind: sound})
    releases(scene, 480, "gpu-003")
    scene.hit(
        "Job",
        "llm",
        "gpu-003",
        ["w-0", "w-2"],
        size=4,
        gpus=32,
        nodes=["gpu-001", "gpu-003"],
        by="drain",
        # Asked about one of them, what that one is charged with.
        accept={**OR_FAILED, "pods_hit": [["w-0"], ["w-2"]]},
    )
    scene.rebooted(
        "gpu-003",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )
    scene.asks(0, 600, rack="rack-a", workloads=["Job/train/llm"])
    scene.asks(0, 600, node="gpu-003", verdicts=[0])
    scene.asks(0, 600, node="gpu-001", verdicts=[1])
    return scene.unexplained("gpu-001")


@incident
def a_node_of_several_gangs_crashes() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    mine = owned(scene, "PyTorchJob", "kubeflow.org/v1/pytorchjobs")
    for place, node in enumerate(("gpu-002", "gpu-003")):
        scene.runs(-5, f"p-{place}", node, of=mine, gpus=4)
    ray = "ray.io/v1/rayclusters"
    scene.makes(
        -20, ray, "RayCluster", "tune", by="kuberay-operator", space="train"
    )
    tune = owner("RayCluster", "tune", "ray.io/v1")
    for place, node in enumerate(("gpu-001", "gpu-002")):
        scene.runs(-5, f"r-{place}", node, of=tune, gpus=4)
    scene.makes(
        -20,
        "kubeflow.org/v2beta1/mpijobs",
        "MPIJob",
        "far",
        by="mpi-operator",
        space="train",
    )
    far = owner("MPIJob", "far", "kubeflow.org/v2beta1")
    for place, node in enumerate(("gpu-001", "gpu-003")):
        scene.runs(-5, f"m-{place}", node, of=far, gpus=4)
    scene.dies(20, "gpu-002", 900)
    for pod in ("p-0", "r-1"):
        scene.tainted_away(372, pod)
        scene.fails(911, pod, 255, "Unknown").gone(911.3, pod)
    scene.hit("PyTorchJob", "llm", "gpu-002", ["p-0"], size=2, gpus=8)
    scene.hit("RayCluster", "tune", "gpu-002", ["r-1"], size=2, gpus=8)
    both = ["PyTorchJob/train/llm", "RayCluster/train/tune"]
    scene.asks(0, 1000, node="gpu-002", verdicts=[0], workloads=both)
    scene.asks(0, 1000, rack="rack-a", workloads=both)
    scene.asks(0, 1000, rack="rack-b")
    host = {"kubernetes.io/hostname": "gpu-002"}
    scene.asks(0, 1000, labels=host, workloads=both)
    return scene.unexplained("gpu-002")


@incident
def a_container_runs_out_of_memory_beside_a_crash() -> Scene:
    scene = Scene()
    scene.runs(-5, "mine-0", "gpu-002", of=owner("Job", "mine", "batch/v1"))
    scene.runs(-5, "fat-0", "gpu-003", of=owner("Job", "fat", "batch/v1"))
    scene.says(
        18,
        "kernel-monitor",
        "OOMKilling",
        "Memory cgroup out of memory: Killed process 99 (python3)",
        node="gpu-003",
        host="gpu-003",
        type="Warning",
    )
    scene.fails(18.5, "fat-0", 137, "OOMKilled")
    scene.dies(20, "gpu-002", 600).fails(611, "mine-0", 255, "Unknown")
    scene.hit("Job", "mine", "gpu-002", ["mine-0"], size=1, gpus=8)
    scene.hit("Job", "fat", "gpu-003", ["fat-0"], size=1, gpus=8)
    scene.unexplained("gpu-002", back=None)
    scene.asks(0, 700, node="gpu-002", verdicts=[0])
    return scene.expect(
        "gpu-003",
        "degraded",
        "abrupt",
        fault="container-oom",
        accept={"mode": ["unknown"]},
    )


@incident
def one_drains_by_hand_while_another_is_scaled_down() -> Scene:
    scene = Scene(audit=True)
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    scene.runs(-5, "web-1", "gpu-003", gpus=0)
    cordons(scene, 20, "dave@example.com")
    marks(scene, 21, "1772359221", "gpu-003")
    asks_eviction(scene, 21.5, "dave@example.com", "web-0")
    scene.evicts(21.6, "web-0").evicts(22, "web-1")
    scene.leaves(100, "gpu-003")
    cordons(scene, 300, "dave@example.com", on=False)
    for pod, node in (("web-0", "gpu-002"), ("web-1", "gpu-003")):
        scene.hit_pod(
            pod,
            node,
            by="drain",
            accept={"hit_by": ["node-failure"]} if pod == "web-1" else {},
        )
    scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        user("dave@example.com"),
        boots=(1, 1),
        back=True,
    )
    scene.asks(
        0, 400, node="gpu-002", verdicts=[0], workloads=["Pod/train/web-0"]
    )
    scene.asks(
        0, 400, node="gpu-003", verdicts=[1], workloads=["Pod/train/web-1"]
    )
    return scene.decided(
        "gpu-003",
        "removed",
        "scale-down",
        controller(CA),
        never=["dave@example.com"],
        back=False,
    )


@incident
def a_rack_goes_dark_and_a_kubelet_restarts_elsewhere() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    gang(scene, owned(scene, "Job", JOBS), on=FOUR)
    scene.silent(22, "gpu-003").silent(27, "gpu-004").starts(25, "gpu-001")
    scene.stale(68, "gpu-003").stale(73, "gpu-004")
    scene.unreachable(78, "gpu-003", "gpu-004")
    scene.tainted_away(378, "w-2", "w-3")
    scene.boots(520, "gpu-004").boots(610, "gpu-003")
    for node in ("gpu-003", "gpu-004"):
        scene.broke(node, "power-loss", back=True)
    scene.hit(
        "Job",
        "llm",
        "gpu-003",
        ["w-2", "w-3"],
        size=4,
        gpus=32,
        nodes=["gpu-003", "gpu-004"],
        accept={
            "nodes": [["gpu-001", "gpu-003", "gpu-004"]],
            "pods_hit": [["w-0", "w-2", "w-3"]],
        },
    )
    scene.asks(0, 700, rack="rack-b", workloads=["Job/train/llm"])
    scene.asks(0, 700, node="gpu-003", verdicts=[0])
    scene.asks(0, 700, node="gpu-002")
    return scene.kubelet_restarted("gpu-001")


@incident
def a_feed_fails_that_two_racks_share() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    for node, feed in zip(FOUR, ("a", "b", "a", "b"), strict=True):
        label = {PDU: f"pdu-{feed}"}
        scene.node(-1700, node, "kubectl-label", labels=label)
    scene.silent(20, "gpu-001").silent(26, "gpu-003")
    scene.stale(67, "gpu-001").stale(73, "gpu-003")
    scene.boots(300, "gpu-001").boots(380, "gpu-003")
    for node in ("gpu-001", "gpu-003"):
        scene.broke(node, "power-loss", back=True, accept=or_fault(None))
    return scene.asks(0, 500, labels={PDU: "pdu-a"})


@incident
def a_health_check_holds_still_while_the_control_plane_is_out() -> Scene:
    scene = Scene(*FOUR, racks=RACKS)
    gang(scene, owned(scene, "Job", JOBS), on=FOUR)
    for place, node in enumerate(("gpu-003", "gpu-001", "gpu-004", "gpu-002")):
        scene.silent(20 + place, node)
    for node in FOUR:
        scene.stale(69, node)
    scene.says(
        75,
        "NodeHealthCheck",
        "RemediationSkipped",
        "[remediation] Skipped remediation because the number of healthy"
        " nodes selected by the selector is 0 and should equal or exceed 3",
        about=NHC,
        type="Warning",
    )
    for place, node in enumerate(FOUR):
        scene.heals(80 + place, node)
        scene.cut_off(node, "control-plane-outage")
    scene.hit(
        "Job",
        "llm",
        "gpu-003",
        ["w-0", "w-1", "w-2", "w-3"],
        size=4,
        gpus=32,
        nodes=list(FOUR),
        outcome="survived",
        optional=True,
    )
    scene.asks(0, 300, rack="rack-a", workloads=["Job/train/llm"])
    return scene.asks(0, 300, node="gpu-002", verdicts=[1])
