"""Machines are fenced, by controllers and by hand."""

from typing import Any

from tests.scenarios.remediation.remediation import NHC, finds_unhealthy
from tests.scenarios.remediation.repairs import AKS, aks_begins, aks_ends
from tests.scenarios.telling.parts import boot_id, uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import cloud, controller, or_lost_contact
from tests.scenarios.workloads.work import JOBS, owned

MACHINES = "cluster.x-k8s.io/v1beta2/machines"
HOSTS = "metal3.io/v1alpha1/baremetalhosts"
METAL3 = "infrastructure.cluster.x-k8s.io/v1beta1/metal3remediations"
MDR = (
    "machine-deletion-remediation.medik8s.io/v1alpha1"
    "/machinedeletionremediations"
)
CNI = (
    "container runtime network not ready: NetworkReady=false"
    " reason:NetworkPluginNotReady message:Network plugin returns error:"
    " cni plugin not initialized"
)


def comes_up(scene: Scene, at: float, node: str, number: int) -> None:
    """Let a machine come up from another boot, and never be ready."""
    scene.starts(at, node).reports_boot(at + 0.1, node, number)
    info = {"bootID": boot_id(node, number)}
    scene.node(at + 0.1, node, "kubelet", info=info)
    unready = {"Ready": ("False", "KubeletNotReady", CNI)}
    scene.renews(at + 0.2, node)
    scene.node(at + 0.3, node, "kubelet", conditions=unready)


@incident
def a_machine_is_deleted_for_its_node_and_keeps_the_name() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    uid = {"uid": uid_of("NodeHealthCheck", "", "nhc-gpu", "1")}
    finds_unhealthy(scene, 367, NHC | uid)
    scene.makes(
        367.1,
        MDR,
        "MachineDeletionRemediation",
        "gpu-002",
        by="manager",
        space="openshift-workload-availability",
        metadata={
            "annotations": {"remediation.medik8s.io/node-name": "gpu-002"}
        },
        spec={},
    )

    def deleted(made: dict[str, Any]) -> None:
        made["status"] = {
            "conditions": [
                {
                    "type": "PermanentNodeDeletionExpected",
                    "status": "False",
                    "reason": "MachineDeletionOnBareMetal"
                    "ProviderKeepsNodeName",
                },
                {
                    "type": "Processing",
                    "status": "False",
                    "reason": "MachineDeleted",
                },
            ]
        }

    scene.leaves(420, "gpu-002")
    scene.alters(
        421,
        MDR,
        "gpu-002",
        deleted,
        by="manager",
        space="openshift-workload-availability",
        sub="status",
    )
    scene.joins(1400, "gpu-002", boot=4).joined(1401.5, "gpu-002")
    scene.heals(1412, "gpu-002")
    scene.removes(
        1430, MDR, "gpu-002", space="openshift-workload-availability"
    )
    return scene.decided(
        "gpu-002",
        "rejoined",
        "auto-remediation",
        controller(),
        boots=(1, 4),
        back=True,
        accept=or_lost_contact({"mode": ["unknown"]}),
    )


@incident
def a_host_of_metal3_is_power_cycled() -> Scene:
    scene = Scene()
    scene.makes(
        -900,
        MACHINES,
        "Machine",
        "md-0-q9w2k",
        by="manager",
        space="fleet",
        status={
            "nodeRef": {"name": "gpu-002"},
            "conditions": [{"type": "NodeHealthy", "status": "True"}],
        },
    )
    scene.makes(
        -900,
        HOSTS,
        "BareMetalHost",
        "rack7-u12",
        by="baremetal-operator",
        space="fleet",
        metadata={"annotations": {}},
        spec={"online": True, "consumerRef": {"name": "md-0-q9w2k"}},
        status={"poweredOn": True},
    )
    scene.silent(20, "gpu-002").stale(68, "gpu-002")
    scene.unreachable(73, "gpu-002")

    def unhealthy(machine: dict[str, Any]) -> None:
        machine["status"]["conditions"] = [
            {
                "type": "HealthCheckSucceeded",
                "status": "False",
                "reason": "UnhealthyNode",
                "message": "Health check failed:"
                " * Condition Ready on Node is reporting status Unknown"
                " for more than 5m0s",
            },
            {
                "type": "ExternallyRemediated",
                "status": "False",
                "reason": "WaitingForRemediation",
            },
        ]

    scene.alters(
        368,
        MACHINES,
        "md-0-q9w2k",
        unhealthy,
        by="manager",
        space="fleet",
        sub="status",
    )
    scene.makes(
        368.2,
        METAL3,
        "Metal3Remediation",
        "md-0-q9w2k",
        by="manager",
        space="fleet",
        spec={
            "strategy": {"type": "Reboot", "retryLimit": 1, "timeout": "300s"}
        },
        status={"phase": "Running"},
    )

    def off(host: dict[str, Any]) -> None:
        key = "reboot.metal3.io/metal3-remediation-6f0d1c1e"
        host["metadata"]["annotations"][key] = '{"mode":"hard"}'

    def on(host: dict[str, Any]) -> None:
        host["metadata"]["annotations"].clear()

    scene.alters(369, HOSTS, "rack7-u12", off, by="manager", space="fleet")
    scene.leaves(400, "gpu-002")
    scene.alters(402, HOSTS, "rack7-u12", on, by="manager", space="fleet")
    scene.joins(800, "gpu-002", boot=2).joined(801, "gpu-002")
    scene.heals(812, "gpu-002")
    scene.removes(830, METAL3, "md-0-q9w2k", space="fleet")
    return scene.decided(
        "gpu-002",
        "rejoined",
        "auto-remediation",
        controller(),
        boots=(1, 2),
        back=True,
        accept=or_lost_contact({"mode": ["unknown"]}),
    )


@incident
def somebody_says_that_a_dead_node_is_out_of_service() -> Scene:
    scene = Scene()
    job = owned(scene, "Job", JOBS)
    scene.runs(-5, "w-1", "gpu-002", of=job)
    scene.silent(20, "gpu-002").stale(67, "gpu-002")
    scene.unreachable(72, "gpu-002")
    scene.tainted_away(372, "w-1")
    out: dict[str, str | None] = {
        "node.kubernetes.io/out-of-service:NoExecute": "nodeshutdown"
    }
    scene.node(500, "gpu-002", "kubectl-taint", taints=out)
    scene.gone(515, "w-1").runs(516, "w-2", "gpu-003", of=job)
    scene.boots(1500, "gpu-002")
    gone: dict[str, str | None] = dict.fromkeys(out)
    scene.node(1700, "gpu-002", "kubectl-taint", taints=gone)
    scene.hit(
        "Job", "llm", "gpu-002", ["w-1"], size=1, gpus=8, outcome="rescheduled"
    )
    scene.asks(
        0, 1800, node="gpu-002", verdicts=[0], workloads=["Job/train/llm"]
    )
    return scene.unexplained("gpu-002", accept={"mode": ["unknown"]})


@incident
def aks_reboots_and_then_reimages() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    aks_begins(scene, 370, "reboot")
    comes_up(scene, 480, "gpu-002", 2)
    aks_ends(scene, 485, "reboot")
    aks_begins(scene, 800, "reimage")
    scene.silent(812, "gpu-002").stale(860, "gpu-002")
    scene.boots(1100, "gpu-002", 3, osImage="Ubuntu 24.04.4 LTS")
    aks_ends(scene, 1130, "reimage")
    for boots in ((1, 2), (2, 3)):
        scene.rebooted(
            "gpu-002",
            "auto-remediation",
            cloud(AKS),
            boots=boots,
            accept=or_lost_contact({"mode": ["unknown"]}),
        )
    return scene
