"""Who changed each field of an object last."""

import strawberry

from api.resolvers.types.publishing import publish
from recorder.answers.fields import FieldChange
from recorder.answers.who import FieldContest, FieldContestSide, Who
from recorder.model.entry import Entry

__all__ = ["Who"]


class _ChangeFields:
    @strawberry.field
    @staticmethod
    def entry(change: strawberry.Parent[FieldChange]) -> Entry:
        return change.line


publish(FieldChange, adds=_ChangeFields, without=["observed_at"])
publish(FieldContestSide)
publish(FieldContest)


class _WhoFields:
    @strawberry.field
    @staticmethod
    def entry(who: strawberry.Parent[Who]) -> Entry:
        return who.line


publish(Who, adds=_WhoFields, without=("object", "operation", "observed_at"))
