"""Facts: typed things that happened, each proved by one entry."""

from datetime import datetime
from typing import Self

import strawberry
from msgspec import to_builtins

from api.describing import described
from api.scalars import Json
from api.types.coverage import Coverage
from api.types.pages import PageInfo
from api.types.reference import ObjectReference
from recorder.facts import says
from recorder.model.fact import FactKind, StoredFact

__all__ = ["Fact", "FactBatch", "FactConnection", "FactEdge"]


@described
class Fact:
    """One observed change or Event, derived from one entry."""

    entry: strawberry.ID
    """The entry that proves it, `LOG/POSITION`."""

    index: int
    """Index among the facts of its entry."""

    kind: FactKind

    node: str | None
    """The node it is about."""

    object: ObjectReference | None

    at: datetime
    """When it happened, or when it was observed."""

    occurred_at: datetime | None
    """By the cluster's clock; null if no source reports it."""

    observed_at: datetime
    """By the recorder's clock."""

    actor: str | None
    """Who did it, according to the entry."""

    says: str
    """A short description."""

    detail: Json
    """Old and new; its members by kind are documented in docs/facts.md."""

    @classmethod
    def of(
        cls, stored: StoredFact, *, told: bool = True, detailed: bool = True
    ) -> Self:
        """Take it from the log; what it says and holds where wanted."""
        fact = stored.fact
        return cls(
            entry=strawberry.ID(str(stored.entry)),
            index=stored.index,
            kind=fact.kind,
            node=fact.node,
            object=ObjectReference.of(fact.object),
            at=stored.at,
            occurred_at=fact.occurred_at,
            observed_at=stored.observed_at,
            actor=fact.actor,
            says=says(fact) if told else "",
            detail=Json(to_builtins(fact.detail) if detailed else None),
        )


@described
class FactEdge:
    """A fact and its place."""

    cursor: str
    """Opaque cursor, valid for this log only."""

    node: Fact


@described
class FactConnection:
    """Facts in log order, oldest first."""

    edges: list[FactEdge]

    nodes: list[Fact]

    page_info: PageInfo

    coverage: Coverage


@described
class FactBatch:
    """Facts committed together, in log order, each delivered once."""

    facts: list[Fact]
    """Empty if only the coverage changed."""

    cursor: str
    """Pass it as `after` to resume without loss or duplicates."""

    coverage: Coverage
    """What is confirmed complete as of now."""
