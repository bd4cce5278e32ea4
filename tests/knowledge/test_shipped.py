"""The rules that come with the package, by the words of their controllers."""

from importlib.resources import files

import pytest

from recorder.explain.knowledge import (
    KnowledgeError,
    matches,
    shipped,
    shipped_files,
)
from recorder.explain.knowledge.loading import read_rules
from recorder.explain.knowledge.rules import Rules
from recorder.model.outcomes import Decision, Fault, Role
from recorder.model.rules_files import RulesFile

FOLDER = files("recorder.explain.knowledge")
NAMES = sorted(f.name for f in FOLDER.iterdir() if f.name.endswith(".yaml"))

CONDITIONS = {
    "True": {
        Fault.HUNG_KERNEL: "KernelDeadlock",
        Fault.DISK: "XfsShutdown ReadonlyFilesystem"
        " FilesystemCorruptionProblem DiskBadBlock",
        Fault.MEMORY: "CperHardwareErrorFatal",
        Fault.KUBELET: "FrequentKubeletRestart KubeletUnhealthy"
        " KubeletProblem",
        Fault.RUNTIME: "FrequentDockerRestart FrequentContainerdRestart"
        " ContainerRuntimeUnhealthy ContainerRuntimeProblem"
        " CorruptDockerOverlay2",
        Fault.GPU: "GpuMemWatch GpuPcieWatch GpuPowerWatch GpuInforomWatch"
        " GpuSmWatch GpuMcuWatch GpuPmuWatch GpuDriverWatch GpuCpusetWatch"
        " SysLogsXIDError SysLogsGPUFallenOff GPUMissing XIDErrors",
        Fault.MONITORING: "DCGMError GpuDcgmConnectivityFailure"
        " UnhealthyNvidiaDevicePlugin UnhealthyNvidiaDCGMServices",
        Fault.THERMAL: "GpuThermalWatch GPUClockThrottling",
        Fault.LINK: "GpuNvlinkWatch SysLogsSXIDError NVSwitchFatalError"
        " NVSwitchDown NVLinkStatusInactive IBLinkFlapping",
        Fault.OTHER: "NTPProblem KubeProxyUnhealthy"
        " FrequentUnregisterNetDevice HardwareIssuesSuspected"
        " SoperatorChecksNodeDegraded SlurmNotResponding",
    },
    "False": {
        Fault.GPU: "AcceleratedHardwareReady",
        Fault.HUNG_KERNEL: "KernelReady",
        Fault.DISK: "StorageReady",
        Fault.RUNTIME: "ContainerRuntimeReady",
        Fault.LINK: "OVSvSwitchdHealthy UplinkHealthy PFRepresentorsHealthy",
        Fault.OTHER: "NetworkingReady",
    },
}
REQUESTS = {
    "PendingPhaseState": Decision.ADMIN_REQUEST,
    "MaintenanceInProgress": Decision.ADMIN_REQUEST,
    "DrainInProgress": Decision.ADMIN_REQUEST,
    "VMEventScheduled": Decision.HOST_MAINTENANCE,
    "CSPMaintenance": Decision.HOST_MAINTENANCE,
    "NebiusMaintenanceScheduled": Decision.HOST_MAINTENANCE,
    "SlurmNodeReboot": Decision.AUTO_REMEDIATION,
}
EVENTS = [
    ("kubelet", "SystemOOM", Fault.SYSTEM_OOM),
    ("kernel-monitor", "OOMKilling", Fault.CONTAINER_OOM),
    ("kernel-monitor", "TaskHung", Fault.HUNG_KERNEL),
    ("kernel-monitor", "KernelOops", Fault.HUNG_KERNEL),
    ("kernel-monitor", "Ext4Error", Fault.DISK),
    ("kernel-monitor", "IOError", Fault.DISK),
    ("kernel-monitor", "MemoryReadError", Fault.MEMORY),
    ("abrt-adaptor", "VMcore", Fault.KERNEL_PANIC),
    ("gpud", "kernel_panic", Fault.KERNEL_PANIC),
    ("gpud", "error_xid", Fault.GPU),
    ("gpud", "error_sxid", Fault.LINK),
    ("gpud", "ib_port_drop", Fault.LINK),
    ("gpud", "ib_port_flap", Fault.LINK),
    ("gpud", "nvlink_post_rx_detect_failure", Fault.LINK),
    ("gpud", "hw_slowdown", Fault.THERMAL),
    ("gpud", "gpu-count-mismatch", Fault.GPU),
    ("aks-auto-repair", "NodeRebootStart", Decision.AUTO_REMEDIATION),
    ("aks-auto-repair", "NodeReimageStart", Decision.AUTO_REMEDIATION),
    ("aks-auto-repair", "NodeRedeployStart", Decision.AUTO_REMEDIATION),
    ("any", "PreemptScheduled", Decision.PREEMPTION),
    ("any", "FreezeScheduled", Decision.HOST_MAINTENANCE),
    ("any", "RebootScheduled", Decision.HOST_MAINTENANCE),
    ("any", "RedeployScheduled", Decision.HOST_MAINTENANCE),
    ("any", "TerminateScheduled", Decision.HOST_MAINTENANCE),
    (
        "aws-node-termination-handler",
        "SpotInterruption",
        Decision.PREEMPTION,
    ),
    (
        "aws-node-termination-handler",
        "ScheduledEvent",
        Decision.HOST_MAINTENANCE,
    ),
    ("aws-node-termination-handler", "ASGLifecycle", Decision.SCALE_DOWN),
    ("karpenter", "DisruptionTerminating", Decision.SCALE_DOWN),
    ("karpenter", "SpotInterrupted", Decision.PREEMPTION),
    ("cluster-autoscaler", "ScaleDown", Decision.SCALE_DOWN),
    ("cluster-autoscaler", "ScaleDownEmpty", Decision.SCALE_DOWN),
    ("draino", "CordonStarting", Decision.AUTO_REMEDIATION),
    ("draino", "DrainStarting", Decision.AUTO_REMEDIATION),
    ("machineconfigdaemon", "Reboot", Decision.OS_UPGRADE),
    ("machineconfigdaemon", "OSUpdateStarted", Decision.OS_UPGRADE),
    ("skyhook-operator", "Interrupt", Decision.OS_UPGRADE),
    (
        "cloud-node-lifecycle-controller",
        "DeletingNode",
        Decision.NODE_DELETION,
    ),
]
NO_EVIDENCE = [
    ("node-controller", "RegisteredNode"),
    ("node-controller", "NodeNotReady"),
    ("kubelet", "NodeNotReady"),
    ("kubelet", "EvictionThresholdMet"),
    ("skyhook-operator", "Reboot"),
    ("another", "Reboot"),
    ("eks-node-monitoring-agent", "AcceleratedHardwareReady"),
]
TAINTS = {
    "ToBeDeletedByClusterAutoscaler": Decision.SCALE_DOWN,
    "DeletionCandidateOfClusterAutoscaler": None,
    "karpenter.sh/disrupted": Decision.SCALE_DOWN,
    "aws-node-termination-handler/spot-itn": Decision.PREEMPTION,
    "aws-node-termination-handler/scheduled-maintenance": (
        Decision.HOST_MAINTENANCE
    ),
    "aws-node-termination-handler/asg-lifecycle-termination": (
        Decision.SCALE_DOWN
    ),
    "remediation.medik8s.io/self-node-remediation": Decision.AUTO_REMEDIATION,
    "remediation.medik8s.io/fence-agents-remediation": (
        Decision.AUTO_REMEDIATION
    ),
    "medik8s.io/fence-agents-remediation": Decision.AUTO_REMEDIATION,
    "medik8s.io/drain": None,
    "node.kubernetes.io/out-of-service": None,
    "node.cloudprovider.kubernetes.io/shutdown": None,
    "node.coreweave.cloud/reserved": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_file_is_read_and_says_who_acts(name: str) -> None:
    rules = read_rules(
        RulesFile(name, KnowledgeError), (FOLDER / name).read_text()
    )
    assert rules != Rules()
    assert rules == shipped_files()[name]
    if name != "kubernetes.yaml":
        assert rules.controller is not None


def test_no_condition_has_two_meanings_in_the_shipped_files() -> None:
    rules = [r for file in shipped_files().values() for r in file.conditions]
    types = [name for rule in rules for name in rule.types]
    assert sorted(types) == sorted(set(types))


@pytest.mark.parametrize(
    ("status", "expected", "name"),
    [
        (status, fault, name)
        for status, faults in CONDITIONS.items()
        for fault, agents in faults.items()
        for name in agents.split()
    ],
)
def test_a_condition_is_the_fault_that_its_maker_means(
    status: str, expected: Fault, name: str
) -> None:
    rule = shipped().conditions.first(name)
    assert rule is not None
    assert (rule.when, rule.fault) == (status, expected)


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_condition_that_asks_for_something(name: str) -> None:
    rule = shipped().conditions.first(name)
    assert rule is not None
    assert (rule.when, rule.decision) == ("True", REQUESTS[name])


@pytest.mark.parametrize(("reporter", "reason", "expected"), EVENTS)
def test_an_event_is_known_by_who_says_what(
    reporter: str, reason: str, expected: Fault | Decision
) -> None:
    rule = shipped().event(reporter, reason, about="Node", message="")
    assert rule is not None
    assert expected in {rule.fault, rule.decision}


@pytest.mark.parametrize(("reporter", "reason"), NO_EVIDENCE)
def test_an_event_that_is_no_evidence_has_no_rule(
    reporter: str, reason: str
) -> None:
    assert shipped().event(reporter, reason, about="Node", message="") is None


@pytest.mark.parametrize("key", sorted(TAINTS))
def test_a_taint_is_known_by_its_key(key: str) -> None:
    rule = shipped().taints.first(key, values="")
    assert rule is not None
    assert rule.decision is TAINTS[key]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("SoftLockup: x", Fault.HUNG_KERNEL),
        ("KernelBug: x", Fault.HUNG_KERNEL),
        ("AppCrash: x", None),
    ],
)
def test_an_agent_that_names_the_condition_has_the_fault_in_its_message(
    message: str, expected: Fault | None
) -> None:
    rule = shipped().event(
        "eks-node-monitoring-agent",
        "KernelReady",
        about="Node",
        message=message,
    )
    assert (None if rule is None else rule.fault) is expected


def test_the_lock_of_kured_is_known() -> None:
    rule = shipped().locks.first(
        "weave.works/kured-node-lock", kinds="DaemonSet"
    )
    assert rule is not None
    assert rule.member == "nodeID"
    assert shipped().locks.first("another", kinds="DaemonSet") is None


@pytest.mark.parametrize(
    ("state", "role"),
    [
        ("upgrade-required", Role.ACT),
        ("cordon-required", Role.DECISION),
        ("upgrade-failed", Role.FAULT),
        ("upgrade-done", None),
    ],
)
def test_an_upgrade_of_a_driver_goes_through_its_states(
    state: str, role: Role | None
) -> None:
    key = "nvidia.com/gpu-driver-upgrade-state"
    rule = shipped().labels.first(key, values=state)
    assert (None if rule is None else rule.role) is role


@pytest.mark.parametrize("tool", ["kubectl", "kubectl-patch", "curl", "k9s"])
def test_a_tool_that_anyone_can_use_names_no_person(tool: str) -> None:
    rule = shipped().writers.first(tool)
    assert rule is not None
    assert rule.actor is None


@pytest.mark.parametrize("name", ["manager", "before-first-apply"])
def test_a_name_that_is_given_to_many_names_no_program(name: str) -> None:
    rule = shipped().writers.first(name)
    assert rule is not None
    assert rule.actor is not None
    assert not rule.actor.name


def test_a_star_matches_anything_and_nothing_else_is_special() -> None:
    assert matches(("a*c",), "abc")
    assert matches(("a*c",), "ac")
    assert not matches(("a.c",), "abc")
    assert not matches(("abc",), "abcd")
    assert matches(("a", "b*"), "b\nc")
    assert matches(("",), "")
    assert matches(("a*", "*b|c"), "xb|c")
    assert not matches(("a*", "b*"), "cab")
