"""Remediators fence and reboot."""

from typing import Any

from tests.explain.heldout.registry import incident
from tests.explain.heldout.requests import STATE, xid
from tests.explain.heldout.scene import Scene, owner


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
    scene.node(
        23,
        "gpu-002",
        "fault-quarantine",
        cordon=True,
        notes={
            "quarantineHealthEvent": "[]",
            "quarantineHealthEventIsCordoned": "True",
        },
        labels={
            STATE: "quarantined",
            "k8saas.nvidia.com/cordon-by": "NVSentinel",
        },
    )
    scene.node(24, "gpu-002", "node-drainer", labels={STATE: "draining"})
    scene.evicts(25, "llm-0")
    scene.node(
        40, "gpu-002", "node-drainer", labels={STATE: "drain-succeeded"}
    )
    scene.node(
        41, "gpu-002", "fault-remediation", labels={STATE: "remediating"}
    )
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
            ),
        },
    )
    scene.node(
        640,
        "gpu-002",
        "fault-quarantine",
        cordon=False,
        notes={
            "quarantineHealthEvent": None,
            "quarantineHealthEventIsCordoned": None,
        },
        labels={STATE: None},
    )
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["llm-0"],
        size=2,
        gpus=16,
        by="drain",
        accept={"hit_by": ["node-failure"]},
    )
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        fault="gpu-fault",
        decision="auto-remediation",
        actor=(["controller"], "NVSentinel"),
        boots=(1, 2),
        back=True,
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
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="admin-request",
        actor=(["user", "controller"], None),
        most="possible",
        boots=(1, 2),
        accept={
            "decision": ["auto-remediation"],
            "cause": ["auto-remediation"],
        },
    )


@incident
def an_error_of_the_application_is_no_fault() -> Scene:
    scene = Scene()
    both = xid(45, "NONE")[2] + xid(94, "NONE")[2]
    told = {"SysLogsXIDError": ("True", "SysLogsXIDErrorIsNotHealthy", both)}
    scene.node(20, "gpu-002", "platform-connectors", conditions=told)
    scene.dies(3000, "gpu-002", 3400)
    return scene.expect(
        "gpu-002", "reboot", "abrupt", most="unknown", boots=(1, 2)
    )


SNR = "self-node-remediation.medik8s.io/v1alpha1/selfnoderemediations"


@incident
def a_silent_node_is_fenced_by_self_node_remediation() -> Scene:
    scene = Scene()
    scene.silent(20, "gpu-002").stale(66, "gpu-002")
    scene.unreachable(71, "gpu-002")
    scene.says(
        366,
        "NodeHealthCheck",
        "DetectedUnhealthy",
        '[remediation] Node matches unhealthy condition. Node "gpu-002",'
        ' condition type "Ready", condition status "Unknown"',
        about={
            "kind": "NodeHealthCheck",
            "name": "nhc-gpu",
            "apiVersion": "remediation.medik8s.io/v1alpha1",
        },
    )
    scene.makes(
        366.1,
        SNR,
        "SelfNodeRemediation",
        "gpu-002",
        by="manager",
        space="openshift-workload-availability",
        spec={},
    )
    scene.says(
        366.2,
        "NodeHealthCheck",
        "RemediationCreated",
        "[remediation] Created remediation object for node gpu-002",
        about={
            "kind": "NodeHealthCheck",
            "name": "nhc-gpu",
            "apiVersion": "remediation.medik8s.io/v1alpha1",
        },
    )
    scene.node(
        367,
        "gpu-002",
        "manager",
        cordon=True,
        taints={
            "remediation.medik8s.io/self-node-remediation:NoSchedule": "",
        },
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
        taints={
            "node.kubernetes.io/out-of-service:NoExecute": "nodeshutdown",
        },
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
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="auto-remediation",
        actor=(["controller"], "self-node-remediation"),
        boots=(1, 2),
        back=True,
        accept={
            "mode": ["unknown"],
            "fault": ["network-partition"],
            "cause": ["network-partition"],
        },
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
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="auto-remediation",
        actor=(["controller"], "fence-agents-remediation"),
        boots=(1, 2),
        back=True,
        accept={"mode": ["unknown"]},
    )
