"""Answers of `recorder diff`: what changed between two times."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import field

from recorder.answers.arguments import (
    ALL_FIELDS,
    OBJECT,
    Argument,
    Arguments,
    Asking,
    Option,
)
from recorder.answers.changes import (
    ShownChange,
    document_of,
    shown_change,
    visible_changes,
)
from recorder.answers.fields import VERSIONS_MAX, Fields
from recorder.answers.history import version_coverage, versions_between
from recorder.answers.lines import ShownObject, shown_object
from recorder.answers.nouns import Line, Selection
from recorder.answers.ports import Reading
from recorder.answers.references import (
    KnownObject,
    Reference,
    find_objects,
    no_versions,
)
from recorder.classify.changes import Change, Manifest
from recorder.classify.managers import FieldManager, moved_managers
from recorder.coverage.coverage import Coverage
from recorder.errors import ConfigError, NotFoundError
from recorder.model.document import Document
from recorder.model.entry import Operation
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.window import Window, parse_time

__all__ = ["Difference", "DifferenceQuestion", "End", "ask_difference"]

MOMENT = timedelta(microseconds=1)
"""The finest time there is."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})


class EndError(ConfigError):
    """Two ends that do not fit together, or to the log."""

    code = "question.end"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a comparison, as it was asked for."""

    at: datetime | None = None
    entry: EntryName | None = None
    """Exactly this version. With neither it is the newest."""

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        now: datetime,
        name: str,
        assumed: Callable[[str], None] | None = None,
    ) -> "End":
        """Read a time, an age, or the name of an entry.

        ``assumed`` is told where a time without a zone was taken as UTC.

        Raises:
            TimeError: it is none of them.
        """
        with suppress(ValueError):
            return cls(entry=EntryName.parse(text))
        at = parse_time(text, now=now, name=name, assumed=assumed)
        return cls(at=at)


FROM = Argument(
    name="from_",
    required=True,
    option=Option(
        "As it was then: 2026-11-21T03:18:00Z, an age: 2h, or in an entry:"
        " 1/48213.",
        ("--from",),
        "TIME",
    ),
    graphql="A time in any of the forms of DateTime, or the name of an entry.",
    graphql_name="from",
)
TO = Argument(
    name="to",
    option=Option(
        "Compare with this time or entry. Default: the newest version.",
        ("--to",),
        "TIME",
    ),
    graphql="A time in any of the forms of DateTime, or the name of an entry,"
    " `LOG/POSITION`. Default: the newest version.",
)


def _end(argument: Argument) -> Arguments[[Asking, str | None]]:
    def parse(asking: Asking, text: str | None) -> End:
        if text is None:
            return End()
        return End.parse(
            text,
            now=asking.now,
            name=asking.spelled(argument),
            assumed=asking.assumed,
        )

    return Arguments((argument,), parse)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceQuestion:
    """Which object, and between what."""

    object: Annotated[Reference, OBJECT]
    before: Annotated[End, _end(FROM)]
    after: Annotated[End, _end(TO)]
    all_fields: Annotated[bool, ALL_FIELDS] = False

    @property
    def log(self) -> int | None:
        """The log that an end names."""
        ends = (self.before.entry, self.after.entry)
        return next((end.log for end in ends if end is not None), None)


class State(Document, frozen=True, kw_only=True):
    """An object as it was at one end."""

    at: datetime | None
    """When; None for the newest version."""

    state: str
    """Whether it was there, in a word."""

    entry: EntryName | None
    operation: Operation | None
    resource_version: str | None
    observed_at: datetime | None
    uid: str | None
    line: Line | None = field(name="_line")
    """The newest version until then; None where there was none yet."""

    document: Manifest | None = field(name="_document")
    """None where the object did not exist."""


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
    """Return what became of the object, in a word."""
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
    """Compare an object as it was at two ends.

    Raises:
        NotFoundError: the log has no such object, or no version of it.
        ConfigError: the second end lies before the first.
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
    """Fold the versions from one end to the other."""
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
