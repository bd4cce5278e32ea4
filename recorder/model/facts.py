"""The details of facts, one type for each kind.

Names and omissions are those of what is stored: they are added to, never
renamed. What a fact leaves out is None, or empty.
"""

from http import HTTPStatus
from typing import Any

from recorder.model.state import NO_STATE, Condition, ObjectState, Part, Scalar


class Writer(Part, frozen=True):
    """Who made a change, by the field managers of the object."""

    manager: str
    operation: str
    subresource: str
    time: str


class Appeared(Part, frozen=True):
    """The log saw an object for the first time."""

    created: bool = False
    """Whether it began then."""

    state: ObjectState = NO_STATE


class Vanished(Part, frozen=True):
    """An object was deleted, or is absent."""

    inferred: bool = False
    """Whether only its absence shows it."""

    state: ObjectState = NO_STATE
    """Its last state."""


class _Change(Part, frozen=True, omit_defaults=True):
    """A change between two versions; who made it is the last member."""


class DeletionRequested(_Change, frozen=True):
    """The deletion of an object began."""

    until: str | None = None
    by: Writer | None = None


class ConditionChanged(_Change, frozen=True):
    """The status, reason or message of a condition changed."""

    type: str
    old: Condition | None
    new: Condition | None
    by: Writer | None = None


class MetadataChanged(_Change, frozen=True):
    """A label or an annotation was added, removed or changed."""

    key: str
    old: str | None
    new: str | None
    by: Writer | None = None


class LabelChanged(MetadataChanged, frozen=True):
    """A label was added, removed or changed."""


class AnnotationChanged(MetadataChanged, frozen=True):
    """An annotation was added, removed or changed."""


class FieldChanged(_Change, frozen=True):
    """A field that has no kind of its own has another value."""

    field: str
    old: Scalar | None
    new: Scalar | None
    by: Writer | None = None


class MachineChanged(_Change, frozen=True):
    """A Node is another machine."""

    field: str
    old: Scalar | None
    new: Scalar | None
    by: Writer | None = None


class BootChanged(_Change, frozen=True):
    """A Node has another boot id."""

    old: str | None
    new: str | None
    by: Writer | None = None


class Tainted(_Change, frozen=True):
    """A taint was added, or its value changed."""

    key: str
    value: str | None
    effect: str
    by: Writer | None = None


class Untainted(_Change, frozen=True):
    """A taint was removed."""

    key: str
    value: str | None
    effect: str
    by: Writer | None = None


class Cordoned(_Change, frozen=True):
    """A Node was cordoned."""

    by: Writer | None = None


class Uncordoned(_Change, frozen=True):
    """A Node was uncordoned."""

    by: Writer | None = None


class ResourceChanged(_Change, frozen=True):
    """Capacity or allocatable of a Node changed."""

    list: str
    resource: str
    old: str | None
    new: str | None
    capacity: str | None
    by: Writer | None = None


class Bound(_Change, frozen=True):
    """A Pod was bound to a node."""

    old: str | None
    node: str
    by: Writer | None = None


class Started(_Change, frozen=True):
    """A Pod runs, or a container of it again."""

    container: str | None = None
    restarts: int = 0
    by: Writer | None = None


class Ended(_Change, frozen=True):
    """A Pod succeeded or failed."""

    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    by: Writer | None = None


class ContainerEnded(_Change, frozen=True):
    """A container ended."""

    container: str
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    restarts: int = 0
    init: bool = False
    by: Writer | None = None


class LeaseSilent(Part, frozen=True):
    """The last renewal before a silence."""


class EventOccurred(Part, frozen=True, omit_defaults=True):
    """A Kubernetes Event occurred, or occurred again."""

    type: str | None = None
    reason: str | None = None
    message: str | None = None
    count: int | None = None
    """The number of occurrences so far."""

    event: str | None = None
    """Its UID."""

    action: str | None = None
    host: str | None = None
    first: str | None = None


class Requested(
    Part, frozen=True, omit_defaults=True, rename={"acted_as": "as"}
):
    """A request to the API server."""

    verb: str | None = None
    stage: str | None = None
    user: str | None = None
    acted_as: str | None = None
    groups: list[str] | None = None
    user_agent: str | None = None
    source_ips: list[str] | None = None
    code: int | None = None
    audit_id: str | None = None
    body: str | None = None
    """The beginning of what was sent."""

    resource_version: str | None = None
    resource: str | None = None
    subresource: str | None = None
    namespace: str | None = None
    name: str | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the API server did not do it."""
        return (self.code or 0) >= HTTPStatus.MULTIPLE_CHOICES


class Claimed(Part, frozen=True, omit_defaults=True):
    """Another system posted a CloudEvent about the cluster."""

    type: str
    source: str
    subject: str = ""
    """The place that it is about, ``kind/name``, or any other text."""

    data: Any = None
    shortened: bool = False
    """Whether the data is larger; the entry has all of it."""


class Unreadable(Part, frozen=True):
    """A document has not the shape of its kind."""

    why: str


Detail = (
    Appeared
    | Vanished
    | DeletionRequested
    | ConditionChanged
    | LabelChanged
    | AnnotationChanged
    | FieldChanged
    | MachineChanged
    | BootChanged
    | Tainted
    | Untainted
    | Cordoned
    | Uncordoned
    | ResourceChanged
    | Bound
    | Started
    | Ended
    | ContainerEnded
    | LeaseSilent
    | EventOccurred
    | Requested
    | Claimed
    | Unreadable
)
"""What happened, in a fact of any kind."""
