"""Answers of `recorder info`: the span, gaps and last proof of each log."""

from collections.abc import Sequence
from datetime import datetime

from recorder.answers.text.table import Cell, Column, Kind
from recorder.model.document import Document

COLUMNS = (
    Column("LOG"),
    Column("CLUSTER"),
    Column("KIND", rank=3),
    Column("FROM", Kind.TIME),
    Column("UNTIL", Kind.TIME),
    Column("ENTRIES", rank=1),
    Column("OUTAGES"),
    Column("PROVEN", Kind.TIME, rank=2),
)


class ShownExtent(Document, frozen=True, kw_only=True):
    """One log."""

    log: int
    cluster: str
    kind: str
    since: datetime | None
    """When its first entry in the database was observed."""

    until: datetime | None
    """When its last entry was observed."""

    entries: int
    outages: int
    """How many spans of it may be incomplete."""

    proven_at: datetime | None
    """When its newest checkpoint was signed; null if there is none."""


class LogExtents(Document, frozen=True, kw_only=True):
    """All logs of a database, and its size."""

    logs: Sequence[ShownExtent]
    bytes: int


def extent_cells(one: ShownExtent) -> Sequence[Cell]:
    """Return the cells of a log."""
    return (
        one.log,
        one.cluster,
        one.kind,
        one.since,
        one.until,
        one.entries,
        one.outages,
        one.proven_at,
    )
