"""The words of the contract for what happened, why, and what it cost.

Values are shown and asked for: they may be added to, never renamed.
"""

from enum import StrEnum

__all__ = [
    "ActorKind",
    "Cause",
    "Confidence",
    "Decision",
    "Fault",
    "Happened",
    "HitBy",
    "IncidentGroup",
    "Mode",
    "Outcome",
    "Role",
]


class Happened(StrEnum):
    """What happened to a node; the strongest names a chain, in this order."""

    REPLACED = "replaced"
    """Another machine under the same name."""

    REJOINED = "rejoined"
    """The same machine as a new Node."""

    REMOVED = "removed"
    """The Node was deleted and did not come back."""

    REBOOT = "reboot"
    """Another boot id on the same Node."""

    UNREACHABLE = "unreachable"
    """Lost to the control plane, and back with the same boot id."""

    KUBELET_RESTART = "kubelet-restart"
    """The kubelet began anew, the machine did not."""

    DRAINED = "drained"
    """Its Pods were evicted."""

    CORDONED = "cordoned"
    """No new work was let on it."""

    DEGRADED = "degraded"
    """Something broke, and it stayed in service."""

    JOINED = "joined"
    """A new Node."""


class Mode(StrEnum):
    """Whether it was meant."""

    PLANNED = "planned"
    """A decision precedes the effect."""

    ABRUPT = "abrupt"
    """Proven, within coverage, that no decision precedes it."""

    UNKNOWN = "unknown"
    """Neither is proven."""


class Fault(StrEnum):
    """What broke."""

    KERNEL_PANIC = "kernel-panic"
    HUNG_KERNEL = "hung-kernel"
    GPU = "gpu-fault"
    MEMORY = "memory-fault"
    POWER_LOSS = "power-loss"
    THERMAL = "thermal-fault"
    LINK = "link-fault"
    DISK = "disk-fault"
    SYSTEM_OOM = "system-oom"
    CONTAINER_OOM = "container-oom"
    KUBELET = "kubelet-failure"
    RUNTIME = "runtime-failure"
    PARTITION = "network-partition"
    CONTROL_PLANE = "control-plane-outage"
    OTHER = "other-fault"


class Decision(StrEnum):
    """What was decided."""

    ADMIN_REQUEST = "admin-request"
    AUTO_REMEDIATION = "auto-remediation"
    OS_UPGRADE = "os-upgrade"
    DRIVER_UPGRADE = "driver-upgrade"
    HOST_MAINTENANCE = "host-maintenance"
    SCALE_DOWN = "scale-down"
    PREEMPTION = "preemption"
    MANUAL_DRAIN = "manual-drain"
    NODE_DELETION = "node-deletion"


class Cause(StrEnum):
    """The class of the fault if there is one, else of the decision."""

    KERNEL_PANIC = "kernel-panic"
    HUNG_KERNEL = "hung-kernel"
    GPU_FAULT = "gpu-fault"
    MEMORY_FAULT = "memory-fault"
    POWER_LOSS = "power-loss"
    THERMAL_FAULT = "thermal-fault"
    LINK_FAULT = "link-fault"
    DISK_FAULT = "disk-fault"
    SYSTEM_OOM = "system-oom"
    CONTAINER_OOM = "container-oom"
    KUBELET_FAILURE = "kubelet-failure"
    RUNTIME_FAILURE = "runtime-failure"
    NETWORK_PARTITION = "network-partition"
    CONTROL_PLANE_OUTAGE = "control-plane-outage"
    OTHER_FAULT = "other-fault"
    ADMIN_REQUEST = "admin-request"
    AUTO_REMEDIATION = "auto-remediation"
    OS_UPGRADE = "os-upgrade"
    DRIVER_UPGRADE = "driver-upgrade"
    HOST_MAINTENANCE = "host-maintenance"
    SCALE_DOWN = "scale-down"
    PREEMPTION = "preemption"
    MANUAL_DRAIN = "manual-drain"
    NODE_DELETION = "node-deletion"
    UNRECORDED = "unrecorded"
    """Nothing on record says why."""


class Confidence(StrEnum):
    """How sure the cause is."""

    PROVEN = "proven"
    """The evidence admits no rival."""

    LIKELY = "likely"
    """Rivals are named, and weaker."""

    POSSIBLE = "possible"
    """Rivals are open."""

    UNKNOWN = "unknown"
    """No evidence of a cause."""


class Role(StrEnum):
    """Which part of a chain it is evidence for."""

    FAULT = "fault"
    DECISION = "decision"
    ACT = "act"
    EFFECT = "effect"
    RECOVERY = "recovery"


class ActorKind(StrEnum):
    """Who acted."""

    USER = "user"
    CONTROLLER = "controller"
    KUBELET = "kubelet"
    CLOUD = "cloud"
    UNKNOWN = "unknown"


class HitBy(StrEnum):
    """What hit a workload."""

    NODE_FAILURE = "node-failure"
    DRAIN = "drain"
    PREEMPTION = "preemption"


class Outcome(StrEnum):
    """What became of a workload that was hit."""

    FAILED = "failed"
    """For good."""

    RESTARTED = "restarted"
    """The whole gang began again, or its Pods came back on their nodes."""

    RESCHEDULED = "rescheduled"
    """The lost Pods came back on other nodes."""

    PREEMPTED = "preempted"
    """Other work took its place."""

    SURVIVED = "survived"
    """It kept running."""

    COMPLETED = "completed"
    """It ended normally."""

    DOWN = "down"
    """Not back at the end of what is known."""

    UNKNOWN = "unknown"
    """A gap hides it."""


class IncidentGroup(StrEnum):
    """What an incident struck."""

    NODE = "node"
    RACK = "rack"
    CONTROL_PLANE = "control-plane"
