"""Words of the contract as enums: its names in upper case."""

from enum import StrEnum

from api.describing import described_enum
from recorder.classify.changes import How
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.outcomes import (
    ActorKind,
    Cause,
    Confidence,
    Decision,
    Fault,
    Happened,
    HitBy,
    IncidentGroup,
    Mode,
    Outcome,
    Role,
)

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
    (How, "ChangeKind", "What became of a value."),
    (Fault, "FaultClass", None),
    (Decision, "DecisionClass", None),
    (Role, "EvidenceRole", None),
    (Cause, "Cause", None),
    (Happened, "Happened", None),
    (Mode, "Mode", None),
    (Confidence, "Confidence", None),
    (ActorKind, "ActorKind", None),
    (HitBy, "HitBy", None),
    (Outcome, "Outcome", None),
    (IncidentGroup, "IncidentGroup", None),
):
    described_enum(_name, _text)(_cls)


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
