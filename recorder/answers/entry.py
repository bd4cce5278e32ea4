"""One entry: by name, or opened, with its facts and what it changed."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from recorder.answers.authors import Attribution, Authors, attribution
from recorder.answers.changes import (
    ShownChange,
    document_of,
    shown_change,
    visible_changes,
)
from recorder.answers.log_questions import OpenedQuestion
from recorder.answers.nouns import Part, Selection, is_about_events
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery, FactListQuery, Incarnations
from recorder.facts.classify.changes import Change
from recorder.facts.classify.managers import FieldManager, moved_managers
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.model.entry import VERSIONS, Entry, Operation
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.window import Window

STORED = VERSIONS | {Operation.DELETED}
"""Operations whose entry has a version of an object."""

MOMENT = timedelta(microseconds=1)


class NoEntryError(NotFoundError):
    """The log has no such entry."""

    code = "not_found.entry"


async def ask_entry(reading: Reading, name: EntryName) -> Entry:
    """Read one entry.

    Raises:
        NotFoundError: this log has no such entry.
    """
    log = reading.log
    if name.log == log.id and 0 < name.position <= log.size:
        pages = reading.as_of(name.position).pages(
            EntryQuery(Selection(), Part.OPENED), after=name.position - 1
        )
        async for page in pages:
            if page[0].entry == name:
                return page[0]
    held = f"log {log.id} has the positions 1 to {log.size}"
    if log.is_part:
        held = "you may not be allowed to read it"
    msg = f"there is no entry {name}: {held}, or it was pruned"
    raise NoEntryError(msg)


async def facts_of(reading: Reading, name: EntryName) -> list[StoredFact]:
    """Return the facts derived from one entry of this log."""
    ended = reading.as_of(name.position)
    return [
        stored
        async for page in ended.pages(
            FactListQuery(Selection()), after=name.position - 1
        )
        for stored in page
    ]


class Opened(Document, frozen=True, kw_only=True):
    """One entry, opened."""

    entry: Entry
    facts: Sequence[StoredFact]
    """Facts derived from it."""

    previous: Entry | None
    """The previous version of the same object."""

    changed: Sequence[ShownChange]
    """Differences from the previous version; empty if there is none."""

    writers: Sequence[FieldManager]
    """Who made the change, according to field managers."""

    author: Author | None
    """Who made the version: by audit, else by field managers; null of what
    is no version."""

    coverage: Coverage
    """Of the resource, at the time of the entry."""


async def ask_opened(
    reading: Reading, question: OpenedQuestion, *, now: datetime
) -> Opened:
    """Open one entry.

    Raises:
        NotFoundError: the log has no such entry.
    """
    name = question.entry
    line = await ask_entry(reading, name)
    facts = await facts_of(reading, name)
    previous = await previous_of(reading, line)
    changed: Sequence[Change] = ()
    managers: Sequence[FieldManager] = ()
    if previous is not None and line.operation in STORED:
        kind = line.identity.kind if line.identity is not None else ""
        old, new = document_of(previous, kind), document_of(line, kind)
        changed = visible_changes(old, new, all_fields=question.all_fields)
        managers = moved_managers(old, new)

    def reads(source: str, resource: str) -> bool:
        return (source, resource) == (line.source, line.resource)

    at = line.observed_at
    made = await _attribution(reading, line, previous)
    return Opened(
        entry=line,
        facts=facts,
        previous=previous,
        changed=[
            shown_change(one, None if made is None else made.of(one))
            for one in changed
        ],
        writers=managers,
        author=None if made is None else made.author,
        coverage=await covered(
            reading, Window(at, at + MOMENT), now=now, reads=reads
        ),
    )


async def _attribution(
    reading: Reading, line: Entry, previous: Entry | None
) -> Attribution | None:
    """Return who made a version."""
    thing = line.identity
    if (
        thing is None
        or line.operation not in STORED
        or is_about_events(line.resource)
    ):
        return None
    named = await reading.names(_named_as(thing))
    authors = Authors(reading, tuple(one.number for one in named))
    old = None if previous is None else document_of(previous, thing.kind)
    return await attribution(
        authors,
        await authors.joined([line]),
        line,
        old,
        document_of(line, thing.kind),
    )


async def previous_of(reading: Reading, line: Entry) -> Entry | None:
    """Return the previous version of the same incarnation, if any."""
    identity = line.identity
    if (
        identity is None
        or line.operation in {Operation.ADDED, Operation.RENEWED}
        or is_about_events(line.resource)
    ):
        return None
    incarnations = await reading.names(_named_as(identity))
    numbers = tuple(
        one.number for one in incarnations if one.identity.uid == identity.uid
    )
    if not numbers:
        return None
    before = line.entry.position
    while True:
        found = await reading.newest(
            Selection(objects=numbers, versions=True), before=before
        )
        if found is None or found.operation in STORED:
            return found
        before = found.entry.position


def _named_as(identity: ObjectIdentity) -> Incarnations:
    return Incarnations(
        kinds=[(identity.group, identity.kind)],
        namespace=identity.namespace,
        name=identity.name,
    )
