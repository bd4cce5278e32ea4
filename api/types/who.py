"""Who changed each field of an object last."""

import strawberry

from api.describing import described
from api.publishing import publish
from api.types.coverage import Coverage
from recorder.model.author import Author
from recorder.questions.contests import FieldContest, FieldContestSide
from recorder.questions.fields import FieldChange
from recorder.questions.nouns import Line

__all__ = ["Who"]


class _ChangeFields:
    @strawberry.field
    @staticmethod
    def entry(change: strawberry.Parent[FieldChange]) -> Line:
        return change.line


publish(FieldChange, adds=_ChangeFields, without=["observed_at"])
publish(FieldContestSide)
publish(FieldContest)


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
