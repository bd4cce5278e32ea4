"""Nodes as they were at a time, and the values of their labels."""

from datetime import datetime
from typing import Self

from api.describing import described
from api.publishing import publish
from api.scalars import Json
from api.types.coverage import Coverage
from recorder.questions.nodes import NodeAtTime, Nodes

__all__ = ["LabelValue", "LabelValues", "NodeAtTime", "NodesAtTime"]


class _NodeFields:
    labels: Json


publish(NodeAtTime, adds=_NodeFields)


@described
class NodesAtTime:
    """The nodes that there were at a time, by name."""

    at: datetime | None
    """The time of the query, or the end of the record."""

    nodes: list[NodeAtTime]

    coverage: Coverage

    @classmethod
    def of(cls, answer: Nodes) -> Self:
        """Take it from an answer."""
        return cls(
            at=answer.at,
            nodes=[*answer.nodes],
            coverage=answer.coverage,
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
