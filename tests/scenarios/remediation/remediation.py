"""Remediators fence and reboot."""

from collections.abc import Mapping
from typing import Any

from tests.scenarios.requests.requests import STATE, xid
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import (
    OR_FAILED,
    controller,
    or_decision,
    or_fault,
    or_lost_contact,
)

CORDONED = "quarantineHealthEventIsCordoned"
BY_NAME = {"k8saas.nvidia.com/cordon-by": "NVSentinel"}
NHC = {
    "kind": "NodeHealthCheck",
    "name": "nhc-gpu",
    "apiVersion": "remediation.medik8s.io/v1alpha1",
}


def _reboot_node(scene: Scene, at: float, node: str, by: str) -> None:
    scene.makes(
        at,
        "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
        "RebootNode",
        f"maintenance-{node}-68ae1",
        by=by,
        spec={"nodeName": node, "force": False},
    )


def _sent(scene: Scene, at: float, node: str) -> None:
    def change(made: dict[str, Any]) -> None:
        made["status"] = {
            "startTime": "2026-03-01T10:02:00Z",
            "conditions": [
                {"type": "SignalSent", "status": "True", "reason": "Succeeded"}
            ],
        }

    scene.alters(
        at,
        "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
        f"maintenance-{node}-68ae1",
        change,
        by="janitor",
        sub="status",
    )


def quarantines(
    scene: Scene,
    at: float,
    node: str = "gpu-002",
    *,
    notes: Mapping[str, str] = {},
    labels: Mapping[str, str] = {},
) -> None:
    """Let NVSentinel cordon a node."""
    scene.node(
        at,
        node,
        "fault-quarantine",
        cordon=True,
        notes={**notes, CORDONED: "True"},
        labels={STATE: "quarantined", **labels},
    )


def releases(
    scene: Scene,
    at: float,
    node: str = "gpu-002",
    *,
    notes: Mapping[str, str] = {},
    labels: Mapping[str, str] = {},
) -> None:
    """Let NVSentinel uncordon it, and take its notes and labels away."""
    scene.node(
        at,
        node,
        "fault-quarantine",
        cordon=False,
        notes={**dict.fromkeys(notes), CORDONED: None},
        labels={STATE: None, **dict.fromkeys(labels)},
    )


def drains(scene: Scene, at: float, done: float, pod: str) -> None:
    """Let NVSentinel drain a node, and continue to remediate."""
    by = "node-drainer"
    scene.node(at, "gpu-002", by, labels={STATE: "draining"})
    scene.evicts(at + 1, pod)
    scene.node(done, "gpu-002", by, labels={STATE: "drain-succeeded"})
    remediates(scene, done + 1)


def remediates(scene: Scene, at: float, node: str = "gpu-002") -> None:
    scene.node(at, node, "fault-remediation", labels={STATE: "remediating"})


def finds_unhealthy(scene: Scene, at: float, about: Mapping[str, str]) -> None:
    """Let a NodeHealthCheck see a silent node, and ask for a remediation."""
    scene.says(
        at,
        "NodeHealthCheck",
        "DetectedUnhealthy",
        '[remediation] Node matches unhealthy condition. Node "gpu-002",'
        ' condition type "Ready", condition status "Unknown"',
        about=about,
    )
    scene.says(
        at + 0.2,
        "NodeHealthCheck",
        "RemediationCreated",
        "[remediation] Created remediation object for node gpu-002",
        about=about,
    )


@incident
def nvsentinel_reboots_a_node_whose_gpu_fell_off() -> Scene:
    scene = Scene()
    job = owner("Job", "llm", "batch/v1")
    scene.makes(-10, "batch/v1/jobs", "Job", "llm", by="kueue", space="train")
    scene.runs(-5, "llm-0", "gpu-002", of=job)
    scene.runs(-5, "llm-1", "gpu-003", of=job)
    scene.node(
        20,
        "gpu-002",
        "platform-connectors",
        conditions={"SysLogsXIDError": xid(79)},
    )
    scene.node(22, "gpu-002", "kubelet", gpus=7)
    event = {"quarantineHealthEvent": "[]"}
    quarantines(scene, 23, notes=event, labels=BY_NAME)
    drains(scene, 24, 40, "llm-0")
    _reboot_node(scene, 41.5, "gpu-002", "fault-remediation")
    _sent(scene, 60, "gpu-002")
    scene.dies(65, "gpu-002", 600)
    scene.node(
        620,
        "gpu-002",
        "platform-connectors",
        conditions={
            "SysLogsXIDError": (
                "False",
                "SysLogsXIDErrorIsHealthy",
                "No errors",
            )
        },
    )
    releases(scene, 640, notes=event)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["llm-0"],
        size=2,
        gpus=16,
        by="drain",
        accept=OR_FAILED,
    )
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
    )


@incident
def a_person_makes_the_reboot_of_nvsentinel() -> Scene:
    scene = Scene(audit=True)
    scene.asked(
        30,
        "carol@example.com",
        "create",
        "maintenance-gpu-002-68ae1",
        {"spec": {"nodeName": "gpu-002"}},
        resource="rebootnodes",
    )
    _reboot_node(scene, 30.02, "gpu-002", "kubectl-client-side-apply")
    _sent(scene, 50, "gpu-002")
    scene.dies(65, "gpu-002", 600)
    # Audit of an object other than a Node is not a fact of that node, and an
    # object that appears does not say who made it.
    return scene.rebooted(
        "gpu-002",
        "admin-request",
        (["user", "controller"], None),
        back=None,
        most="possible",
        accept=or_decision("auto-remediation"),
    )


@incident
def an_error_of_the_application_is_no_fault() -> Scene:
    scene = Scene()
    both = xid(45, "NONE")[2] + xid(94, "NONE")[2]
    seen = {"SysLogsXIDError": ("True", "SysLogsXIDErrorIsNotHealthy", both)}
    scene.node(20, "gpu-002", "platform-connectors", conditions=seen)
    scene.dies(3000, "gpu-002", 3400)
    return scene.unexplained("gpu-002", back=None)


SNR = "self-node-remediation.medik8s.io/v1alpha1/selfnoderemediations"


@incident
def a_silent_node_is_fenced_by_self_node_remediation() -> Scene:
    scene = Scene()
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002")
    finds_unhealthy(scene, 366, NHC)
    scene.makes(
        366.1,
        SNR,
        "SelfNodeRemediation",
        "gpu-002",
        by="manager",
        space="openshift-workload-availability",
        spec={},
    )
    scene.node(
        367,
        "gpu-002",
        "manager",
        cordon=True,
        taints={"remediation.medik8s.io/self-node-remediation:NoSchedule": ""},
    )
    scene.says(
        368,
        "SelfNodeRemediation",
        "AddNoScheduleTaint",
        "[remediation] Remediation process - NoSchedule taint added to"
        " the unhealthy node",
        node="gpu-002",
    )
    scene.node(
        560,
        "gpu-002",
        "manager",
        taints={"node.kubernetes.io/out-of-service:NoExecute": "nodeshutdown"},
    )
    scene.boots(700, "gpu-002")
    scene.node(
        730,
        "gpu-002",
        "manager",
        cordon=False,
        taints={
            "node.kubernetes.io/out-of-service:NoExecute": None,
            "remediation.medik8s.io/self-node-remediation:NoSchedule": None,
        },
    )
    scene.removes(731, SNR, "gpu-002", space="openshift-workload-availability")
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("self-node-remediation"),
        accept={"mode": ["unknown"], **or_fault("network-partition")},
    )


@incident
def a_fence_agent_cycles_the_power() -> Scene:
    scene = Scene()
    far = (
        "fence-agents-remediation.medik8s.io/v1alpha1/fenceagentsremediations"
    )
    taint = "remediation.medik8s.io/fence-agents-remediation:NoSchedule"
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.makes(
        366,
        far,
        "FenceAgentsRemediation",
        "gpu-002",
        by="manager",
        space="default",
        spec={"agent": "fence_ipmilan"},
    )
    scene.node(367, "gpu-002", "manager", taints={taint: ""})
    scene.says(
        369,
        "FenceAgentsRemediation",
        "FenceAgentExecuted",
        "[remediation] Fence agent was executed",
        node="gpu-002",
    )
    scene.boots(560, "gpu-002")
    scene.node(580, "gpu-002", "manager", taints={taint: None})
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("fence-agents-remediation"),
        accept=or_lost_contact({"mode": ["unknown"]}),
    )
