"""Two that act on one node at once, or one after the other halfway."""

from tests.scenarios.provider.clouds import vanishes
from tests.scenarios.provider.provider import (
    CA,
    NTH,
    TO_BE_DELETED,
    claim,
    claimed,
    disrupts,
    ends_claim,
    marks,
)
from tests.scenarios.remediation.remediation import NHC, finds_unhealthy
from tests.scenarios.requests.orders import quarantines, releases
from tests.scenarios.requests.people import cordons
from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND, xid
from tests.scenarios.telling.parts import uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    PROVIDER,
    cloud,
    controller,
    or_decision,
    or_lost_contact,
    user,
)
from tests.scenarios.upgrades.operators import web

SNR = "self-node-remediation.medik8s.io/v1alpha1/selfnoderemediations"
KARPENTER = "karpenter.sh/disrupted:NoSchedule"


@incident
def draino_drains_and_the_autoscaler_takes_what_is_empty() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", NPD, conditions=DEADLOCK)
    thing = {"kind": "Node", "name": "gpu-002", "uid": "gpu-002"}
    for at, reason in ((25, "CordonStarting"), (60, "DrainStarting")):
        scene.says(at, "draino", reason, "", about=thing, type="Warning")
    scene.node(25.1, "gpu-002", "draino", cordon=True).evicts(61, "web-0")
    marks(scene, 700, "1772359900")
    scene.leaves(780, "gpu-002")
    # Both are on record: it was drained for a fault, and taken as empty.
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        fault="hung-kernel",
        decision="auto-remediation",
        back=False,
        accept={
            "decision": ["scale-down"],
            "cause": ["scale-down"],
        },
    )


@incident
def a_silent_node_is_remediated_and_scaled_away() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    uid = {"uid": uid_of("NodeHealthCheck", "", "nhc-gpu", "1")}
    finds_unhealthy(scene, 367, NHC | uid)
    scene.makes(
        367.2,
        SNR,
        "SelfNodeRemediation",
        "gpu-002",
        by="manager",
        space="medik8s",
        metadata={
            "annotations": {"remediation.medik8s.io/node-name": "gpu-002"}
        },
        spec={},
    )
    scene.node(1300, "gpu-002", CA, taints={TO_BE_DELETED: "1772360500"})
    vanishes(scene, 1360, "gpu-002")
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        decision="auto-remediation",
        back=False,
        accept=or_lost_contact(
            {
                "mode": ["unknown", "abrupt"],
                **or_decision("scale-down", "node-deletion"),
            }
        ),
    )


@incident
def a_kubelet_restarts_while_a_node_is_drained() -> Scene:
    scene = web(Scene(audit=True))
    cordons(scene, 20, "dave@example.com")
    scene.evicts(21, "web-0").starts(300, "gpu-002")
    cordons(scene, 900, "dave@example.com", on=False)
    return scene.expect(
        "gpu-002",
        "kubelet-restart",
        "planned",
        fault="kubelet-failure",
        decision="manual-drain",
        actor=user("dave@example.com"),
        boots=(1, 1),
        back=True,
        accept={
            "happened": ["drained"],
            "mode": ["unknown", "abrupt"],
            "decision": [None],
            "fault": [None],
            "cause": ["manual-drain", "unrecorded"],
        },
    )


@incident
def a_machine_dies_while_karpenter_replaces_it() -> Scene:
    scene = web(Scene())
    claim(scene)
    says = "Disrupting Node: Drifted"
    scene.says(20, "karpenter", "DisruptionTerminating", says, node="gpu-002")
    claimed(scene, 20.2, "DisruptionReason", "Drifted")
    scene.node(20.5, "gpu-002", "karpenter", taints={KARPENTER: ""})
    scene.evicts(25, "web-0").silent(40, "gpu-002").stale(87, "gpu-002")
    ends_claim(scene, 90, 140)
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("karpenter"),
        back=False,
        accept={"mode": ["unknown"]},
    )


@incident
def a_spot_notice_comes_to_nothing() -> Scene:
    scene = web(Scene(audit=True))
    says = "Spot Interruption event received."
    scene.says(20, NTH, "SpotInterruption", says, node="gpu-002")
    taint = f"{NTH}/spot-itn:NoSchedule"
    scene.node(20.2, "gpu-002", NTH, cordon=True, taints={taint: ""})
    scene.evicts(21.5, "web-0")
    scene.asked(
        1800, "dave@example.com", "patch", "gpu-002", {"spec": {"taints": []}}
    )
    scene.node(1800.02, "gpu-002", "kubectl-taint", taints={taint: None})
    cordons(scene, 1801, "dave@example.com", on=False)
    scene.dies(5400, "gpu-002", 6000)
    scene.expect(
        "gpu-002",
        "drained",
        "planned",
        decision="preemption",
        actor=PROVIDER,
        never=["dave@example.com"],
        boots=(1, 1),
        back=True,
    )
    return scene.unexplained("gpu-002")


@incident
def a_scheduled_event_is_taken_back_and_it_crashes_soon() -> Scene:
    scene = Scene()
    says = "ScheduledEvent will occur: system-reboot"
    scene.says(20, NTH, "ScheduledEvent", says, node="gpu-002")
    taint = f"{NTH}/scheduled-maintenance:NoSchedule"
    scene.node(20.2, "gpu-002", NTH, cordon=True, taints={taint: ""})
    scene.says(300, NTH, "CancelDrain", "Drain is cancelled", node="gpu-002")
    scene.node(300.3, "gpu-002", NTH, cordon=False, taints={taint: None})
    scene.says(300.5, NTH, "Uncordon", "Node uncordoned", node="gpu-002")
    scene.dies(900, "gpu-002", 1500)
    scene.expect(
        "gpu-002",
        "cordoned",
        "planned",
        decision="host-maintenance",
        actor=PROVIDER,
        boots=(1, 1),
        back=True,
        accept={"mode": ["unknown"], **or_decision(None)},
    )
    return scene.unexplained("gpu-002")


@incident
def karpenter_fails_over_in_the_middle() -> Scene:
    scene = web(Scene())
    claim(scene)
    scene.node(20, "gpu-002", "karpenter", taints={KARPENTER: ""})
    scene.node(50, "gpu-002", "karpenter", taints={KARPENTER: None})
    disrupts(scene, 80, "Underutilized")
    scene.evicts(85, "web-0")
    return scene.decided(
        "gpu-002", "removed", "scale-down", controller("karpenter"), back=False
    )


@incident
def everybody_is_registered_anew_during_a_remediation() -> Scene:
    scene = web(Scene())
    bad = {"SysLogsXIDError": xid(79)}
    well = {"SysLogsXIDError": ("False", "SysLogsXIDErrorIsHealthy", "")}
    scene.node(20, "gpu-002", "platform-connectors", conditions=bad)
    quarantines(scene, 22)
    scene.evicts(24, "web-0")
    scene.silent(60, "gpu-002").stale(107, "gpu-002")
    for node in ("gpu-001", "gpu-002", "gpu-003"):
        scene.joined(150, node)
    scene.boots(400, "gpu-002")
    scene.node(420, "gpu-002", "platform-connectors", conditions=well)
    releases(scene, 430)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def a_person_takes_over_from_a_remediation() -> Scene:
    # A controller cordons for a fault; hours later a person deletes it.
    scene = web(Scene(audit=True))
    bad = {"SysLogsXIDError": xid(79)}
    scene.node(20, "gpu-002", "platform-connectors", conditions=bad)
    quarantines(scene, 22)
    scene.evicts(24, "web-0")
    scene.asked(9000, "dave@example.com", "delete", "gpu-002", {})
    scene.leaves(9000.02, "gpu-002")
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        fault="gpu-fault",
        decision="auto-remediation",
        back=False,
        accept={"decision": ["node-deletion"]},
    )


@incident
def two_remediations_one_after_the_other() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    aks = "aks-auto-repair"
    scene.says(30, aks, "NodeRebootStart", "initiating", node="gpu-002")
    scene.silent(40, "gpu-002").boots(100, "gpu-002")
    scene.node(115, "gpu-002", NPD, conditions=SOUND)
    scene.says(116, aks, "NodeRebootEnd", "completed", node="gpu-002")
    scene.node(1200, "gpu-002", NPD, conditions=DEADLOCK)
    scene.dies(1300, "gpu-002").boots(1900, "gpu-002", 3)
    scene.node(1915, "gpu-002", NPD, conditions=SOUND)
    # One Event is its only record: without it nothing was requested.
    scene.rebooted(
        "gpu-002",
        "auto-remediation",
        cloud(aks),
        fault="hung-kernel",
        accept={"mode": ["abrupt"]},
    )
    return scene.broke("gpu-002", "hung-kernel", boots=None, back=True)
