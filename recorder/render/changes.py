"""Changes and who made them, as lines for people."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from recorder.classify.changes import Change, How
from recorder.classify.managers import FieldManager
from recorder.render.text import CONTROLS

__all__ = ["actor_text", "change_lines"]

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


def change_lines(changes: Iterable[Change]) -> list[str]:
    """Say each change in a line."""
    return [
        f"{SIGNS[change.how]} {change}: {_values(change)}".translate(CONTROLS)
        for change in changes
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
