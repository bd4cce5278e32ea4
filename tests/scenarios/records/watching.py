"""Controllers that only watch, and words that only look like an order."""

from typing import Any

from tests.scenarios.provider.provider import claim, says_of_claim
from tests.scenarios.remediation.remediation import CORDONED, quarantines
from tests.scenarios.remediation.trials import CONNECTORS, LOST
from tests.scenarios.requests.people import ON
from tests.scenarios.requests.requests import STATE, xid
from tests.scenarios.telling.parts import uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import controller, or_decision, or_fault
from tests.scenarios.telling.world import NODES, PODS

EVENT = "quarantineHealthEvent"
MHC = {
    "kind": "MachineHealthCheck",
    "namespace": "openshift-machine-api",
    "name": "workers",
    "apiVersion": "machine.openshift.io/v1beta1",
    "uid": uid_of("MachineHealthCheck", "", "workers", "1"),
}
MAYBE = {"mode": ["unknown"], **or_decision("admin-request")}
"""Of a name that a person may have meant as a request."""


@incident
def nvsentinel_is_only_tried_out_and_the_machine_crashes() -> Scene:
    scene = Scene()
    scene.node(20, "gpu-002", CONNECTORS, conditions=LOST)
    scene.node(21, "gpu-002", "kubelet", gpus=7)
    notes = {EVENT: "[]", f"{EVENT}DryRun": "True"}
    scene.node(23, "gpu-002", "fault-quarantine", notes=notes)
    scene.dies(900, "gpu-002", 1200)
    return scene.broke("gpu-002", "gpu-fault")


@incident
def a_person_gives_back_what_nvsentinel_took_and_it_crashes() -> Scene:
    scene = Scene(audit=True)
    scene.node(20, "gpu-002", CONNECTORS, conditions=LOST)
    quarantines(scene, 23, notes={EVENT: "[]"})
    scene.asked(300, "dave@example.com", "patch", "gpu-002", ON)
    scene.node(300.02, "gpu-002", "kubectl", cordon=False)
    manual = {"quarantinedNodeUncordonedManually": "True"}
    notes = {EVENT: None, CORDONED: None, **manual}
    by = "fault-quarantine"
    scene.node(300.5, "gpu-002", by, notes=notes, labels={STATE: None})
    scene.dies(9000, "gpu-002", 9300)
    scene.decided(
        "gpu-002",
        "cordoned",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
        never=["dave@example.com"],
        boots=(1, 1),
        back=True,
    )
    return scene.broke("gpu-002", "gpu-fault", accept=or_fault(None))


@incident
def a_health_check_holds_back_and_somebody_cycles_the_power() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    says = (
        "Remediation restricted due to exceeded number of unhealthy machines"
        " (total: 3, unhealthy: 1, maxUnhealthy: 0)"
    )
    by = "machinehealthcheck-controller"
    scene.says(400, by, "RemediationRestricted", says, about=MHC)
    scene.boots(2400, "gpu-002")
    return scene.unexplained("gpu-002")


@incident
def karpenter_does_not_repair_where_too_much_is_broken() -> Scene:
    scene = Scene()
    claim(scene)
    stuck = {"KernelReady": ("False", "SoftLockup", "CPU stuck for 22s")}
    scene.node(20, "gpu-002", "eks-node-monitoring-agent", conditions=stuck)
    says = "more than 20% nodes are unhealthy in the nodepool"
    reason, by = "NodeRepairBlocked", "karpenter"
    scene.says(1821, by, reason, says, node="gpu-002", type="Warning")
    says_of_claim(scene, 1821, reason, says)
    return scene.expect(
        "gpu-002", "degraded", "abrupt", fault="hung-kernel", boots=(1, 1)
    )


@incident
def maintenance_is_planned_for_next_week_and_it_crashes() -> Scene:
    scene = Scene(audit=True)
    says = "window of 2026-03-08, 02:00 to 06:00"
    planned = {"MaintenancePlanned": ("True", "Scheduled", says)}
    body = {"status": {"conditions": [{"type": "MaintenancePlanned"}]}}
    who = "alice@example.com"
    scene.asked(20, who, "patch", "gpu-002", body, sub="status")
    scene.node(20.02, "gpu-002", "kubectl", conditions=planned)
    scene.dies(600, "gpu-002", 900)
    return scene.unexplained("gpu-002", most="possible", accept=MAYBE)


@incident
def a_script_says_that_a_reboot_is_required_and_it_crashes() -> Scene:
    scene = Scene()
    says = "/run/reboot-required: linux-image-6.8.0-85-generic"
    needed = {"KernelRebootRequired": ("True", "PackagesChanged", says)}
    for place, node in enumerate(scene.names):
        scene.node(20 + place, node, "curl", conditions=needed)
    scene.dies(600, "gpu-002", 900)
    return scene.unexplained("gpu-002", most="possible", accept=MAYBE)


@incident
def others_say_what_controllers_say_in_other_words() -> Scene:
    scene = Scene()
    for at, by, reason, says in (
        (20, "firmware-inventory", "Reboot", "Reboot is due in 30 days"),
        (30, "calendar-sync", "ScheduledEvent", "Team offsite on Friday"),
        (40, "cost-report", "SpotInterruption", "3 this month in the fleet"),
        (50, "runbook-index", "NodeRebootStart", "See the runbook"),
        (60, "backup", "Drain", "Draining the queue of snapshots"),
        (70, "ca-advisor", "ScaleDown", "It could be scaled down by night"),
        (80, "lab-notes", "Interrupt", "IRQ 17 is busy"),
        (90, "policy", "DisruptionTerminating", "Would disrupt: Empty"),
    ):
        scene.says(at, by, reason, says, node="gpu-002")
    scene.dies(200, "gpu-002", 500)
    return scene.unexplained("gpu-002", back=None)


@incident
def an_error_of_a_program_is_told_by_an_event_of_its_own_shape() -> Scene:
    scene = Scene()
    about = {"kind": "Node", "name": "gpu-002", "uid": "gpu-002"}
    scene.says(
        20,
        "syslog-health-monitor",
        "SysLogsXIDErrorIsNotHealthy",
        xid(31, "NONE")[2],
        about=about,
        type="SysLogsXIDError",
    )
    scene.dies(60, "gpu-002", 500)
    return scene.unexplained("gpu-002", back=None)


@incident
def kubernetes_itself_says_that_a_machine_shuts_down() -> Scene:
    scene = Scene()
    going = {
        "GracefulNodeShutdownInProgress": (
            "True",
            "ShutdownStarted",
            "the node is being shut down",
        )
    }
    scene.node(20, "gpu-002", "kubelet", conditions=going)
    scene.silent(60, "gpu-002").stale(107, "gpu-002")
    over = {
        "GracefulNodeShutdownInProgress": ("False", "NotShuttingDown", "up")
    }
    scene.boots(300, "gpu-002").node(
        311, "gpu-002", "kubelet", conditions=over
    )
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        most="likely",
        boots=(1, 2),
        back=True,
        accept={
            "mode": ["unknown"],
            **or_decision("admin-request", "host-maintenance"),
        },
    )


@incident
def gpus_are_cut_into_slices_and_none_is_lost() -> Scene:
    scene = Scene()

    def cut(node: dict[str, Any]) -> set[tuple[str, ...]]:
        for amounts in ("capacity", "allocatable"):
            node["status"][amounts]["nvidia.com/gpu"] = "4"
            node["status"][amounts]["nvidia.com/mig-3g.40gb"] = "8"
        return {("f:status", "f:capacity", "f:nvidia.com/gpu")}

    wanted = {"nvidia.com/mig.config": "half-balanced"}
    scene.node(20, "gpu-002", "kubectl-label", labels=wanted)
    scene.alters(90, NODES, "gpu-002", cut, by="kubelet", sub="status")
    return scene.asks(0, 300, node="gpu-002")


@incident
def slurm_says_afterwards_that_nobody_had_asked_it() -> Scene:
    scene = Scene().runs(-5, "slurmd-2", "gpu-002", space="slurm")
    scene.dies(20, "gpu-002", 320)
    lost: Any = {"ended": (255, "Unknown"), "again": True}
    scene.pod(321, "slurmd-2", "kubelet", space="slurm", **lost)

    def drains(pod: dict[str, Any]) -> None:
        pod["status"].setdefault("conditions", []).append(
            {
                "type": "SlurmNodeStateDrain",
                "status": "True",
                "reason": "Drain",
                "message": "Node unexpectedly rebooted",
            }
        )

    by = "slurm-operator"
    scene.alters(335, PODS, "slurmd-2", drains, by=by, space="slurm")
    notes = {
        "nodeset.slinky.slurm.net/node-cordon-reason": "Node unexpectedly"
        " rebooted"
    }
    scene.node(336, "gpu-002", by, notes=notes)
    more: Any = {"space": "slurm", "optional": True, "outcome": "restarted"}
    scene.hit_pod("slurmd-2", "gpu-002", gpus=8, **more)
    return scene.unexplained("gpu-002", most="possible", back=None)
