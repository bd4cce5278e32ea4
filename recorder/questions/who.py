"""Answers of `recorder who`: who changed each field of an object last.

A field is a value, or a part of the object that came or went as a whole. The
versions of the incarnation are folded in the order of the log; of what an
object began with, each member of its parts is a field, and stands for all of
it that did not change since.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import field

from recorder.coverage.coverage import Coverage
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.model.entry import Operation
from recorder.model.moment import shifted
from recorder.model.reference import EntryName
from recorder.model.window import Window
from recorder.questions.arguments import OBJECT, VERSION_AT
from recorder.questions.contests import FieldContest, FieldContests
from recorder.questions.fields import VERSIONS_MAX, FieldChange, Fields
from recorder.questions.history import (
    HistoryQuestion,
    Version,
    ask_history,
)
from recorder.questions.lines import ShownObject, shown_object
from recorder.questions.ports import Line, Reading
from recorder.questions.references import Reference
from recorder.questions.show import never

__all__ = ["Who", "WhoQuestion", "ask_who"]

MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoQuestion:
    """Which object is wanted, and when."""

    object: Annotated[Reference, OBJECT]
    at: Annotated[datetime | None, VERSION_AT] = None


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
    """By path. A part that nobody changed since it began is one field."""

    contests: Sequence[FieldContest]
    """Where two authors took turns at a field."""

    more: bool
    """Whether there are older versions that were not compared."""

    coverage: Coverage
    line: Line = field(name="_line")


async def ask_who(
    reading: Reading, question: WhoQuestion, *, now: datetime
) -> Who:
    """Find who changed each field last.

    Raises:
        NotFoundError: the log has no such object, or it was not there yet.
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
        fields=fields.listed(),
        created=fields.created,
        deleted=fields.deleted,
        contests=contests.found(),
        more=history.more,
        coverage=history.coverage,
        line=line,
    )


async def _versions(
    pages: AsyncIterator[Sequence[Version]],
) -> AsyncIterator[Version]:
    async for page in pages:
        for version in page:
            yield version
