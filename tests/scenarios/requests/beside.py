"""People act beside controllers, or through them."""

from typing import Any

from tests.scenarios.provider.provider import CLAIMS, claim, ends_claim
from tests.scenarios.remediation.remediation import releases, remediates
from tests.scenarios.remediation.strangers import SETS
from tests.scenarios.remediation.trials import CONNECTORS, LOST, WELL, orders
from tests.scenarios.requests.people import (
    STATE,
    STEPS,
    asks_eviction,
    cordons,
)
from tests.scenarios.requests.requests import CW
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    By,
    controller,
    or_decision,
    or_fault,
    user,
)
from tests.scenarios.upgrades.operators import web

DAVE = "dave@example.com"
MACHINES = "cluster.x-k8s.io/v1beta2/machines"
NMO = "nodemaintenance.medik8s.io/v1beta1/nodemaintenances"
ON_ITS_WAY = {"mode": ["unknown"]}


def maintains(scene: Scene, at: float, node: str, done: float) -> None:
    """Let a person request maintenance by an object, and withdraw it."""
    by = "kubectl-create"
    name = f"maintenance-{node}"
    spec = {"nodeName": node, "reason": "new thermal paste"}
    scene.makes(at, NMO, "NodeMaintenance", name, by=by, spec=spec)
    taints: dict[str, str | None] = {"medik8s.io/drain:NoSchedule": ""}
    scene.node(at + 0.3, node, "manager", cordon=True, taints=taints)
    scene.removes(done, NMO, name)
    gone = dict.fromkeys(taints)
    scene.node(done + 0.3, node, "manager", cordon=False, taints=gone)


@incident
def a_person_drains_and_nvsentinel_reboots() -> Scene:
    scene = web(Scene(audit=True))
    cordons(scene, 20, DAVE)
    asks_eviction(scene, 20.5, DAVE, "web-0")
    scene.evicts(20.6, "web-0")
    scene.node(200, "gpu-002", CONNECTORS, conditions=LOST)
    scene.node(201, "gpu-002", "kubelet", gpus=7)
    notes = {"quarantineHealthEventCordonPreExisting": "True"}
    scene.node(203, "gpu-002", "fault-quarantine", notes=notes)
    remediates(scene, 220)
    orders(scene, 221, "maintenance-gpu-002-68f01")
    scene.silent(240, "gpu-002").stale(287, "gpu-002").boots(600, "gpu-002")
    scene.node(660, "gpu-002", CONNECTORS, conditions=WELL)
    releases(scene, 680)
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        never=[DAVE],
        fault="gpu-fault",
    )


@incident
def a_person_deletes_a_node_and_karpenter_ends_it() -> Scene:
    scene = web(Scene(audit=True))
    claim(scene)
    scene.asked(20, DAVE, "delete", "gpu-002", {})

    def ending(node: dict[str, Any]) -> None:
        node["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:20Z"

    scene.alters(20.02, "v1/nodes", "gpu-002", ending, by="kubectl")
    scene.evicts(24, "web-0")
    ends_claim(scene, 22, 90)
    return scene.decided(
        "gpu-002", "removed", "node-deletion", user(DAVE), back=False
    )


@incident
def a_person_deletes_the_claim_of_a_node() -> Scene:
    scene = web(Scene(audit=True))
    claim(scene)
    claims, name = CLAIMS.rpartition("/")[2], "pool-gpu-002"
    scene.asked(20, DAVE, "delete", name, {}, resource=claims)
    scene.evicts(24, "web-0")
    ends_claim(scene, 20.02, 90)
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        (["user", "controller", "unknown"], None),
        back=False,
        accept=ON_ITS_WAY,
    )


@incident
def an_upgrade_of_a_driver_fails_and_a_person_reboots() -> Scene:
    scene = web(Scene(audit=True))
    by = "gpu-operator"
    for place, step in enumerate(STEPS[:5]):
        scene.node(20 + 10 * place, "gpu-002", by, labels={STATE: step})
    scene.node(20.5, "gpu-002", by, cordon=True).evicts(51, "web-0")
    scene.node(600, "gpu-002", by, labels={STATE: "upgrade-failed"})
    note = {"ops.example.com/note": "reboot to unload nvidia_uvm"}
    body = {"metadata": {"annotations": note}}
    scene.asked(1000, DAVE, "patch", "gpu-002", body)
    scene.node(1000.02, "gpu-002", "kubectl-annotate", notes=note)
    scene.silent(1030, "gpu-002").stale(1077, "gpu-002")
    scene.boots(1400, "gpu-002")
    scene.node(1500, "gpu-002", by, labels={STATE: "upgrade-done"})
    scene.node(1501, "gpu-002", by, cordon=False)
    return scene.rebooted(
        "gpu-002",
        "driver-upgrade",
        (["controller", "user", "unknown"], None),
        fault="gpu-fault",
        accept={
            "mode": ["unknown"],
            **or_fault(None),
            "decision": [None, "manual-drain", "admin-request"],
            "cause": [
                "driver-upgrade",
                "manual-drain",
                "admin-request",
                "unrecorded",
            ],
        },
    )


@incident
def maintenance_is_called_off_and_it_crashes_later() -> Scene:
    scene = Scene()
    maintains(scene, 20, "gpu-002", 300)
    scene.dies(5000, "gpu-002", 5300)
    scene.decided(
        "gpu-002",
        "cordoned",
        "host-maintenance",
        controller("node-maintenance-operator"),
        boots=(1, 1),
        back=True,
    )
    return scene.unexplained("gpu-002")


@incident
def slurm_reboots_a_node_for_a_person() -> Scene:
    scene = Scene()
    by = "sunk-controller-manager"
    why = "reboot requested : firmware of the NICs [carol]"
    scene.node(
        20,
        "gpu-002",
        by,
        notes={"sunk.coreweave.com/drain": why},
        conditions={
            "SlurmDrain": ("True", "Drain", why),
            "SlurmCordon": ("True", "Drain", why),
        },
    )
    scene.node(21, "gpu-002", by, cordon=True)
    scene.silent(200, "gpu-002").stale(247, "gpu-002").boots(600, "gpu-002")
    scene.node(
        660,
        "gpu-002",
        by,
        cordon=False,
        notes={"sunk.coreweave.com/drain": None},
        conditions={"SlurmDrain": None, "SlurmCordon": None},
    )
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        most="likely",
        boots=(1, 2),
        back=True,
        accept={"mode": ["unknown"], **or_decision("admin-request")},
    )


@incident
def a_person_has_a_machine_remediated() -> Scene:
    scene = web(Scene(audit=True))
    name = "md-0-q9w2k"
    status: dict[str, Any] = {
        "nodeRef": {"name": "gpu-002"},
        "conditions": [],
    }
    more: Any = {"space": "fleet", "status": status}
    scene.makes(-900, MACHINES, "Machine", name, by="manager", **more)
    note = {"cluster.x-k8s.io/remediate-machine": ""}
    body = {"metadata": {"annotations": note}}
    scene.asked(
        20, DAVE, "patch", name, body, resource="machines", space="fleet"
    )

    def marked(machine: dict[str, Any]) -> None:
        machine["metadata"]["annotations"] = note

    by = "kubectl-annotate"
    scene.alters(20.02, MACHINES, name, marked, by=by, space="fleet")

    def unhealthy(machine: dict[str, Any]) -> None:
        machine["status"]["conditions"] = [
            {
                "type": "HealthCheckSucceeded",
                "status": "False",
                "reason": "HasRemediateAnnotation",
                "message": "Marked for remediation via annotation",
            },
            {
                "type": "OwnerRemediated",
                "status": "False",
                "reason": "WaitingForRemediation",
            },
        ]

    more = {"by": "manager", "space": "fleet", "sub": "status"}
    scene.alters(21, MACHINES, name, unhealthy, **more)
    scene.node(25, "gpu-002", "manager", cordon=True).evicts(26, "web-0")
    scene.leaves(90, "gpu-002").removes(91, MACHINES, name, space="fleet")
    return scene.decided(
        "gpu-002",
        "removed",
        "admin-request",
        (["user", "controller"], None),
        back=False,
        accept=or_decision("auto-remediation"),
    )


@incident
def harvester_puts_a_host_into_maintenance() -> Scene:
    scene = web(Scene())
    wanted = {"harvesterhci.io/drain-requested": "true"}
    scene.node(20, "gpu-002", "harvester", notes=wanted)
    status = "harvesterhci.io/maintain-status"
    runs = {status: "running"}
    scene.node(22, "gpu-002", "harvester", cordon=True, notes=runs)
    scene.evicts(24, "web-0")
    scene.node(60, "gpu-002", "harvester", notes={status: "completed"})
    scene.silent(300, "gpu-002").stale(347, "gpu-002").boots(900, "gpu-002")
    none = dict.fromkeys([*wanted, status])
    scene.node(1000, "gpu-002", "harvester", cordon=False, notes=none)
    program: By = ["controller", "unknown"], None
    return scene.rebooted(
        "gpu-002",
        "host-maintenance",
        program,
        accept={"mode": ["unknown"], **or_decision(None, "admin-request")},
    )


@incident
def somebody_edits_a_node_after_a_descheduler_was_there() -> Scene:
    scene = Scene()
    scene.makes(
        -10, SETS, "ReplicaSet", "web", by="kube-controller-manager",
        space="train", spec={},
    )  # fmt: skip
    scene.runs(-5, "web-0", "gpu-002", gpus=0)
    scene.evicts(20, "web-0")
    scene.node(900, "gpu-002", "kubectl-edit", cordon=True)
    scene.node(1500, "gpu-002", "kubectl-edit", cordon=False)
    scene.hit_pod("web-0", "gpu-002", by="eviction", optional=True)
    return scene.decided(
        "gpu-002", "cordoned", "manual-drain", SOMEONE, back=True
    )


@incident
def a_host_of_virtual_machines_is_evacuated() -> Scene:
    scene = web(Scene(audit=True))
    taint = "kubevirt.io/drain:NoSchedule"
    body = {"spec": {"taints": [{"key": "kubevirt.io/drain"}]}}
    scene.asked(18, DAVE, "patch", "gpu-002", body)
    scene.node(18.02, "gpu-002", "kubectl-taint", taints={taint: "draining"})
    cordons(scene, 20, DAVE)
    asks_eviction(scene, 20.5, DAVE, "web-0")
    scene.evicts(20.6, "web-0")
    cordons(scene, 900, DAVE, on=False)
    scene.node(901, "gpu-002", "kubectl-taint", taints={taint: None})
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        user(DAVE),
        boots=(1, 1),
        back=True,
    )


@incident
def a_person_asks_while_kured_waits_for_a_budget() -> Scene:
    scene = Scene(audit=True)
    wish = {"PendingPhaseState": ("True", "production-reboot", "wanted")}
    body = {"status": {"conditions": [{"type": "PendingPhaseState"}]}}
    notes = {"weave.works/kured-most-recent-reboot-needed": "2026-02-27T00:00"}
    scene.node(-900, "gpu-002", "kured", notes=notes)
    scene.asked(20, DAVE, "patch", "gpu-002", body, sub="status")
    scene.node(20.02, "gpu-002", "curl", conditions=wish)
    by = "node-lifecycle-controller"
    reason = {f"{CW}/cordonReason": "NLCCPendingExitProduction"}
    scene.node(40, "gpu-002", by, cordon=True, notes=reason)
    gone = {"PendingPhaseState": None}
    scene.node(60, "gpu-002", by, conditions=gone)
    scene.silent(65, "gpu-002").stale(112, "gpu-002").boots(500, "gpu-002")
    none = dict.fromkeys([*reason])
    scene.node(560, "gpu-002", by, cordon=False, notes=none)
    return scene.rebooted(
        "gpu-002", "admin-request", user(DAVE), never=["kured"]
    )
