"""The words of the contract for what happened, why, and what it cost.

Values are shown and asked for: they may be added to, never renamed.
"""

from enum import StrEnum


class Happened(StrEnum):
    """What happened to a node; the strongest names a chain, in this order."""

    REPLACED = "replaced"
    """Another machine under the same name."""

    REJOINED = "rejoined"
    """The same machine registered as a new Node."""

    REMOVED = "removed"
    """The Node was deleted and did not come back."""

    REBOOT = "reboot"
    """The boot ID changed on the same Node."""

    UNREACHABLE = "unreachable"
    """Unreachable for the control plane, then back with the same boot ID."""

    KUBELET_RESTART = "kubelet-restart"
    """The kubelet restarted, the machine did not."""

    DRAINED = "drained"
    """Its Pods were evicted."""

    CORDONED = "cordoned"
    """It was marked unschedulable."""

    DEGRADED = "degraded"
    """A fault was reported while it stayed in service."""

    JOINED = "joined"
    """A new Node."""


class DurationKind(StrEnum):
    """What lasted: a node was down, away from service, or degraded."""

    DOWN = "down"
    AWAY = "away"
    DEGRADED = "degraded"


class Mode(StrEnum):
    """Whether the change was planned."""

    PLANNED = "planned"
    """A decision precedes the effect."""

    ABRUPT = "abrupt"
    """No decision precedes it, and no gap could hide one."""

    UNKNOWN = "unknown"
    """The record does not show whether it was planned."""


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
    MONITORING = "monitoring-failed"
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
    MONITORING_FAILED = "monitoring-failed"
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
    """Nothing recorded explains it."""


class Confidence(StrEnum):
    """How certain the cause is."""

    PROVEN = "proven"
    """The evidence rules out other causes."""

    LIKELY = "likely"
    """Other causes are possible but less likely."""

    POSSIBLE = "possible"
    """Other causes are not ruled out."""

    UNKNOWN = "unknown"
    """Nothing recorded explains it."""


class Role(StrEnum):
    """Which part of a chain it is evidence for."""

    FAULT = "fault"
    DECISION = "decision"
    ACT = "act"
    EFFECT = "effect"
    RECOVERY = "recovery"
    IMPACT = "impact"


class ActorKind(StrEnum):
    """Who acted."""

    USER = "user"
    CONTROLLER = "controller"
    KUBELET = "kubelet"
    CLOUD = "cloud"
    UNKNOWN = "unknown"


class HitBy(StrEnum):
    """What disrupted a workload."""

    NODE_FAILURE = "node-failure"
    DRAIN = "drain"
    """Its Pods were evicted because their node was to be emptied."""

    PREEMPTION = "preemption"

    EVICTION = "eviction"
    """Its Pods were evicted for another reason."""

    DELETION = "deletion"
    """Its Pods were deleted, and its controller replaced them."""


class Outcome(StrEnum):
    """What happened to a disrupted workload."""

    FAILED = "failed"
    """It failed permanently."""

    RESTARTED = "restarted"
    """The whole gang restarted, or its Pods came back on their nodes."""

    RESCHEDULED = "rescheduled"
    """The lost Pods came back on other nodes."""

    PREEMPTED = "preempted"
    """Other work took its place."""

    SURVIVED = "survived"
    """It kept running."""

    COMPLETED = "completed"
    """It ended normally."""

    DOWN = "down"
    """Not running again when the record ends."""

    UNKNOWN = "unknown"
    """Hidden by a gap."""


class IncidentGroup(StrEnum):
    """What an incident affected."""

    NODE = "node"
    RACK = "rack"
    CONTROL_PLANE = "control-plane"


class EndedBy(StrEnum):
    """What ended a workload, or Pods of it."""

    NODE_FAILURE = "node-failure"
    """The node failed, or what runs on it was lost with it."""

    DRAIN = "drain"
    """Its Pods were evicted because their node was to be emptied."""

    PREEMPTION = "preemption"
    """Other work took its place."""

    EVICTION = "eviction"
    """Its Pods were evicted for another reason, or refused by the kubelet."""

    CONTAINER_OOM = "container-oom"
    """A container exceeded its own memory limit."""

    CONTAINER_EXIT = "container-exit"
    """A container failed by itself."""

    DEADLINE = "deadline"
    """It ran longer than its own deadline allows."""

    SUSPENSION = "suspension"
    """It was suspended."""

    DELETION = "deletion"
    """It was deleted."""

    COMPLETION = "completion"
    """It ended normally."""

    UNRECORDED = "unrecorded"
    """Nothing recorded explains it."""


class WorkloadState(StrEnum):
    """How a workload or a Pod was last seen."""

    QUEUED = "queued"
    """Suspended until a queue admits it; it has no Pods yet."""

    PENDING = "pending"
    """Not running yet."""

    RUNNING = "running"

    DEGRADED = "degraded"
    """Disrupted, and only some of its Pods run again."""

    DOWN = "down"
    """Disrupted, and not running again."""

    SUSPENDED = "suspended"
    """Suspended on request."""

    COMPLETED = "completed"
    """Ended normally."""

    FAILED = "failed"
    """Failed permanently."""

    DELETED = "deleted"

    UNKNOWN = "unknown"
    """The record does not show it."""


class ServiceState(StrEnum):
    """Whether a node can run work."""

    IN_SERVICE = "in-service"
    """Ready, and open to new Pods."""

    DEGRADED = "degraded"
    """In service, with a reported fault."""

    CORDONED = "cordoned"
    """Ready, but cordoned or tainted."""

    NOT_READY = "not-ready"
    """The kubelet reports NotReady."""

    UNKNOWN = "unknown"
    """The control plane does not receive its heartbeats."""

    ABSENT = "absent"
    """The Node does not exist."""
