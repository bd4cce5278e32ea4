"""Owners: which field manager changed one field between two versions.

The rules are those of `recorder.facts.changes`, which applies them to
documents that are not decoded: one writer that fits, or none.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recorder.facts.classify.managers import (
    FieldManager,
    field_manager,
    managed_entries,
    moved,
)
from recorder.facts.classify.paths import Element, Path, Step


class Owners:
    """The field managers of a version, and which of them wrote it."""

    def __init__(
        self, old: Mapping[str, Any] | None, new: Mapping[str, Any]
    ) -> None:
        """Take two versions of an object; ``old`` is None for its first."""
        before = [] if old is None else managed_entries(old)
        self._entries = _named(managed_entries(new) or ())
        known = before or []
        self._movers: Sequence[Mapping[str, Any]] = ()
        if before is not None:
            self._movers = [one for _, one in moved(known, self._entries)]

    @property
    def movers(self) -> Sequence[FieldManager]:
        """Those whose entries moved."""
        return [field_manager(entry) for entry in self._movers]

    def of(self, path: Path) -> FieldManager | None:
        """Return who changed a field; None if that cannot be known."""
        fitting = self._movers
        if len(fitting) != 1:
            # Two writes of one writer within a second leave no trace of the
            # second except the value, whose only owner is its author.
            fitting = [
                entry
                for entry in self._movers or self._entries
                if _owns(path, entry.get("fieldsV1"))
            ]
        return field_manager(fitting[0]) if len(fitting) == 1 else None


def _named(
    entries: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    return [e for e in entries if isinstance(e.get("manager"), str)]


def _owns(path: Path, fields: object) -> bool:
    """Return whether an entry holds a field, or a list or map around it."""
    for step in path:
        if not isinstance(fields, dict):
            return False
        if not fields:
            return True  # a leaf: everything below belongs to it
        fields = _member(step, fields)
    return fields is not None


def _member(step: Step, fields: Mapping[str, Any]) -> object:
    if isinstance(step, str):
        return fields.get(f"f:{step}")
    if isinstance(step, Element):
        wanted = dict(step.names)
        for name, inner in fields.items():
            if name.startswith("k:") and _is_key_of(name[2:], wanted):
                return inner
    return None


def _is_key_of(written: str, wanted: Mapping[str, str | int]) -> bool:
    """Return whether a key names an element; each may have more fields."""
    try:
        key = json.loads(written)
    except (ValueError, RecursionError):
        return False
    if not isinstance(key, dict):
        return False
    shared = key.keys() & wanted.keys()
    return bool(shared) and all(key[n] == wanted[n] for n in shared)
