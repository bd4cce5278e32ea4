"""Authors and what they changed, as lines for people."""

import json
from collections.abc import Sequence

from recorder.classify.changes import How
from recorder.model.author import Author, KnownBy
from recorder.model.moment import written
from recorder.questions.fields import VERSIONS_MAX, FieldChange
from recorder.questions.who import FieldContest, Who
from recorder.render.text import Columns, plain

__all__ = ["author_text", "who_lines", "who_notes"]

COLUMNS = ("FIELD", "CHANGED", "BY", "KNOWN BY", "ENTRY", "VALUE")
VALUE_SIZE_MAX = 60
"""Characters of a value in the table; JSON has all of it."""


def author_text(author: Author) -> str:
    """Name an author, with the client and on whose behalf."""
    if author.known_by is KnownBy.UNKNOWN:
        return "unknown"
    said = author.name or "somebody"
    if author.on_behalf_of:
        said += f" as {author.on_behalf_of}"
    beside = [author.client]
    if author.pod:
        beside.append(f"pod/{author.pod}")
    if author.address:
        beside.append(f"from {author.address}")
    details = ", ".join(part for part in beside if part)
    return plain(f"{said} ({details})" if details else said)


def who_lines(who: Who) -> list[str]:
    """Say who changed each field last, in a table."""
    columns = Columns(COLUMNS)
    rows = [_row(field) for field in who.fields]
    return [columns.header(rows), *columns.lines(rows)]


def _row(field: FieldChange) -> list[str]:
    author = field.author
    return [
        field.path,
        written(field.observed_at),
        author_text(author),
        author.known_by.value,
        str(author.entry or field.entry),
        _value(field),
    ]


def _value(field: FieldChange) -> str:
    if field.value is None and field.change is How.REMOVED:
        return "(removed)"
    return _short(field.value)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) <= VALUE_SIZE_MAX:
        return text
    return f"{text[:VALUE_SIZE_MAX]}..."


def who_notes(who: Who) -> Sequence[str]:
    """Say of which version it is, and how the object came and went."""
    said = f"{who.operation.value} at {written(who.observed_at)}"
    notes = [f"as of entry {who.entry}, {said}"]
    for word, author in (("created", who.created), ("deleted", who.deleted)):
        if author is not None:
            notes.append(f"{word} by {_how(author)}")
    notes.extend(map(_contest, who.contests))
    if who.more:
        notes.append(
            f"only the newest {VERSIONS_MAX} versions were compared: of what"
            " changed before, the owner by managedFields is shown"
        )
    return notes


def _contest(contest: FieldContest) -> str:
    one, other = (
        f"{author_text(side.author)}, who {_set(side.value)}"
        for side in contest.sides
    )
    return (
        f"CONTESTED: {contest.path}, by {one}, and {other}:"
        f" {len(contest.entries)} changes from {written(contest.since)} to"
        f" {written(contest.until)}"
    )


def _set(value: object) -> str:
    return "removed it" if value is None else f"set it to {_short(value)}"


def _how(author: Author) -> str:
    said = author_text(author)
    if author.known_by is KnownBy.AUDIT:
        return f"{said}, by audit entry {author.entry}"
    if author.known_by is KnownBy.MANAGED_FIELDS:
        return f"{said}, by managedFields"
    return said
