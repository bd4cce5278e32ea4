"""Versions of an object, and what was counted, as lines for people."""

from collections.abc import Sequence

from recorder.model.entry import Operation
from recorder.model.moment import written
from recorder.questions.history import Version
from recorder.questions.ports import Heartbeats
from recorder.render.changes import actor_text, change_lines

__all__ = ["heartbeat_notes", "version_lines"]

BEGINS = {
    Operation.LISTED: "first in the log: it was there when a list came",
    Operation.ADDED: "created",
}


def version_lines(version: Version) -> list[str]:
    """Say a version in a block of lines, the first one its title."""
    line = version.line
    said = f"{written(line.observed_at)}  {line.entry}  {line.operation.value}"
    lines = []
    if version.before is not None:
        uids = f"uid {version.uid}, before it {version.before}"
        lines = [f"another incarnation: {uids}", ""]
    if line.operation is Operation.ABSENT:
        return [*lines, f"{said}: inferred, a complete list lacked it"]
    if version.managers or version.changed:
        said = f"{said}  {actor_text(version.managers)}"
    lines.append(said)
    if version.begins:
        lines.append(f"  {BEGINS.get(line.operation, 'first in the log')}")
    elif not version.changed and line.operation is not Operation.DELETED:
        lines.append("  no field but those that --all-fields shows")
    lines.extend(f"  {text}" for text in change_lines(version.changed))
    return lines


def heartbeat_notes(beats: Heartbeats | None) -> Sequence[str]:
    """Say what was counted and is in no version."""
    if beats is None or not beats.count or beats.last_at is None:
        return []
    said = f"{beats.count}, the last at {written(beats.last_at)}"
    return [f"heartbeats that were counted and not stored: {said}"]
