"""Answers of `recorder clusters`: the logs of all databases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from msgspec import field

from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts.coverage.ports import Log
from recorder.model.document import Document


class Away(Document, frozen=True, kw_only=True):
    """A cluster whose log cannot be read now."""

    cluster: str

    # Without what only the operator should know, such as an address.
    why: str
    uid: str | None = field(default=None, name="_uid")
    """None if its log was never read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Logs that can be read now, oldest first, and unavailable clusters."""

    logs: Sequence[Log]
    away: Sequence[Away] = ()


class KnownCluster(Document, frozen=True, kw_only=True):
    """The log of one cluster; without it if its database is unavailable."""

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
    """Why it is unavailable."""

    @classmethod
    def of(cls, log: Log, place: str) -> Self:
        """Return a log of the database ``place``."""
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
    """All logs; complete if every database was read."""

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
    """Return a cluster as a row of the table."""
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
