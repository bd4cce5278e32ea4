"""Field managers: who wrote to an object between two of its versions.

An API server keeps in ``metadata.managedFields`` who wrote which fields, and
when. A writer has an entry that changed: its time or its fields moved, or it
is new. That is not the entry with the latest time: a heartbeat of one and the
write of another may share a second, and times have no finer unit.

`recorder.facts.changes` decides, by the same entries, which of them changed
one field.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from recorder.facts.classify.times import moment
from recorder.model.document import Document

Entry = TypeVar("Entry")

_LAST = datetime.max.replace(tzinfo=UTC)


class FieldManager(Document, frozen=True, kw_only=True):
    """A field manager whose entry changed."""

    name: str
    """The field manager."""

    operation: str | None
    """`Apply` or `Update`."""

    subresource: str | None

    # In whole seconds.
    at: datetime | None
    """Time of the write, by the API server."""


def moved(
    before: Sequence[Entry], now: Sequence[Entry]
) -> list[tuple[int, Entry]]:
    """Return the entries that changed, and their places."""
    known = len(before)
    return [
        (place, entry)
        for place, entry in enumerate(now)
        # Most are at the place where they were.
        if (place >= known or entry != before[place]) and entry not in before
    ]


def moved_managers(
    old: Mapping[str, Any] | None, new: Mapping[str, Any]
) -> list[FieldManager]:
    """Return the managers whose entry moved, in the order of their times.

    ``old`` is None for an object that was created: all of its entries are new.
    Empty if no entry moved, and if one of the two documents has none to
    compare: no manager is guessed.
    """
    before = [] if old is None else managed_entries(old)
    if before is None:
        return []
    found = [
        field_manager(entry)
        for _, entry in moved(before, managed_entries(new) or ())
        if isinstance(entry.get("manager"), str)
    ]
    return sorted(found, key=lambda manager: manager.at or _LAST)


def managers_of(document: Mapping[str, Any] | None) -> set[FieldManager]:
    """Return all who wrote a document, with the times of their writes."""
    return {
        field_manager(entry)
        for entry in managed_entries(document or {}) or ()
        if isinstance(entry.get("manager"), str)
    }


def managed_entries(
    document: Mapping[str, Any],
) -> list[dict[str, Any]] | None:
    """Return the entries of ``managedFields``; None if there are none."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return None
    entries = metadata.get("managedFields")
    if not isinstance(entries, list) or not entries:
        return None
    return [entry for entry in entries if isinstance(entry, dict)]


def field_manager(entry: Mapping[str, Any]) -> FieldManager:
    """Return the field manager of an entry, which has a name."""
    return FieldManager(
        name=entry["manager"],
        operation=_text(entry.get("operation")),
        subresource=_text(entry.get("subresource")),
        at=moment(entry.get("time")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
