"""Facts: typed things that happened, each proved by one entry."""

from datetime import datetime

import strawberry
from msgspec import to_builtins

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from api.resolvers.types.pages import PageInfo
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from recorder.facts import says
from recorder.model.fact import FactKind, StoredFact
from recorder.model.reference import ObjectIdentity

__all__ = ["FactBatch", "FactConnection", "FactEdge"]


class _Thing:
    """Fields of an object that GraphQL changes."""

    @strawberry.field
    @staticmethod
    def namespace(thing: strawberry.Parent[ObjectIdentity]) -> str | None:
        """Null for cluster-scoped objects."""
        return thing.namespace or None


publish(ObjectIdentity, name="ObjectReference", adds=_Thing)


class _Fact:
    """Fields that GraphQL adds to a fact."""

    at: datetime
    """When it happened, or when it was observed."""

    @strawberry.field
    @staticmethod
    def kind(stored: strawberry.Parent[StoredFact]) -> FactKind:
        return stored.fact.kind

    @strawberry.field
    @staticmethod
    def node(stored: strawberry.Parent[StoredFact]) -> str | None:
        """The node it is about."""
        return stored.fact.node

    @strawberry.field
    @staticmethod
    def object(
        stored: strawberry.Parent[StoredFact],
    ) -> ObjectIdentity | None:
        return stored.fact.object

    @strawberry.field
    @staticmethod
    def occurred_at(
        stored: strawberry.Parent[StoredFact],
    ) -> datetime | None:
        """By the cluster's clock; null if no source reports it."""
        return stored.fact.occurred_at

    @strawberry.field
    @staticmethod
    def actor(stored: strawberry.Parent[StoredFact]) -> str | None:
        """Who did it, according to the entry."""
        return stored.fact.actor

    @strawberry.field
    @staticmethod
    def says(stored: strawberry.Parent[StoredFact]) -> str:
        """A short description."""
        return says(stored.fact)

    @strawberry.field
    @staticmethod
    def type(stored: strawberry.Parent[StoredFact]) -> str | None:
        """Of a condition, an Event, or a claim; as in `detail`."""
        found: str | None = getattr(stored.fact.detail, "type", None)
        return found

    @strawberry.field
    @staticmethod
    def detail(stored: strawberry.Parent[StoredFact]) -> Json:
        """Old and new; its members by kind are documented in docs/facts.md."""
        return Json(to_builtins(stored.fact.detail))


publish(
    StoredFact,
    name="Fact",
    adds=_Fact,
    without=("fact",),
    order=("kind", "node", "object", "at", "occurred_at", "observed_at"),
)


@described
class FactEdge:
    """A fact and its place."""

    cursor: str
    """Opaque cursor, valid for this log only."""

    node: StoredFact


@described
class FactConnection:
    """Facts in log order, oldest first."""

    edges: list[FactEdge]

    nodes: list[StoredFact]

    page_info: PageInfo

    coverage: Coverage


@described
class FactBatch:
    """Facts committed together, in log order, each delivered once."""

    facts: list[StoredFact]
    """Empty if only the coverage changed."""

    cursor: str
    """Pass it as `after` to resume without loss or duplicates."""

    coverage: Coverage
    """What is confirmed complete as of now."""
