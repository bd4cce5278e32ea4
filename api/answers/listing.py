"""Nodes as they were, and the values of their labels."""

from collections.abc import Iterable
from datetime import datetime

from api.context import RequestContext
from api.types.nodes import LabelValue, LabelValues, Nodes
from recorder.questions.impact import Labels
from recorder.questions.nodes import NodesQuestion, ask_labels, ask_nodes
from recorder.questions.ports import Reading

__all__ = ["label_values", "nodes"]


async def nodes(
    asked: RequestContext,
    reading: Reading,
    at: datetime | None,
    *,
    rack: str | None,
    labels: Iterable[str],
) -> Nodes:
    """List the nodes that there were at a time.

    Raises:
        ConfigError: a label has another form than ``KEY=VALUE``.
    """
    question = NodesQuestion(labels=Labels.of(rack, labels), at=at)
    return await ask_nodes(reading, question, now=asked.now)


async def label_values(
    asked: RequestContext, reading: Reading, key: str | None
) -> list[LabelValues]:
    """List the values of a label, or of those that say where nodes stand."""
    found = await ask_labels(reading, key, now=asked.now)
    return [
        LabelValues(
            key=name,
            values=[
                LabelValue(value=value, nodes=count)
                for value, count in values.items()
            ],
        )
        for name, values in found.items()
    ]
