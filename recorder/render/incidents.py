"""Incidents as columns for people."""

from collections.abc import Sequence

from recorder.questions.incidents import Incident
from recorder.render.table import CONFIDENCES, Cell, Column, Kind

__all__ = ["COLUMNS", "incident_cells"]

COLUMNS = (
    Column("FROM", Kind.TIME, rank=2),
    Column("AGE", Kind.AGE),
    Column("TO", Kind.TIME, wide=True),
    Column("ID", wide=True),
    Column("NODES", rank=1),
    Column("HAPPENED", rank=5),
    Column("CAUSE"),
    Column("CONFIDENCE", colours=CONFIDENCES),
    Column("GROUP", wide=True),
    Column("WORKLOADS", rank=4),
    Column("GPU-HOURS", rank=3),
    Column("SUMMARY"),
)

NODES_SHOWN = 3


def incident_cells(shown: Incident) -> Sequence[Cell]:
    """Return an incident as the cells of a table."""
    nodes = shown.nodes
    more = len(nodes) - NODES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return (
        shown.since,
        shown.since,
        shown.until,
        shown.id,
        ",".join(nodes[:NODES_SHOWN]) + rest,
        shown.happened,
        shown.cause,
        shown.confidence,
        shown.group,
        shown.workloads,
        shown.gpu_hours_lost,
        shown.sentence,
    )
