"""One entry, opened: what it tells, and what changed in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.classify.changes import Change
from recorder.classify.managers import FieldManager, moved_managers
from recorder.model.entry import Operation
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName
from recorder.report.changes import document_of, told_changes
from recorder.report.coverage import Coverage, covered
from recorder.report.ports import Line, Reading, Selection, is_about_events
from recorder.report.single import ask_entry
from recorder.report.window import Window

__all__ = ["Opened", "ask_opened", "previous_of"]

VERSIONS = frozenset(
    {
        Operation.LISTED,
        Operation.ADDED,
        Operation.MODIFIED,
        Operation.DELETED,
    }
)
MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An entry, its facts, and the version of the object before it."""

    line: Line
    facts: Sequence[StoredFact]
    previous: Line | None
    changed: Sequence[Change]
    managers: Sequence[FieldManager]
    coverage: Coverage


async def ask_opened(
    reading: Reading, name: EntryName, *, all_fields: bool, now: datetime
) -> Opened:
    """Open one entry.

    Raises:
        NotFoundError: the log has no such entry.
    """
    line = await ask_entry(reading, name)
    ended = reading.as_of(name.position)
    facts = [
        stored
        async for page in ended.fact_pages.pages(
            Selection(), after=name.position - 1
        )
        for stored in page
    ]
    previous = await previous_of(reading, line)
    changed: Sequence[Change] = ()
    managers: Sequence[FieldManager] = ()
    if previous is not None and line.operation in VERSIONS:
        kind = line.identity.kind if line.identity is not None else ""
        old, new = document_of(previous, kind), document_of(line, kind)
        changed = told_changes(old, new, all_fields=all_fields)
        managers = moved_managers(old, new)

    def reads(source: str, resource: str) -> bool:
        return (source, resource) == (line.source, line.resource)

    at = line.observed_at
    return Opened(
        line=line,
        facts=facts,
        previous=previous,
        changed=changed,
        managers=managers,
        coverage=await covered(
            reading, Window(at, at + MOMENT), now=now, reads=reads
        ),
    )


async def previous_of(reading: Reading, line: Line) -> Line | None:
    """Return the version of the same incarnation before an entry."""
    identity = line.identity
    if (
        identity is None
        or line.operation in {Operation.ADDED, Operation.RENEWED}
        or is_about_events(line.resource)
    ):
        return None
    things = await reading.things(
        [(identity.group, identity.kind)],
        namespace=identity.namespace,
        name=identity.name,
    )
    numbers = tuple(
        thing.number for thing in things if thing.identity.uid == identity.uid
    )
    if not numbers:
        return None
    before = line.entry.position
    while True:
        found = await reading.newest(
            Selection(objects=numbers, versions=True), before=before
        )
        if found is None or found.operation in VERSIONS:
            return found
        before = found.entry.position
