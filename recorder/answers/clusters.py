"""Answers of `recorder clusters`: the logs that a place knows, and holes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from msgspec import field

from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts.coverage.ports import Log
from recorder.model.document import Document

__all__ = [
    "Away",
    "COLUMNS",
    "Clusters",
    "Known",
    "KnownCluster",
    "cluster_cells",
]


class Away(Document, frozen=True, kw_only=True):
    """A cluster of which nothing can be read now."""

    cluster: str

    # Without what only the operator should know, such as an address.
    why: str
    uid: str | None = field(default=None, name="_uid")
    """None where its log was never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The logs that can be read now, oldest first, and who is away."""

    logs: Sequence[Log]
    away: Sequence[Away] = ()


class KnownCluster(Document, frozen=True, kw_only=True):
    """One cluster's log; without a log where its database is away."""

    name: str | None
    uid: str | None = None
    kubernetes: str | None = None
    log: int | None = None
    kind: str | None = None
    size: int | None = None
    recorded_at: datetime | None = None
    writer: str | None = None
    state: str
    """``tape``, ``recording``, ``stopped`` if nothing writes it, ``away``."""

    database: str
    why: str | None = None
    """Why it is away."""

    @classmethod
    def of(cls, log: Log, place: str) -> Self:
        """Return a log that lies in a place."""
        stopped = "stopped" if log.holder is None else "recording"
        return cls(
            name=log.cluster_name,
            uid=log.cluster_uid,
            kubernetes=log.kubernetes,
            log=log.id,
            kind=log.kind,
            size=log.size,
            recorded_at=log.recorded_at,
            writer=log.holder,
            state="tape" if log.is_tape else stopped,
            database=place,
        )


class Clusters(Document, frozen=True, kw_only=True):
    """Every log that is known; complete if every database was read."""

    clusters: Sequence[KnownCluster]
    complete: bool


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
