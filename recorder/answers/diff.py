"""Answers of `recorder diff`: what changed between two times."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import field

from recorder.answers.changes import (
    ShownChange,
    document_of,
    shown_change,
    visible_changes,
)
from recorder.answers.fields import VERSIONS_MAX, Fields
from recorder.answers.history import version_coverage, versions_between
from recorder.answers.lines import ShownObject, shown_object
from recorder.answers.log_questions import DifferenceQuestion, End, EndError
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.references import (
    KnownObject,
    find_objects,
    no_versions,
)
from recorder.facts.classify.changes import Change, Manifest
from recorder.facts.classify.managers import FieldManager, moved_managers
from recorder.facts.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.window import Window

MOMENT = timedelta(microseconds=1)
"""The resolution of times."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})


class State(Document, frozen=True, kw_only=True):
    """An object at one end of the comparison."""

    at: datetime | None
    """When; None for the newest version."""

    state: str
    """`there`, `not yet`, `deleted` or `absent`."""

    entry: EntryName | None
    operation: Operation | None
    resource_version: str | None
    observed_at: datetime | None
    uid: str | None
    line: Entry | None = field(name="_line")
    """The newest version until then; None if there was none yet."""

    document: Manifest | None = field(name="_document")
    """None if the object did not exist."""


class Difference(Document, frozen=True, kw_only=True):
    """What changed between two times."""

    object: ShownObject
    before: State = field(name="from")
    after: State = field(name="to")
    outcome: str
    """`same`, `changed`, `added`, `deleted`, `absent`, `not there`, or
    `another incarnation`."""

    actor: Sequence[FieldManager] | None
    """Whose field managers' entries moved between the two."""

    changed: Sequence[ShownChange]
    coverage: Coverage
    identity: ObjectIdentity = field(name="_identity")


def _outcome(before: State, after: State, changed: Sequence[Change]) -> str:
    """Return the outcome, as `Difference.outcome` describes."""
    old, new = before.document, after.document
    if old is None and new is None:
        return "not there"
    if old is None:
        return "added"
    if new is None:
        return after.state
    if before.uid != after.uid:
        return "another incarnation"
    return "changed" if changed else "same"


async def ask_difference(
    reading: Reading, question: DifferenceQuestion, *, now: datetime
) -> Difference:
    """Compare an object at two times or entries.

    Raises:
        NotFoundError: the log has no such object, or no version of it.
        ConfigError: the second end is before the first.
    """
    await reading.reach(question.before.at, question.after.at)
    found = await find_objects(reading, question.object)
    newest = await reading.newest(
        Selection(objects=found.numbers, versions=True)
    )
    if newest is None or newest.identity is None:
        raise no_versions(reading, question.object)
    before = await _state(reading, found, question.before)
    after = await _state(reading, found, question.after)
    _check_order(before, after)
    changed: Sequence[Change] = ()
    managers: Sequence[FieldManager] = ()
    fields = Fields()
    old, new = before.document, after.document
    if old is not None and new is not None:
        changed = visible_changes(old, new, all_fields=question.all_fields)
        if before.uid == after.uid:
            managers = moved_managers(old, new)
            fields = await _between(reading, found, before, after)
    window = Window(before.at, after.at and shifted(after.at, MOMENT))
    return Difference(
        object=shown_object(newest, found.kind.kind),
        before=before,
        after=after,
        outcome=_outcome(before, after, changed),
        actor=managers or None,
        changed=[
            shown_change(change, fields.author(change.path))
            for change in changed
        ],
        identity=newest.identity,
        coverage=await version_coverage(reading, found, window, now=now),
    )


async def _between(
    reading: Reading, found: KnownObject, before: State, after: State
) -> Fields:
    """Return the last author of each field changed between the ends."""
    fields = Fields(whole=False)
    if before.line is None or after.line is None:
        return fields
    async for version in versions_between(
        reading,
        found,
        before.line.entry,
        after.line.entry,
        limit=VERSIONS_MAX,
    ):
        fields.take(version, found.kind.kind)
    return fields


async def _state(reading: Reading, found: KnownObject, end: End) -> State:
    until = None if end.at is None else shifted(end.at, MOMENT)
    before = None
    if end.entry is not None:
        _check_log(reading, end.entry)
        before = end.entry.position + 1
        reading = reading.as_of(end.entry.position)
    line = await reading.newest(
        Selection(objects=found.numbers, until=until, versions=True),
        before=before,
    )
    at = end.at
    if end.entry is not None:
        if line is None or line.entry != end.entry:
            msg = f"entry {end.entry} is not a version of this object"
            raise NotFoundError(msg)
        at = line.observed_at
    if line is None:
        return State(
            at=at,
            state="not yet",
            entry=None,
            operation=None,
            resource_version=None,
            observed_at=None,
            uid=None,
            line=None,
            document=None,
        )
    is_gone = line.operation in GONE
    return State(
        at=at,
        state=line.operation.value if is_gone else "there",
        entry=line.entry,
        operation=line.operation,
        resource_version=line.resource_version,
        observed_at=line.observed_at,
        uid=line.identity and line.identity.uid,
        line=line,
        document=None if is_gone else document_of(line, found.kind.kind),
    )


def _check_log(reading: Reading, entry: EntryName) -> None:
    if entry.log != reading.log.id:
        msg = (
            f"entry {entry} belongs to log {entry.log}, not to log"
            f" {reading.log.id}"
        )
        raise EndError(msg, advice=f"add --log {entry.log}")


def _check_order(before: State, after: State) -> None:
    if before.at is None or after.at is None or before.at <= after.at:
        return
    msg = (
        f"invalid comparison: it begins at {written(before.at)}, which is"
        f" not before its end, {written(after.at)}"
    )
    raise EndError(msg)
