"""Answers of `recorder show`: an object as it was at a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.answers.changes import document_of
from recorder.answers.log_questions import ObjectQuestion
from recorder.answers.moments import covered_at
from recorder.answers.naming import Reference
from recorder.answers.nouns import Heartbeats, Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import HeartbeatsOf
from recorder.answers.references import find_objects, no_versions
from recorder.facts.classify.changes import Manifest
from recorder.facts.coverage.coverage import Coverage
from recorder.model.entry import Entry, Operation
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted, written

MOMENT = timedelta(microseconds=1)
"""The resolution of times."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An object as it was at a time."""

    entry: Entry
    """The newest version as of that time."""

    heartbeats: Heartbeats | None
    """Heartbeats counted since the newest version."""

    coverage: Coverage
    kind: str

    @property
    def object(self) -> Manifest:
        """The document of the object, with its ``apiVersion`` and kind."""
        return document_of(self.entry, self.kind)


async def ask_object(
    reading: Reading, question: ObjectQuestion, *, now: datetime
) -> Shown:
    """Return the newest version of an object, as of a time or now.

    Raises:
        NotFoundError: the object did not exist then.
    """
    reference, at = question.object, question.at
    await reading.reach(at, at)
    found = await find_objects(reading, reference)
    line = await reading.newest(
        Selection(
            objects=found.numbers,
            until=None if at is None else shifted(at, MOMENT),
            versions=True,
        )
    )
    if line is None:
        raise never(reading, reference, at)
    if line.operation in GONE:
        raise _gone(reference, line)
    beats = None
    if at is None and line.identity is not None:
        numbers = {one.identity: one.number for one in found.incarnations}
        number = numbers[line.identity]
        beats = (await reading.states(HeartbeatsOf([number]))).get(number)
    return Shown(
        entry=line,
        coverage=await covered_at(
            reading,
            at,
            now=now,
            reads=lambda source, resource: (
                (source, resource) == (line.source, line.resource)
            ),
        ),
        heartbeats=beats,
        kind=found.kind.kind,
    )


def never(
    reading: Reading, reference: Reference, at: datetime | None
) -> NotFoundError:
    """Return the error for an object that did not exist yet."""
    if at is None:
        return no_versions(reading, reference)
    return NotFoundError(
        f'{reading.log.named} has no version of "{reference}" as of'
        f" {written(at)}: it was created later, or not recorded yet"
    )


def _gone(reference: Reference, line: Entry) -> NotFoundError:
    before = written(line.observed_at - MOMENT)
    how = (
        f"was deleted at {written(line.observed_at)}"
        if line.operation is Operation.DELETED
        else f"was found to be gone at {written(line.observed_at)}"
    )
    return NotFoundError(
        f'"{reference}" {how} (entry {line.entry})',
        advice=f"for its last state add --at {before}",
    )
