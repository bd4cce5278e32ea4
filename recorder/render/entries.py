"""Entries as columns for people."""

from recorder.documents.entries import says
from recorder.model.moment import written
from recorder.questions.ports import Line
from recorder.questions.references import named

__all__ = ["COLUMNS", "line_columns"]

COLUMNS = (
    "ENTRY",
    "OBSERVED",
    "RESOURCE",
    "OPERATION",
    "OBJECT",
    "NODE",
    "SAYS",
)


def line_columns(line: Line) -> list[str]:
    """Return a line as the columns of a table."""
    identity = line.identity
    shown = ""
    if identity is not None:
        shown = named(identity.kind.lower(), identity.namespace, identity.name)
    return [
        str(line.entry),
        written(line.observed_at),
        (line.resource or "").rpartition("/")[2],
        line.operation.value,
        shown,
        line.node or "",
        " ".join(says(line).split()),
    ]
