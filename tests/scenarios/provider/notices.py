"""Providers take machines away, and say so before, or do not."""

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import CLOUD, NTH, XID
from tests.scenarios.requests.requests import NPD
from tests.scenarios.telling.parts import BEGAN
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import OR_FAILED, cloud


@incident
def a_spot_machine_is_taken_back() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.says(
        20,
        NTH,
        "SpotInterruption",
        "Spot Interruption event received."
        " Instance i-0abc will be interrupted",
        node="gpu-002",
        type="Warning",
    )
    scene.node(
        20.2,
        "gpu-002",
        NTH,
        cordon=True,
        taints={f"{NTH}/spot-itn:NoSchedule": ""},
    )
    scene.says(
        21,
        NTH,
        "CordonAndDrain",
        "Node successfully cordoned and drained",
        node="gpu-002",
    )
    scene.evicts(21.5, "web-0").silent(130, "gpu-002").stale(176, "gpu-002")
    vanishes(scene, 190, "gpu-002")
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return scene.decided(
        "gpu-002", "removed", "preemption", cloud(NTH), back=False
    )


@incident
def a_scheduled_event_reboots_the_host() -> Scene:
    scene = Scene()
    scene.says(
        20,
        NTH,
        "ScheduledEvent",
        "system-reboot will occur",
        node="gpu-002",
        type="Warning",
    )
    scene.node(
        20.2,
        "gpu-002",
        NTH,
        cordon=True,
        taints={f"{NTH}/scheduled-maintenance:NoSchedule": ""},
        labels={f"{NTH}/action": "UncordonAfterReboot"},
    )
    scene.dies(300, "gpu-002", 600)
    scene.says(
        640, NTH, "Uncordon", "Node successfully uncordoned", node="gpu-002"
    )
    scene.node(
        640.1,
        "gpu-002",
        NTH,
        cordon=False,
        taints={f"{NTH}/scheduled-maintenance:NoSchedule": None},
        labels={f"{NTH}/action": None},
    )
    return scene.rebooted("gpu-002", "host-maintenance", cloud(NTH))


@incident
def azure_takes_a_spot_machine_back() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        NPD,
        conditions={
            "VMEventScheduled": (
                "True",
                "PreemptScheduled",
                "Preempt at Sun, 01 Mar 2026 10:00:50",
            )
        },
    )
    scene.says(
        20.1,
        "custom-scheduledevents-consolidated-preempt-plugin-monitor",
        "PreemptScheduled",
        "Preempt Scheduled: Sun, 01 Mar 2026 10:00:50 GMT",
        node="gpu-002",
        type="Warning",
    )
    scene.silent(55, "gpu-002").stale(101, "gpu-002").leaves(160, "gpu-002")
    return scene.decided(
        "gpu-002", "removed", "preemption", cloud(), back=False
    )


@incident
def azure_freezes_a_machine() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        NPD,
        conditions={
            "VMEventScheduled": (
                "True",
                "FreezeScheduled",
                "Freeze at Sun, 01 Mar 2026 10:15:00",
            )
        },
    )
    scene.silent(900, "gpu-002").stale(946, "gpu-002").heals(960, "gpu-002")
    scene.node(
        970,
        "gpu-002",
        NPD,
        conditions={
            "VMEventScheduled": ("False", "NoVMEventScheduled", "none")
        },
    )
    return scene.decided(
        "gpu-002",
        "unreachable",
        "host-maintenance",
        cloud(),
        boots=(1, 1),
        back=True,
    )


def _maintained(at: float) -> dict[str, str | None]:
    when = str(int(BEGAN.timestamp() + at))
    return {"cloud.google.com/scheduled-maintenance-time": when}


@incident
def google_maintains_a_host_when_it_said() -> Scene:
    scene = Scene().node(
        20, "gpu-002", "gke-node-manager", labels=_maintained(9000)
    )
    scene.dies(9030, "gpu-002", 9400)
    scene.node(
        9500,
        "gpu-002",
        "gke-node-manager",
        labels={"cloud.google.com/scheduled-maintenance-time": None},
    )
    return scene.rebooted("gpu-002", "host-maintenance", cloud())


@incident
def google_will_maintain_a_host_tomorrow_and_it_crashes() -> Scene:
    scene = Scene().node(
        20, "gpu-002", "gke-node-manager", labels=_maintained(90000)
    )
    scene.dies(300, "gpu-002", 700)
    return scene.unexplained("gpu-002", back=None)


@incident
def a_stopped_instance_is_cleaned_up() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    scene.node(
        70,
        "gpu-002",
        "cloud-controller-manager",
        taints={"node.cloudprovider.kubernetes.io/shutdown:NoSchedule": ""},
    )
    vanishes(scene, 100, "gpu-002")
    return scene.expect(
        "gpu-002",
        "removed",
        "unknown",
        decision="node-deletion",
        actor=cloud(CLOUD),
        back=False,
        accept={"mode": ["planned", "abrupt"]},
    )


@incident
def eks_replaces_what_broke() -> Scene:
    scene = Scene().node(
        20, "gpu-002", "eks-node-monitoring-agent", conditions=XID
    )
    scene.silent(700, "gpu-002").stale(746, "gpu-002")
    vanishes(scene, 800, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        cloud(CLOUD),
        fault="gpu-fault",
        accept={
            "mode": ["unknown", "abrupt"],
            "decision": ["auto-remediation"],
        },
    )


@incident
def nebius_maintains_a_host() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        "soperator",
        conditions={
            "NebiusMaintenanceScheduled": ("True", "Scheduled", "at 10:10")
        },
    )
    scene.node(
        30,
        "gpu-002",
        "soperator",
        conditions={
            "SlurmNodeDrain": ("True", "[node_problem]", "maintenance")
        },
    )
    scene.dies(600, "gpu-002", 1200)
    return scene.rebooted("gpu-002", "host-maintenance", cloud(), back=None)
