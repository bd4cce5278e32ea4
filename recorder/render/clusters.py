"""The logs that a place knows, as a table."""

from collections.abc import Sequence

from recorder.questions.clusters import KnownCluster
from recorder.render.table import Cell, Column, Kind

__all__ = ["COLUMNS", "cluster_cells"]

COLUMNS = (
    Column("CLUSTER"),
    Column("LOG"),
    Column("STATE", colours={"away": "red", "recording": "green"}),
    Column("ENTRIES", rank=2),
    Column("RECORDED", Kind.AGE, rank=1),
    Column("KUBERNETES", rank=3),
    Column("UID", wide=True),
    Column("DATABASE", rank=4),
)


def cluster_cells(one: KnownCluster) -> Sequence[Cell]:
    """Return a cluster as the cells of a table."""
    return (
        one.name or "",
        "" if one.log is None else str(one.log),
        one.state,
        one.size,
        one.recorded_at or "",
        one.kubernetes or "",
        one.uid or "",
        one.database,
    )
