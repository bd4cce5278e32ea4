"""Versions of an object, and their changes, as the public interface shows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.classify.changes import Change
from recorder.classify.managers import FieldManager
from recorder.coverage.coverage import Coverage
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.questions.diff import Difference, State
from recorder.questions.history import History, Version
from recorder.questions.lines import ShownObject
from recorder.questions.ports import Line
from recorder.questions.references import KnownObject

__all__ = [
    "ChangeDocument",
    "DifferenceDocument",
    "HistoryTailDocument",
    "VersionDocument",
    "object_document",
]


def object_document(newest: Line, found: KnownObject) -> ShownObject:
    """Return an object as the public interface names it."""
    identity = newest.identity
    assert identity is not None, "a version is of an object"
    return ShownObject(
        api_version=(newest.resource or "").rpartition("/")[0],
        kind=found.kind.kind,
        namespace=identity.namespace or None,
        name=identity.name,
        uid=identity.uid,
    )


class ChangeDocument(Document, frozen=True, kw_only=True):
    """A change of one field.

    A value that is not there is null; ``change`` tells it from one that is.
    """

    path: str
    change: str
    old: object
    new: object
    author: Author | UnsetType = UNSET
    """Where it is not the author of the version."""

    @classmethod
    def of(cls, change: Change, author: Author | None = None) -> Self:
        """Return the document of a change."""
        return cls(
            path=str(change),
            change=change.how,
            old=change.old,
            new=change.new,
            author=UNSET if author is None else author,
        )


class VersionDocument(Document, frozen=True, kw_only=True):
    """A version of an object."""

    entry: str
    operation: str
    resource_version: str | None
    observed_at: datetime
    uid: str | None
    actor: Sequence[FieldManager] | None
    author: Author
    changed: Sequence[ChangeDocument]

    @classmethod
    def of(cls, version: Version) -> Self:
        """Return the document of a version."""
        line = version.line
        author = version.attribution.author
        return cls(
            entry=str(line.entry),
            operation=line.operation,
            resource_version=line.resource_version,
            observed_at=line.observed_at,
            uid=version.uid,
            actor=version.managers or None,
            author=author,
            changed=[
                ChangeDocument.of(change, None if whose == author else whose)
                for change, whose in version.authored
            ],
        )


class HeartbeatsDocument(Document, frozen=True, kw_only=True):
    """Versions that are counted, not kept."""

    count: int
    last_at: datetime | None


class HistoryTailDocument(Document, frozen=True, kw_only=True):
    """What is said behind the versions."""

    more: bool
    heartbeats: HeartbeatsDocument | None
    coverage: Coverage

    @classmethod
    def of(cls, history: History) -> Self:
        """Return the document of the end of an answer."""
        beats = history.heartbeats
        return cls(
            more=history.more,
            heartbeats=None
            if beats is None
            else HeartbeatsDocument(count=beats.count, last_at=beats.last_at),
            coverage=history.coverage,
        )


class StateDocument(Document, frozen=True, kw_only=True):
    """An object as it was at one end."""

    at: datetime | None
    state: str
    entry: str | None
    operation: str | None
    resource_version: str | None
    observed_at: datetime | None
    uid: str | None

    @classmethod
    def of(cls, state: State) -> Self:
        """Return the document of one end."""
        line = state.line
        return cls(
            at=state.at,
            state=state.says,
            entry=None if line is None else str(line.entry),
            operation=None if line is None else line.operation,
            resource_version=None if line is None else line.resource_version,
            observed_at=None if line is None else line.observed_at,
            uid=state.uid,
        )


class DifferenceDocument(Document, frozen=True, kw_only=True):
    """What changed from one end to the other."""

    object: ShownObject
    before: StateDocument = field(name="from")
    after: StateDocument = field(name="to")
    outcome: str
    actor: Sequence[FieldManager] | None
    changed: Sequence[ChangeDocument]
    coverage: Coverage

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """Return the document of an answer."""
        return cls(
            object=object_document(difference.newest, difference.found),
            before=StateDocument.of(difference.before),
            after=StateDocument.of(difference.after),
            outcome=difference.outcome,
            actor=difference.managers or None,
            changed=[
                ChangeDocument.of(change, difference.author(change))
                for change in difference.changed
            ],
            coverage=difference.coverage,
        )
