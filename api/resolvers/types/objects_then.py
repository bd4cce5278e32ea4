"""Objects of a kind as they were at a time."""

from datetime import datetime

import strawberry

from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from recorder.answers.objects import ObjectAtTime, Objects

__all__ = ["Objects"]


class _ObjectFields:
    labels: Json


class _ObjectsFields:
    @strawberry.field
    @staticmethod
    def at(objects: strawberry.Parent[Objects]) -> datetime | None:
        """The time of the query, or the end of the record."""
        return objects.question.at


publish(ObjectAtTime, adds=_ObjectFields)
publish(
    Objects,
    name="ObjectsAtTime",
    adds=_ObjectsFields,
    without=["question"],
    order=("at", "objects", "more", "coverage"),
)
