"""One object: its versions, and itself at any time."""

import strawberry

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from api.resolvers.types.pages import PageInfo
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from recorder.answers.changes import ShownChange
from recorder.answers.diff import Difference
from recorder.answers.history import ShownVersion
from recorder.answers.nouns import Heartbeats
from recorder.answers.show import Shown
from recorder.facts.classify.managers import FieldManager
from recorder.model.author import Author
from recorder.model.entry import Entry
from recorder.model.reference import ObjectIdentity


class _Change:
    @strawberry.field
    @staticmethod
    def author(change: strawberry.Parent[ShownChange]) -> Author | None:
        """Who changed it; null where only the version was opened."""
        return change.made_by


class _Version:
    @strawberry.field
    @staticmethod
    def entry(version: strawberry.Parent[ShownVersion]) -> Entry:
        return version.line

    @strawberry.field
    @staticmethod
    def writers(
        version: strawberry.Parent[ShownVersion],
    ) -> list[FieldManager]:
        """Who wrote it, according to field managers; empty if unknown."""
        return [*(version.actor or ())]


class _Difference:
    @strawberry.field
    @staticmethod
    def object(found: strawberry.Parent[Difference]) -> ObjectIdentity:
        return found.identity

    @strawberry.field
    @staticmethod
    def before(found: strawberry.Parent[Difference]) -> Entry | None:
        """The version at the start."""
        return found.before.line

    @strawberry.field
    @staticmethod
    def after(found: strawberry.Parent[Difference]) -> Entry | None:
        """The version at the end."""
        return found.after.line

    @strawberry.field
    @staticmethod
    def writers(
        found: strawberry.Parent[Difference],
    ) -> list[FieldManager]:
        return [*(found.actor or ())]


class _Shown:
    @strawberry.field
    @staticmethod
    def document(found: strawberry.Parent[Shown]) -> Json:
        """With the apiVersion and kind that items of lists do not carry."""
        return Json(found.object)


publish(Heartbeats)
publish(
    Shown,
    name="ObjectAt",
    adds=_Shown,
    without=("kind",),
    order=("document", "heartbeats"),
)
publish(ShownChange, name="Change", adds=_Change)
publish(
    ShownVersion,
    name="Version",
    adds=_Version,
    shows=("begins", "uid_before"),
    without=("operation", "resource_version", "observed_at", "uid", "actor"),
    order=("writers", "author"),
)
publish(
    Difference,
    adds=_Difference,
    without=("actor",),
    order=("outcome", "before", "after", "changed", "writers", "coverage"),
)


@described
class VersionEdge:
    """A version and its place."""

    cursor: str
    """Opaque cursor, valid for this log only."""

    node: ShownVersion


@described
class VersionConnection:
    """Versions in log order, oldest first."""

    edges: list[VersionEdge]

    nodes: list[ShownVersion]

    page_info: PageInfo

    heartbeats: Heartbeats | None
    """Heartbeats of the current incarnation."""

    coverage: Coverage
