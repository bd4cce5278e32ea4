"""Facts: typed things that happened, each proved by one entry.

A fact has no meaning yet. It holds what was before and what is now; whether
that is a fault, a request or nothing is decided by the answer to a question.
Values of `FactKind` are stored: they may be added to, never renamed or reused.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from recorder.model import facts
from recorder.model.reference import EntryName, ObjectIdentity


class FactKind(StrEnum):
    """What kind of thing happened."""

    APPEARED = "appeared"
    """The log saw an object for the first time; ``created`` says whether it
    began then. The detail holds its state."""

    VANISHED = "vanished"
    """The object was deleted; ``inferred`` if only its absence shows it."""

    DELETION_REQUESTED = "deletion-requested"
    CONDITION_CHANGED = "condition-changed"
    LABEL_CHANGED = "label-changed"
    ANNOTATION_CHANGED = "annotation-changed"
    FIELD_CHANGED = "field-changed"
    """A field that has no kind of its own: a phase, a version, a count."""

    BOOT_CHANGED = "boot-changed"
    MACHINE_CHANGED = "machine-changed"
    TAINTED = "tainted"
    UNTAINTED = "untainted"
    CORDONED = "cordoned"
    UNCORDONED = "uncordoned"
    RESOURCE_CHANGED = "resource-changed"
    """Capacity or allocatable of a node."""

    LEASE_SILENT = "lease-silent"
    """The last renewal before a silence."""

    BOUND = "bound"
    STARTED = "started"
    ENDED = "ended"
    CONTAINER_ENDED = "container-ended"

    EVENT = "event"
    """One or more occurrences of a Kubernetes Event."""

    REQUESTED = "requested"
    """An audit record: a request to the API server."""

    CLAIMED = "claimed"
    """A claim: a CloudEvent that another system posted."""

    UNREADABLE = "unreadable"
    """The document does not have the shape of its kind; only its appearing and
    vanishing are known."""


DETAILS: Final[Mapping[FactKind, type[facts.Detail]]] = {
    FactKind.APPEARED: facts.Appeared,
    FactKind.VANISHED: facts.Vanished,
    FactKind.DELETION_REQUESTED: facts.DeletionRequested,
    FactKind.CONDITION_CHANGED: facts.ConditionChanged,
    FactKind.LABEL_CHANGED: facts.LabelChanged,
    FactKind.ANNOTATION_CHANGED: facts.AnnotationChanged,
    FactKind.FIELD_CHANGED: facts.FieldChanged,
    FactKind.BOOT_CHANGED: facts.BootChanged,
    FactKind.MACHINE_CHANGED: facts.MachineChanged,
    FactKind.TAINTED: facts.Tainted,
    FactKind.UNTAINTED: facts.Untainted,
    FactKind.CORDONED: facts.Cordoned,
    FactKind.UNCORDONED: facts.Uncordoned,
    FactKind.RESOURCE_CHANGED: facts.ResourceChanged,
    FactKind.LEASE_SILENT: facts.LeaseSilent,
    FactKind.BOUND: facts.Bound,
    FactKind.STARTED: facts.Started,
    FactKind.ENDED: facts.Ended,
    FactKind.CONTAINER_ENDED: facts.ContainerEnded,
    FactKind.EVENT: facts.EventOccurred,
    FactKind.REQUESTED: facts.Requested,
    FactKind.CLAIMED: facts.Claimed,
    FactKind.UNREADABLE: facts.Unreadable,
}
"""The type of the detail of facts of a kind."""


_SAID = frozenset({FactKind.EVENT, FactKind.REQUESTED})


class Fact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that happened, according to one entry."""

    kind: FactKind
    node: str | None
    object: ObjectIdentity | None
    occurred_at: datetime | None = None
    """By the cluster's clock; None if no source reports it."""

    seen_at: datetime | None = None
    """By when a watch would have shown it, where that is known and its
    version was only read afterwards."""

    actor: str | None = None
    """Who did it, as far as the entry itself shows: a field manager, the
    reporter of an Event, the user of an audit record."""

    detail: facts.Detail
    """What happened; its type is that of the kind."""

    @property
    def about(self) -> str:
        """The kind of its object; empty if it has none."""
        return "" if self.object is None else self.object.kind

    @property
    def is_of_node(self) -> bool:
        """Whether it is a change of a Node, no Event or request about it."""
        return self.about == "Node" and self.kind not in _SAID


class StoredFact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One observed change or Event, derived from one entry."""

    entry: EntryName
    """The entry that proves it, `LOG/POSITION`."""

    index: int
    """Index among the facts of its entry."""

    observed_at: datetime
    """By the recorder's clock."""

    fact: Fact

    @property
    def at(self) -> datetime:
        """When it happened, or when it was observed."""
        return self.fact.occurred_at or self.observed_at
