"""Entries: the immutable lines of the log, and what changed in them."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.types.coverage import Coverage
from api.types.facts import Fact
from api.types.pages import PageInfo
from api.types.reference import ObjectReference
from api.types.scalars import Json
from api.types.words import SourceName
from recorder.classify.changes import Change as Changed
from recorder.classify.changes import How
from recorder.classify.managers import FieldManager
from recorder.documents.entries import says
from recorder.model.entry import Operation
from recorder.questions.ports import Line

__all__ = [
    "Change",
    "Entry",
    "EntryConnection",
    "EntryDetail",
    "EntryEdge",
    "Writer",
]


@described
class Entry:
    """One immutable line of the log: what we were told."""

    name: strawberry.ID
    """`LOG/POSITION`."""

    log: strawberry.ID

    position: str
    """Its place in the log; a whole number."""

    source: SourceName

    resource: str | None
    """As `v1/pods`."""

    operation: Operation

    object: ObjectReference | None
    """The object itself; for a Kubernetes Event what it is about."""

    resource_version: str | None

    node: str | None
    """The node that it concerns."""

    reason: str | None
    """Of a Kubernetes Event."""

    actor: str | None
    """Who reported a Kubernetes Event."""

    occurred_at: datetime | None
    """By the cluster's clock; null for versions of objects."""

    observed_at: datetime
    """By the recorder's clock."""

    recorded_at: datetime
    """By PostgreSQL's clock, in the transaction."""

    says: str
    """In a few words, where it can be said."""

    @classmethod
    def of(cls, line: Line) -> Self:
        """Take it from the log."""
        return cls(
            name=strawberry.ID(str(line.entry)),
            log=strawberry.ID(str(line.entry.log)),
            position=str(line.entry.position),
            source=SourceName(line.source),
            resource=line.resource,
            operation=line.operation,
            object=ObjectReference.of(line.identity),
            resource_version=line.resource_version,
            node=line.node,
            reason=line.reason,
            actor=line.actor,
            occurred_at=line.occurred_at,
            observed_at=line.observed_at,
            recorded_at=line.recorded_at,
            says=says(line),
        )


@described
class EntryEdge:
    """An entry and its place."""

    cursor: str
    """Opaque; valid for this log only."""

    node: Entry


@described
class EntryConnection:
    """Entries in log order, oldest first."""

    edges: list[EntryEdge]

    nodes: list[Entry]

    page_info: PageInfo

    coverage: Coverage


@described
class Writer:
    """Who wrote, by the field managers' entries that moved."""

    name: str
    """The field manager."""

    operation: str | None
    """`Apply` or `Update`."""

    subresource: str | None

    at: datetime | None
    """When, by the API server."""

    @classmethod
    def of(cls, manager: FieldManager) -> Self:
        """Take it from the metadata."""
        return cls(
            name=manager.name,
            operation=manager.operation,
            subresource=manager.subresource or None,
            at=manager.at,
        )


@described
class Change:
    """One difference between two versions."""

    path: str
    """As `status.conditions[Ready].status`."""

    change: How

    old: Json | None
    """Null where there was none."""

    new: Json | None
    """Null where there is none any more."""

    @classmethod
    def of(cls, change: Changed) -> Self:
        """Take it from a comparison."""
        return cls(
            path=str(change),
            change=change.how,
            old=Json(change.old),
            new=Json(change.new),
        )


@described
class EntryDetail:
    """One entry, opened."""

    entry: Entry

    raw: str
    """The document as it was recorded, byte for byte after redaction. What
    is not UTF-8 in it is shown as U+FFFD."""

    document: Json | None
    """The same as JSON; null where it is none."""

    facts: list[Fact]
    """What it tells."""

    previous: Entry | None
    """The version of the same object before it."""

    changed: list[Change]
    """What differs from that one; empty where there is none."""

    writers: list[Writer]
    """Who made the difference, as far as field managers tell."""

    coverage: Coverage
    """Of the resource, at the time of the entry."""
