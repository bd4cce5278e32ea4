"""Nodes as they were, and the values of their labels."""

from api.context import RequestContext
from api.types.nodes import LabelValue, LabelValues
from recorder.answers.nodes import ask_labels
from recorder.answers.ports import Reading

__all__ = ["label_values"]


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
