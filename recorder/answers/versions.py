"""Versions of an object, and their changes, as lines for people."""

import json
from collections.abc import Sequence
from typing import cast

from msgspec import UNSET

from recorder.answers.changes import ShownChange
from recorder.answers.diff import Difference, State
from recorder.answers.history import ShownVersion
from recorder.answers.log_questions import DifferenceQuestion, ObjectQuestion
from recorder.answers.nouns import Heartbeats
from recorder.answers.show import Shown
from recorder.answers.text.lines import plain
from recorder.answers.text.shown import Text
from recorder.answers.who import author_text
from recorder.facts.classify.changes import How
from recorder.facts.classify.managers import FieldManager
from recorder.model.author import UNKNOWN, KnownBy
from recorder.model.entry import Operation
from recorder.model.moment import written

VALUE_SIZE_MAX = 100
"""Characters of a value in a line; longer ones are shortened, with their
length."""

SHOWN_SIZE = 80

SIGNS = {
    How.ADDED: "+",
    How.REMOVED: "-",
    How.REPLACED: "~",
    How.REORDERED: "~",
}


def _change(change: ShownChange) -> str:
    """Return a change as a line."""
    sign, author = SIGNS[change.change], change.author
    text = plain(f"{sign} {change.path}: {_values(change)}")
    if author is UNSET or author == UNKNOWN:
        return text
    return f"{text}  (by {author_text(author)})"


def _values(change: ShownChange) -> str:
    match change.change:
        case How.ADDED:
            return _shortened(change.new)
        case How.REMOVED:
            return _shortened(change.old)
        case How.REORDERED:
            return (
                f"now in the order {', '.join(cast('list[str]', change.new))}"
            )
        case How.REPLACED:
            return f"{_shortened(change.old)} -> {_shortened(change.new)}"


def _shortened(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) <= VALUE_SIZE_MAX:
        return text
    return f"{text[:SHOWN_SIZE]}... ({len(text):,} characters)"


def actor_text(managers: Sequence[FieldManager] | None) -> str:
    """Return the names of the writers."""
    if not managers:
        return "writer unknown"
    return plain("by " + ", ".join(map(_manager, managers)))


def _manager(manager: FieldManager) -> str:
    details = [manager.operation if manager.operation != "Update" else None]
    details.append(manager.subresource)
    said = " ".join(detail for detail in details if detail)
    return f"{manager.name} ({said})" if said else manager.name


BEGINS = {
    Operation.LISTED: "first in the log: it existed at the first list",
    Operation.RECOVERED: "first in the log: read from the cluster's past",
    Operation.ADDED: "created",
}


def version_lines(version: ShownVersion) -> list[str]:
    """Return a version as a block of lines with a title."""
    line = version.line
    said = f"{written(line.observed_at)}  {line.entry}  {line.operation.value}"
    lines = []
    if version.uid_before is not None:
        uids = f"uid {version.uid}, before it {version.uid_before}"
        lines = [f"new incarnation: {uids}", ""]
    if line.operation is Operation.ABSENT:
        return [*lines, f"{said}: inferred, missing from a complete list"]
    author = version.author
    if author.known_by is KnownBy.AUDIT:
        said = f"{said}  by {author_text(author)}, audit {author.entry}"
    elif version.actor or version.changed:
        said = f"{said}  {actor_text(version.actor)}"
    lines.append(said)
    if version.begins:
        lines.append(f"  {BEGINS.get(line.operation, 'first in the log')}")
    elif not version.changed and line.operation is not Operation.DELETED:
        lines.append("  no changes except fields shown by --all-fields")
    lines += [f"  {_change(change)}" for change in version.changed]
    return lines


def heartbeat_notes(beats: Heartbeats | None) -> Sequence[str]:
    """Return a note on heartbeats, which are in no version."""
    if beats is None or not beats.count or beats.last_at is None:
        return []
    said = f"{beats.count}, the last at {written(beats.last_at)}"
    return [f"heartbeats counted, not stored: {said}"]


SAYS = {
    "not there": "the object did not exist at either time",
    "added": "added: it did not exist before; see `recorder show --at`",
    "deleted": "deleted",
    "absent": "absent: missing from a complete list, so it is gone",
    "same": "no changes except fields shown by --all-fields",
}


def difference_lines(difference: Difference) -> list[str]:
    """Return the changes from one end to the other as lines."""
    before, after = difference.before, difference.after
    lines = [f"--- {_state(before)}", f"+++ {_state(after)}"]
    said = SAYS.get(difference.outcome)
    if said is not None:
        lines.append(said)
    elif difference.outcome == "another incarnation":
        lines.append(
            f"new incarnation: uid {after.uid}, before it {before.uid}"
        )
    if difference.actor:
        lines.append(f"written {actor_text(difference.actor)}")
    lines += map(_change, difference.changed)
    return lines


def _state(state: State) -> str:
    line = state.line
    asked = "now" if state.at is None else written(state.at)
    if line is None:
        return f"{asked}  no version yet"
    return (
        f"{asked}  entry {line.entry}, {line.operation.value} at"
        f" {written(line.observed_at)}"
    )


def shown_notes(shown: Shown) -> Sequence[str]:
    """Return notes on the entry and its heartbeats."""
    line = shown.entry
    version = line.resource_version or "unknown"
    return [
        (
            f"entry {line.entry}: {line.operation.value}, observed"
            f" {written(line.observed_at)}, resource version {version}"
        ),
        *heartbeat_notes(shown.heartbeats),
    ]


def shown_object(
    answer: Shown, question: ObjectQuestion, *, verbose: bool
) -> Text:
    """Return an answer as `recorder show` prints it."""
    del question, verbose
    return Text(document=answer.object, notes=shown_notes(answer))


def shown_difference(
    answer: Difference, question: DifferenceQuestion, *, verbose: bool
) -> Text:
    """Return an answer as `recorder diff` prints it."""
    del question, verbose
    return Text(document=answer, lines=difference_lines(answer))
