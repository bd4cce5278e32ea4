"""The last change of each field of an object, folded from its versions."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from msgspec import field

from recorder.answers.authors import Attribution
from recorder.answers.changes import document_of
from recorder.answers.history import Version
from recorder.facts.classify.changes import (
    Change,
    How,
    Manifest,
    is_noise,
    value_at,
)
from recorder.facts.classify.owners import Owners
from recorder.facts.classify.paths import Path, written_path
from recorder.model.author import UNKNOWN, Author
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.reference import EntryName

VERSIONS_MAX = 2_000
"""Versions that are compared, the newest; earlier changes are only known by
`managedFields`. A Node has a few hundred in a month."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})

PARTS = ("metadata", "spec", "status")
"""Members whose own members each count as a field of a new object."""

IDENTITY = frozenset(
    {"uid", "name", "namespace", "creationTimestamp", "selfLink"}
)
"""Members of the metadata that never change."""


class FieldChange(Document, frozen=True, kw_only=True):
    """The last change of one field."""

    path: str
    """For example `spec.unschedulable`."""

    change: How
    value: object | None
    """What it is now; null if it was removed."""

    entry: EntryName
    """The version that shows the change."""

    observed_at: datetime
    author: Author
    line: Entry = field(name="_line")


class _Last(NamedTuple):
    """The last change of a field so far."""

    how: How
    line: Entry
    author: Author


class Fields:
    """The last change of each field, version after version."""

    def __init__(self, *, whole: bool = True) -> None:
        """Take whether the fields of the first version count as changes."""
        self._whole = whole
        self._found: dict[Path, _Last] = {}
        self._uid: str | None = None
        self._document: Manifest = {}
        self.newest: Entry | None = None
        self.created: Author | None = None
        self.deleted: Author | None = None

    def take(self, version: Version, kind: str) -> None:
        """Take the next version; a new incarnation resets everything."""
        line, author = version.line, version.attribution.author
        begins = self.newest is None or version.uid != self._uid
        self.newest, self._uid = line, version.uid
        self.deleted = author if line.operation in GONE else None
        if line.operation is Operation.ABSENT:
            return
        self._document = document_of(line, kind)
        if begins and self._whole:
            self._begin(version)
        if line.operation is not Operation.DELETED:
            for change in version.changed:
                self._put(change, line, version.attribution.of(change))

    def author(self, path: Path) -> Author:
        """Return who last changed a field, a parent of it, or a part of it."""
        near = [
            last
            for known, last in self._found.items()
            if known[: len(path)] == path or path[: len(known)] == known
        ]
        if not near:
            return UNKNOWN
        return max(near, key=lambda last: last.line.entry.position).author

    def listed(self) -> list[FieldChange]:
        """Return the fields in the order of their paths."""
        found = [
            FieldChange(
                path=written_path(path),
                change=last.how,
                value=value_at(self._document, path),
                entry=last.line.entry,
                observed_at=last.line.observed_at,
                author=last.author,
                line=last.line,
            )
            for path, last in self._found.items()
        ]
        return sorted(found, key=lambda one: one.path)

    def _begin(self, version: Version) -> None:
        """Take all fields of the first version of an object."""
        self._found.clear()
        created = version.line.operation is Operation.ADDED
        whole = version.attribution
        self.created = whole.author if created else None
        if not created:
            owners = Owners(self._document, self._document)
            whole = Attribution(UNKNOWN, owners=owners)
        for change in _beginning(self._document):
            self._put(change, version.line, whole.of(change))

    def _put(self, change: Change, line: Entry, author: Author) -> None:
        path = change.path
        if change.how is not How.REORDERED:
            # Fields below it were added, changed or removed with it.
            for known in [p for p in self._found if p[: len(path)] == path]:
                del self._found[known]
        self._found[path] = _Last(change.how, line, author)


def _beginning(document: Manifest) -> Iterator[Change]:
    """Yield the fields of a new object, as changes."""
    for name, value in document.items():
        if name in {"apiVersion", "kind"}:
            continue
        if name in PARTS and isinstance(value, dict):
            for member, held in value.items():
                change = Change((name, member), How.ADDED, None, held)
                fixed = name == "metadata" and member in IDENTITY
                if not fixed and not is_noise(change):
                    yield change
        else:
            yield Change((name,), How.ADDED, None, value)
