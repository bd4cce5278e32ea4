"""Nodes as they were at a time, and the values of their labels."""

from collections.abc import Mapping
from datetime import datetime
from typing import Self

import strawberry

from api.resolvers.types.describing import described
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from recorder.answers.nodes import NodeAtTime, Nodes

__all__ = ["LabelValue", "LabelValues", "Nodes"]


class _NodeFields:
    labels: Json


class _NodesFields:
    @strawberry.field
    @staticmethod
    def at(nodes: strawberry.Parent[Nodes]) -> datetime | None:
        """The time of the query, or the end of the record."""
        return nodes.question.at


publish(NodeAtTime, adds=_NodeFields)
publish(
    Nodes,
    name="NodesAtTime",
    adds=_NodesFields,
    without=["question"],
    order=("at", "nodes", "coverage"),
)


@described
class LabelValue:
    """One value of a label of nodes."""

    value: str

    nodes: int
    """How many nodes have it."""


@described
class LabelValues:
    """The values of one label of nodes, in order."""

    key: str

    values: list[LabelValue]

    @classmethod
    def of(cls, key: str, counts: Mapping[str, int]) -> Self:
        """Return how many nodes have each value of a label."""
        return cls(
            key=key,
            values=[
                LabelValue(value=value, nodes=count)
                for value, count in counts.items()
            ],
        )
