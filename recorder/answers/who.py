"""Answers of `recorder who`: who changed each field of an object last.

A field is a value, or a part of the object that was added or removed as a
whole. The versions of the incarnation are compared in log order. In the first
version, each member of metadata, spec and status is a field, which covers all
of it that has not changed since.

Two authors who take turns at a field are both known by audit or both by
`managedFields`: a person is a user in audit and a program in the latter.
"""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Self

from msgspec import field

from recorder.answers.authors import EXACT
from recorder.answers.fields import VERSIONS_MAX, FieldChange, Fields
from recorder.answers.history import Version, ask_history
from recorder.answers.lines import ShownObject, shown_object
from recorder.answers.log_questions import (
    FieldsQuestion,
    HistoryQuestion,
    ObjectQuestion,
)
from recorder.answers.naming import did_you_mean
from recorder.answers.ports import Reading
from recorder.answers.show import never
from recorder.answers.text.lines import Columns, plain
from recorder.answers.text.shown import Text
from recorder.explain.contests import Turn, Turns
from recorder.facts.classify.changes import How
from recorder.facts.classify.paths import Path, written_path
from recorder.facts.coverage.coverage import Coverage
from recorder.model.author import Author, KnownBy
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName
from recorder.model.window import Window

MOMENT = timedelta(microseconds=1)

CONTESTS_MAX = 100
"""Contests in an answer, the first ones; a field may have several."""


class FieldContestSide(Document, frozen=True, kw_only=True):
    """One of two, and what it set a field to."""

    author: Author
    value: object | None
    """Null where it removed it; true of a part that it added."""


class FieldContest(Document, frozen=True, kw_only=True):
    """Two authors took turns at a field, each undoing the other's change."""

    path: str
    sides: Sequence[FieldContestSide]
    since: datetime
    until: datetime
    entries: Sequence[EntryName]
    """The versions that show the changes."""

    @classmethod
    def of(cls, path: Path, turns: Sequence[Turn[Author, Entry]]) -> Self:
        """Return the contest with these turns at a field."""
        return cls(
            path=written_path(path),
            sides=[
                FieldContestSide(author=turn.author, value=turn.after)
                for turn in turns[:2]
            ],
            since=turns[0].at,
            until=turns[-1].at,
            entries=[turn.shown.entry for turn in turns],
        )


class Who(Document, frozen=True, kw_only=True):
    """Who changed each field of an object last."""

    object: ShownObject
    entry: EntryName
    """The newest version as of that time, or the end of the object."""

    operation: Operation
    observed_at: datetime
    created: Author | None
    """Null if the log does not hold its beginning."""

    deleted: Author | None
    """Null if the object was still there."""

    fields: Sequence[FieldChange]
    """By path. A part that has not changed since it was added is one field."""

    contests: Sequence[FieldContest]
    """Where two authors took turns at a field."""

    more: bool
    """Whether there are older versions that were not compared."""

    coverage: Coverage
    line: Entry = field(name="_line")


async def ask_who(
    reading: Reading, question: ObjectQuestion, *, now: datetime
) -> Who:
    """Find who changed each field last.

    Raises:
        NotFoundError: the log has no such object, or it did not exist yet.
    """
    until = None if question.at is None else shifted(question.at, MOMENT)
    history = await ask_history(
        reading,
        HistoryQuestion(
            object=question.object,
            window=Window(None, until),
            limit=VERSIONS_MAX,
        ),
        now=now,
    )
    fields, contests = Fields(), FieldContests()
    kind = history.found.kind.kind
    async for version in _versions(history.compared(reading)):
        fields.take(version, kind)
        contests.take(version)
    line = fields.newest
    if line is None:
        raise never(reading, question.object, question.at)
    return Who(
        object=shown_object(line, kind),
        entry=line.entry,
        operation=line.operation,
        observed_at=line.observed_at,
        fields=_chosen(fields.listed(), question),
        created=fields.created,
        deleted=fields.deleted,
        contests=contests.found(),
        more=history.more,
        coverage=history.coverage,
        line=line,
    )


def _chosen(
    fields: Sequence[FieldChange], question: ObjectQuestion
) -> Sequence[FieldChange]:
    """Return the fields that are asked for; all if none is named.

    Raises:
        NotFoundError: there is none of that path or name.
    """
    path = question.field if isinstance(question, FieldsQuestion) else None
    if path is None:
        return fields
    path = path.removeprefix(".")
    below = (f"{path}.", f"{path}[")
    found = [
        one
        for one in fields
        if one.path == path
        or one.path.startswith(below)
        or one.path.endswith(f".{path}")
    ]
    # A part that did not change since it began is one field.
    whole = [
        one
        for one in fields
        if path.startswith((f"{one.path}.", f"{one.path}["))
    ]
    if not found and not whole:
        hint = did_you_mean(path, [one.path for one in fields])
        msg = f'the object has no field "{path}"{hint}'
        raise NotFoundError(msg, code="not_found.field")
    return found or whole


async def _versions(
    pages: AsyncIterator[Sequence[Version]],
) -> AsyncIterator[Version]:
    async for page in pages:
        for version in page:
            yield version


class FieldContests:
    """Finds contests, version after version of one object."""

    def __init__(self) -> None:
        self._turns = Turns[tuple[str | None, Path], Author, Entry]()

    def take(self, version: Version) -> None:
        """Take the next version; each incarnation has its own turns."""
        line = version.line
        if line.operation not in EXACT:
            return
        for change in version.changed:
            if change.how is not How.REORDERED:
                author = version.attribution.of(change)
                turn = Turn(
                    author,
                    _name(author),
                    _claim(change.old),
                    _claim(change.new),
                    line.observed_at,
                    line,
                )
                self._turns.take((version.uid, change.path), turn)

    def found(self) -> Sequence[FieldContest]:
        """Return the contests so far, in order of their begin."""
        found = sorted(
            (
                FieldContest.of(path, turns)
                for (_, path), turns in self._turns.found()
            ),
            key=lambda one: (one.entries[0], one.path),
        )
        return found[:CONTESTS_MAX]


def _name(author: Author) -> tuple[str, str] | None:
    if author.known_by is KnownBy.UNKNOWN or author.name is None:
        return None
    return author.known_by.value, author.name


def _claim(value: object) -> object:
    """Return a value for comparison: true for a part that was set.

    A taint that is set again differs in its time.
    """
    return isinstance(value, dict | list) or value


COLUMNS = ("FIELD", "CHANGED", "BY", "KNOWN BY", "ENTRY", "VALUE")
VALUE_SIZE_MAX = 60
"""Characters of a value in the table; JSON has the whole value."""


def author_text(author: Author) -> str:
    """Return the name of an author, with client, Pod and address."""
    if author.known_by is KnownBy.UNKNOWN:
        return "unknown"
    said = author.name or "someone"
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
    """Return the fields as a table."""
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
    return f"{text[:VALUE_SIZE_MAX]}…"


def who_notes(who: Who) -> Sequence[str]:
    """Return notes on the version, its creator and remover, and contests."""
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


def shown(answer: Who, question: ObjectQuestion, *, verbose: bool) -> Text:
    """Return an answer as `recorder who` prints it."""
    del question, verbose
    return Text(
        document=answer, lines=who_lines(answer), notes=who_notes(answer)
    )
