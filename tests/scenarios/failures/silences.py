"""Nodes fall silent, or only seem to."""

from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.cluster import KCM
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import or_decision
from tests.scenarios.upgrades.boots import RACKS
from tests.scenarios.workloads.work import JOBS, owned


@incident
def a_kubelet_is_restarted() -> Scene:
    scene = Scene().starts(20, "gpu-002")
    return scene.kubelet_restarted("gpu-002")


@incident
def a_kubelet_was_dead_for_minutes() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    scene.starts(300, "gpu-002").heals(300.5, "gpu-002")
    return scene.kubelet_restarted("gpu-002", back=True)


@incident
def a_kubelet_crashes_again_and_again() -> Scene:
    scene = Scene()
    for at in (20, 80, 140):
        scene.starts(at, "gpu-002")
    scene.node(
        150,
        "gpu-002",
        NPD,
        conditions={
            "FrequentKubeletRestart": (
                "True",
                "FrequentKubeletRestart",
                "Found 5 matching logs",
            )
        },
    )
    for _ in range(3):
        scene.kubelet_restarted("gpu-002", most="proven")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        accept={"happened": [None]},
        fault="kubelet-failure",
    )


@incident
def a_container_runtime_is_down() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        NPD,
        conditions={
            "ContainerRuntimeUnhealthy": (
                "True",
                "ContainerdUnhealthy",
                "crictl: timed out",
            )
        },
    )
    scene.node(
        50,
        "gpu-002",
        "kubelet",
        conditions={
            "Ready": ("False", "KubeletNotReady", "container runtime is down")
        },
    )
    scene.kubelet(50, "gpu-002", "NodeNotReady", "NodeNotReady")
    scene.node(
        50.1,
        "gpu-002",
        KCM,
        taints={"node.kubernetes.io/not-ready:NoSchedule": ""},
    )
    scene.node(
        200,
        "gpu-002",
        NPD,
        conditions={
            "ContainerRuntimeUnhealthy": (
                "False",
                "ContainerRuntimeIsHealthy",
                "well",
            )
        },
    )
    scene.heals(201, "gpu-002")
    return scene.expect(
        "gpu-002", "degraded", "abrupt", fault="runtime-failure"
    )


@incident
def a_network_was_cut() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002").heals(200, "gpu-002")
    return scene.cut_off("gpu-002", "network-partition", most="likely")


@incident
def a_rack_was_cut_off() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    for node in ("gpu-001", "gpu-002"):
        scene.silent(20, node).stale(66, node).heals(200, node)
        scene.cut_off(node, "network-partition", most="likely")
    return scene


@incident
def the_control_plane_was_out() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    for node in RACKS:
        scene.silent(20, node)
    for node in RACKS:
        scene.stale(66, node)
    for place, node in enumerate(RACKS):
        scene.heals(70 + place, node)
        scene.cut_off(node, "control-plane-outage")
    return scene


@incident
def a_node_is_evicted_after_the_heal() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    for node in RACKS:
        scene.silent(20, node).stale(66, node)
    for node in ("gpu-001", "gpu-002", "gpu-004"):
        scene.heals(70, node)
    scene.renews(70, "gpu-003").unreachable(74, "gpu-003")
    scene.heals(80, "gpu-003")
    for node in RACKS:
        scene.cut_off(node, "control-plane-outage")
    return scene


@incident
def everybody_is_registered_anew() -> Scene:
    scene = Scene()
    for node in scene.names:
        scene.joined(20, node)
    return scene


@incident
def a_node_is_gone_and_stays_gone() -> Scene:
    scene = Scene().dies(20, "gpu-002")
    return scene.expect(
        "gpu-002",
        "unreachable",
        "abrupt",
        most="unknown",
        back=False,
        accept={"mode": ["unknown"]},
    )


@incident
def a_kubelet_waits_for_its_runtime_and_somebody_reboots_it() -> Scene:
    scene = Scene(audit=True)
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "llm-0", "gpu-002", of=job)
    says = "[container runtime is down, PLEG is not healthy: 3m5.1s ago]"
    out = {"Ready": ("False", "KubeletNotReady", says)}
    scene.node(20, "gpu-002", "kubelet", conditions=out)
    taint = "node.kubernetes.io/not-ready:NoSchedule"
    scene.node(20.4, "gpu-002", KCM, taints={taint: ""})
    # The kubelet is there, and renews its lease.
    who = "erin@example.com"
    body = {"spec": {"unschedulable": True}}
    scene.asked(140, who, "patch", "gpu-002", body)
    scene.node(140.02, "gpu-002", "kubectl", cordon=True)
    scene.asked(
        141,
        who,
        "create",
        "llm-0",
        {},
        resource="pods",
        space="train",
        sub="eviction",
    )
    why = "EvictionByEvictionAPI", "Eviction API: evicting"
    scene.pod(141.1, "llm-0", "kube-apiserver", disrupted=why, deleting=True)
    scene.silent(230, "gpu-002").stale(276, "gpu-002").boots(420, "gpu-002")
    scene.fails(431, "llm-0", 255, "Unknown").gone(431.3, "llm-0")
    scene.runs(432, "llm-1", "gpu-003", of=job)
    scene.node(900, "gpu-002", "kubectl", cordon=False)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["llm-0"],
        size=1,
        gpus=8,
        by="drain",
        outcome="rescheduled",
        accept={"hit_by": ["node-failure"]},
    )
    return scene.rebooted(
        "gpu-002",
        "manual-drain",
        (["user"], who),
        fault="runtime-failure",
        most="likely",
        # Of the two, the record of one may be lost.
        accept={
            **or_decision("admin-request"),
            "fault": [None],
            "cause": ["admin-request", "manual-drain"],
        },
    )
