"""Words of the contract as enums: its names in upper case."""

from enum import StrEnum

from api.describing import described_enum
from recorder.classify.changes import How
from recorder.knowledge import Decision, Fault, Role
from recorder.model.entry import Operation
from recorder.model.fact import FactKind

__all__ = [
    "ActorKind",
    "Cause",
    "Confidence",
    "Happened",
    "HitBy",
    "IncidentGroup",
    "LogKind",
    "Mode",
    "Outcome",
    "SearchKind",
    "ServiceState",
    "SourceName",
    "SourceState",
    "StreamState",
]

for _cls, _name, _text in (
    (FactKind, "FactKind", "What kind of thing happened."),
    (Operation, "Operation", "What an entry says."),
    (Fault, "FaultClass", "What broke."),
    (Decision, "DecisionClass", "What was decided."),
    (Role, "EvidenceRole", "Which part of a chain it is evidence for."),
    (How, "ChangeKind", "What became of a value."),
):
    described_enum(_name, _text)(_cls)


@described_enum()
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


@described_enum()
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


@described_enum()
class Mode(StrEnum):
    """Whether it was meant."""

    PLANNED = "planned"
    """A decision precedes the effect."""

    ABRUPT = "abrupt"
    """Proven, within coverage, that no decision precedes it."""

    UNKNOWN = "unknown"
    """Neither is proven."""


@described_enum()
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


@described_enum()
class ActorKind(StrEnum):
    """Who acted."""

    USER = "user"
    CONTROLLER = "controller"
    KUBELET = "kubelet"
    CLOUD = "cloud"
    UNKNOWN = "unknown"


@described_enum()
class HitBy(StrEnum):
    """What hit a workload."""

    NODE_FAILURE = "node-failure"
    DRAIN = "drain"
    PREEMPTION = "preemption"


@described_enum()
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


@described_enum()
class IncidentGroup(StrEnum):
    """What an incident struck."""

    NODE = "node"
    RACK = "rack"
    CONTROL_PLANE = "control-plane"


@described_enum()
class StreamState(StrEnum):
    """What a source does with one resource."""

    LISTING = "listing"
    """It lists, or must list before it can watch."""

    LIVE = "live"
    """It watches, and was proven."""

    BACKING_OFF = "backing-off"
    """It failed for a reason that may pass, and tries again."""

    FORBIDDEN = "forbidden"
    """It lacks a right or valid credentials."""

    ABSENT = "absent"
    """The cluster does not serve it."""

    STOPPED = "stopped"
    """It is not being recorded."""


@described_enum()
class SourceName(StrEnum):
    """Where entries come from."""

    WATCH = "watch"
    AUDIT = "audit"
    CLOUDEVENTS = "cloudevents"
    SLURM = "slurm"
    RECORDER = "recorder"
    """What the recorder says itself."""


@described_enum()
class SourceState(StrEnum):
    """Whether a source was recorded at all."""

    RECORDED = "recorded"
    ABSENT = "absent"
    """Never configured; this makes no answer incomplete."""


@described_enum()
class LogKind(StrEnum):
    """What a log was made from."""

    LIVE = "live"
    """A cluster."""

    TAPE = "tape"
    """A recording in a file."""


@described_enum()
class ServiceState(StrEnum):
    """What a node is good for."""

    IN_SERVICE = "in-service"
    """Work may come and can run."""

    DEGRADED = "degraded"
    """In service, while a fault is reported of it."""

    CORDONED = "cordoned"
    """Ready, and cordoned or with a taint that keeps work away."""

    NOT_READY = "not-ready"
    """It says itself that it is not ready."""

    UNKNOWN = "unknown"
    """The control plane does not hear from it."""

    ABSENT = "absent"
    """There is no such Node."""


@described_enum()
class SearchKind(StrEnum):
    """What was found."""

    NODE = "node"
    OBJECT = "object"
    ENTRY = "entry"
