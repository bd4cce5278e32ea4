"""Changes and who made them, as JSON for scripts and as lines for people."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recorder.classify.changes import Change, How, changes, is_noise
from recorder.classify.managers import FieldManager
from recorder.model.reference import Resource
from recorder.report.ports import Line
from recorder.report.text import CONTROLS
from recorder.report.window import optional_time

__all__ = [
    "actor_json",
    "actor_text",
    "change_json",
    "change_lines",
    "document_of",
    "told_changes",
]

VALUE_SIZE_MAX = 100
"""Characters of a value in a line of text; of longer ones the beginning is
shown, and how long they are."""

SHOWN_SIZE = 80

SIGNS = {
    How.ADDED: "+",
    How.REMOVED: "-",
    How.REPLACED: "~",
    How.REORDERED: "~",
}


def document_of(line: Line, kind: str) -> dict[str, Any]:
    """Return an entry's object, with what items of a list do not carry."""
    found: dict[str, Any] = json.loads(line.raw or b"{}")
    resource = Resource.parse(line.resource or "")
    return {"apiVersion": resource.api_version, "kind": kind, **found}


def told_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], *, all_fields: bool
) -> list[Change]:
    """Return what differs, without what is noise unless it is asked for."""
    return [
        change
        for change in changes(old, new)
        if all_fields or not is_noise(change)
    ]


def change_json(change: Change) -> dict[str, Any]:
    """Return a change as the public interface shows it.

    A value that is not there is null; ``change`` tells it from one that is.
    """
    return {
        "path": str(change),
        "change": change.how.value,
        "old": change.old,
        "new": change.new,
    }


def change_lines(told: Iterable[Change]) -> list[str]:
    """Say each change in a line."""
    return [
        f"{SIGNS[change.how]} {change}: {_values(change)}".translate(CONTROLS)
        for change in told
    ]


def _values(change: Change) -> str:
    match change.how:
        case How.ADDED:
            return _shortened(change.new)
        case How.REMOVED:
            return _shortened(change.old)
        case How.REORDERED:
            return f"now in the order {', '.join(change.new)}"
        case How.REPLACED:
            return f"{_shortened(change.old)} -> {_shortened(change.new)}"


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) <= VALUE_SIZE_MAX:
        return text
    return f"{text[:SHOWN_SIZE]}... ({len(text):,} characters)"


def actor_json(
    managers: Sequence[FieldManager],
) -> list[dict[str, Any]] | None:
    """Return those who wrote as the public interface shows them."""
    return [
        {
            "name": manager.name,
            "operation": manager.operation,
            "subresource": manager.subresource,
            "at": optional_time(manager.at),
        }
        for manager in managers
    ] or None


def actor_text(managers: Sequence[FieldManager]) -> str:
    """Name those who wrote."""
    if not managers:
        return "writer unknown"
    return "by " + ", ".join(map(_manager, managers)).translate(CONTROLS)


def _manager(manager: FieldManager) -> str:
    details = [manager.operation if manager.operation != "Update" else None]
    details.append(manager.subresource)
    said = " ".join(detail for detail in details if detail)
    return f"{manager.name} ({said})" if said else manager.name
