"""Words of the contract as enums: its names in upper case."""

from enum import StrEnum

from api.resolvers.types.describing import described_enum
from recorder.answers.facets import Facet, WorkloadFacet
from recorder.answers.job_order import JobOrder
from recorder.answers.node_questions import GroupBy
from recorder.answers.search import SearchKind
from recorder.facts.classify.changes import How
from recorder.facts.coverage.audit_state import AuditState
from recorder.model.author import KnownBy
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.outcomes import (
    ActorKind,
    Cause,
    Confidence,
    Decision,
    DurationKind,
    EndedBy,
    Fault,
    Happened,
    HitBy,
    IncidentGroup,
    Mode,
    Outcome,
    Role,
    ServiceState,
    WorkloadState,
)

__all__ = [
    "ActorKind",
    "AuditState",
    "Cause",
    "Confidence",
    "DurationKind",
    "EndedBy",
    "Facet",
    "GroupBy",
    "Happened",
    "HitBy",
    "IncidentGroup",
    "JobOrder",
    "LogKind",
    "Mode",
    "Outcome",
    "SearchKind",
    "ServiceState",
    "SourceName",
    "SourceState",
    "StreamState",
    "WorkloadFacet",
    "WorkloadState",
]

for _cls, _name, _text in (
    (FactKind, "FactKind", "What kind of thing happened."),
    (Operation, "Operation", "What an entry says."),
    (KnownBy, "KnownBy", "What names an author."),
    (How, "ChangeKind", "How a value changed."),
    (AuditState, "AuditState", "Whether audit records arrive."),
    (Fault, "FaultClass", None),
    (Decision, "DecisionClass", None),
    (Role, "EvidenceRole", None),
    (Cause, "Cause", None),
    (Happened, "Happened", None),
    (Mode, "Mode", None),
    (Confidence, "Confidence", None),
    (ActorKind, "ActorKind", None),
    (DurationKind, "DurationKind", None),
    (HitBy, "HitBy", None),
    (Outcome, "Outcome", None),
    (IncidentGroup, "IncidentGroup", None),
    (EndedBy, "EndedBy", None),
    (GroupBy, "GroupBy", None),
    (JobOrder, "WorkloadOrder", None),
    (Facet, "Facet", None),
    (WorkloadFacet, "WorkloadFacet", None),
    (WorkloadState, "WorkloadState", None),
    (ServiceState, "ServiceState", None),
    (SearchKind, "SearchKind", None),
):
    described_enum(_name, _text)(_cls)


@described_enum()
class StreamState(StrEnum):
    """What a source does with one resource."""

    LISTING = "listing"
    """Listing, or waiting to list."""

    LIVE = "live"
    """Watching, and confirmed complete."""

    BACKING_OFF = "backing-off"
    """Failed with a transient error; retrying with backoff."""

    FORBIDDEN = "forbidden"
    """Permissions or valid credentials are missing."""

    ABSENT = "absent"
    """Not served by the cluster."""

    STOPPED = "stopped"
    """Not being recorded."""

    ENDED = "ended"
    """Read to its end."""


@described_enum()
class SourceName(StrEnum):
    """Where entries come from."""

    WATCH = "watch"
    AUDIT = "audit"
    CLOUDEVENTS = "cloudevents"
    SLURM = "slurm"
    RECORDER = "recorder"
    """Entries written by the recorder itself."""


@described_enum()
class SourceState(StrEnum):
    """Whether a source was recorded."""

    RECORDED = "recorded"
    ABSENT = "absent"
    """Never configured; does not make answers incomplete."""


@described_enum()
class LogKind(StrEnum):
    """The origin of a log."""

    LIVE = "live"
    """A cluster."""

    TAPE = "tape"
    """A recording in a file."""
