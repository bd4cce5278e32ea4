"""Entries as columns for people."""

from recorder.questions.lines import says
from recorder.questions.nouns import Line
from recorder.questions.references import named
from recorder.render.table import Cell, Column, Kind

__all__ = ["COLUMNS", "line_columns"]

COLUMNS = (
    Column("ENTRY"),
    Column("OBSERVED", Kind.TIME),
    Column("RESOURCE", rank=3),
    Column("OPERATION", rank=1),
    Column("OBJECT"),
    Column("NODE", rank=2),
    Column("SAYS"),
)


def line_columns(line: Line) -> list[Cell]:
    """Return a line as the columns of a table."""
    identity = line.identity
    shown = ""
    if identity is not None:
        shown = named(identity.kind.lower(), identity.namespace, identity.name)
    return [
        str(line.entry),
        line.observed_at,
        (line.resource or "").rpartition("/")[2],
        line.operation.value,
        shown,
        line.node or "",
        " ".join(says(line).split()),
    ]
