"""Who changed each field of an object last."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.scalars import Json
from api.types.coverage import Coverage
from recorder.classify.changes import How
from recorder.model.author import Author
from recorder.questions.contests import FieldContest as KnownContest
from recorder.questions.fields import FieldChange as KnownChange
from recorder.questions.nouns import Line

__all__ = ["FieldChange", "FieldContest", "Who"]


@described
class FieldChange:
    """The last change of one field."""

    path: str
    """For example `spec.unschedulable`."""

    change: How

    value: Json | None
    """What it is now; null if it was removed."""

    entry: Line
    """The version that shows the change."""

    author: Author

    @classmethod
    def of(cls, field: KnownChange) -> Self:
        """Take it from an answer."""
        return cls(
            path=field.field,
            change=field.how,
            value=Json(field.value),
            entry=field.line,
            author=field.author,
        )


@described
class FieldContestSide:
    """One of two, and what it set a field to."""

    author: Author

    value: Json | None
    """Null where it removed it; true of a part that it added."""


@described
class FieldContest:
    """Two authors took turns at a field, each undoing the other's change."""

    path: str

    sides: list[FieldContestSide]

    since: datetime

    until: datetime

    entries: list[strawberry.ID]
    """The versions that show the changes."""

    @classmethod
    def of(cls, contest: KnownContest) -> Self:
        """Take it from an answer."""
        return cls(
            path=contest.field,
            sides=[
                FieldContestSide(author=author, value=Json(value))
                for author, value in contest.sides
            ],
            since=contest.since,
            until=contest.until,
            entries=[strawberry.ID(str(one.entry)) for one in contest.lines],
        )


@described
class Who:
    """Who changed each field of an object last."""

    entry: Line
    """The newest version as of that time, or the end of the object."""

    created: Author | None
    """Null if the log does not hold its beginning."""

    deleted: Author | None
    """Null if the object was still there."""

    fields: list[FieldChange]
    """By path. A part that nobody changed since it began is one field."""

    contests: list[FieldContest]
    """Where two authors took turns at a field."""

    more: bool
    """Whether there are older versions that were not compared."""

    coverage: Coverage
