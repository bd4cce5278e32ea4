"""Places at a time, and one place in a window."""

from datetime import datetime

import strawberry

from api.resolvers.types.publishing import publish
from recorder.answers.topology import (
    ClaimedMinute,
    PlaceAtTime,
    PlaceClaim,
    PlaceConflict,
    PlaceFound,
    PlaceRelation,
    Places,
)

__all__ = ["PlaceFound", "Places"]


class _PlacesFields:
    @strawberry.field
    @staticmethod
    def at(places: strawberry.Parent[Places]) -> datetime | None:
        """The time of the query, or the end of the record."""
        return places.question.at


publish(PlaceAtTime)
publish(PlaceConflict)
publish(
    Places,
    name="PlacesAtTime",
    adds=_PlacesFields,
    without=["question"],
    order=("at", "places", "conflicts", "coverage"),
)
publish(PlaceRelation)
publish(PlaceClaim)
publish(ClaimedMinute)
publish(PlaceFound)
