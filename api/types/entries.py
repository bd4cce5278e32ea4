"""Entries: the immutable lines of the log, and what changed in them."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.scalars import Json
from api.types.authors import Author
from api.types.coverage import Coverage
from api.types.facts import Fact
from api.types.pages import PageInfo
from api.types.reference import ObjectReference
from api.types.words import SourceName
from recorder.classify.changes import Change as Changed
from recorder.classify.changes import How
from recorder.classify.managers import FieldManager
from recorder.documents.entries import says
from recorder.model.author import Author as KnownAuthor
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
    """One immutable line of the log: what a source reported."""

    name: strawberry.ID
    """`LOG/POSITION`."""

    log: strawberry.ID

    position: str
    """Its place in the log; a whole number."""

    source: SourceName

    resource: str | None
    """For example `v1/pods`."""

    operation: Operation

    object: ObjectReference | None
    """The object; for a Kubernetes Event, the object it is about."""

    resource_version: str | None

    node: str | None
    """The node it is about."""

    reason: str | None
    """Reason of a Kubernetes Event."""

    actor: str | None
    """Who reported a Kubernetes Event."""

    occurred_at: datetime | None
    """By the cluster's clock; null for versions of objects."""

    observed_at: datetime
    """By the recorder's clock."""

    recorded_at: datetime
    """By PostgreSQL's clock, in the transaction."""

    says: str
    """A short description, if available."""

    @classmethod
    def of(cls, line: Line, *, told: bool = True) -> Self:
        """Take it from the log; what it says where that is wanted."""
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
            says=says(line) if told else "",
        )


@described
class EntryEdge:
    """An entry and its place."""

    cursor: str
    """Opaque cursor, valid for this log or this fleet only."""

    node: Entry

    cluster: str
    """Where it was recorded."""


@described
class EntryConnection:
    """Entries in log order, oldest first."""

    edges: list[EntryEdge]

    nodes: list[Entry]

    page_info: PageInfo

    coverage: Coverage


@described
class Writer:
    """A field manager whose entry changed."""

    name: str
    """The field manager."""

    operation: str | None
    """`Apply` or `Update`."""

    subresource: str | None

    at: datetime | None
    """Time of the write, by the API server."""

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
    """For example `status.conditions[type=Ready].status`."""

    change: How

    old: Json | None
    """Null if it was absent."""

    new: Json | None
    """Null if it was removed."""

    author: Author | None
    """Who changed it; null where only the version was opened."""

    @classmethod
    def of(cls, change: Changed, author: KnownAuthor | None = None) -> Self:
        """Take it from a comparison."""
        return cls(
            path=str(change),
            change=change.how,
            old=Json(change.old),
            new=Json(change.new),
            author=None if author is None else Author.of(author),
        )


@described
class EntryDetail:
    """One entry, opened."""

    entry: Entry

    raw: str
    """The document as it was recorded, byte for byte after redaction. What
    is not UTF-8 in it is shown as U+FFFD."""

    document: Json | None
    """The document as JSON; null if it is not JSON."""

    facts: list[Fact]
    """Facts derived from it."""

    previous: Entry | None
    """The previous version of the same object."""

    changed: list[Change]
    """Differences from the previous version; empty if there is none."""

    writers: list[Writer]
    """Who made the change, according to field managers."""

    author: Author | None
    """Who made the version: by audit, else by field managers; null of what
    is no version."""

    coverage: Coverage
    """Of the resource, at the time of the entry."""
