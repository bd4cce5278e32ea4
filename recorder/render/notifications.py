"""Notifications as columns for people."""

from collections.abc import Sequence

from recorder.documents.notifications import NotificationDocument
from recorder.render.table import Cell, Column, Kind

__all__ = ["COLUMNS", "notification_cells"]

COLUMNS = (
    Column("ID"),
    Column("AGE", Kind.AGE),
    Column("RULE"),
    Column("STATE"),
    Column("TELLS"),
    Column("CLUSTER", wide=True),
    Column("INCIDENT"),
    Column("NODES", rank=1),
    Column("ATTEMPTS", rank=2),
    Column("NEXT", Kind.TIME, wide=True),
    Column("SUMMARY"),
    Column("WHY", wide=True),
)

NODES_SHOWN = 3


def notification_cells(shown: NotificationDocument) -> Sequence[Cell]:
    """Return a message as the cells of a table.

    Of one that is not posted the summary says why.
    """
    more = len(shown.nodes) - NODES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return (
        shown.id,
        shown.created_at,
        shown.rule,
        shown.state,
        shown.stage,
        shown.cluster,
        shown.incident,
        ",".join(shown.nodes[:NODES_SHOWN]) + rest,
        shown.attempts,
        shown.due_at,
        shown.why or shown.sentence,
        shown.why or "",
    )
