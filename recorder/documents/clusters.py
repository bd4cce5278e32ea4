"""The logs that a place knows, as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.model.document import Document
from recorder.questions.clusters import ClustersAnswer, KnownLog, UnreadPlace

__all__ = ["ClustersDocument", "KnownDocument"]


class KnownDocument(Document, frozen=True, kw_only=True):
    """One cluster's log; without a log where its database is away."""

    name: str | None
    uid: str | None
    kubernetes: str | None
    log: int | None
    kind: str | None
    size: int | None
    recorded_at: datetime | None
    writer: str | None
    state: str
    database: str
    why: str | None

    @classmethod
    def of(cls, known: KnownLog) -> Self:
        """Return the document of a log."""
        log = known.log
        return cls(
            name=log.cluster_name,
            uid=log.cluster_uid,
            kubernetes=log.kubernetes,
            log=log.id,
            kind=log.kind,
            size=log.size,
            recorded_at=log.recorded_at,
            writer=log.holder,
            state=known.state,
            database=known.place,
            why=None,
        )

    @classmethod
    def of_unread(cls, unread: UnreadPlace) -> Self:
        """Return the document of a cluster whose database is away."""
        return cls(
            name=unread.cluster,
            uid=None,
            kubernetes=None,
            log=None,
            kind=None,
            size=None,
            recorded_at=None,
            writer=None,
            state="away",
            database=unread.place,
            why=unread.why,
        )


class ClustersDocument(Document, frozen=True, kw_only=True):
    """All of them; complete if every database was read."""

    clusters: Sequence[KnownDocument]
    complete: bool

    @classmethod
    def of(cls, answer: ClustersAnswer) -> Self:
        """Return the document of an answer."""
        return cls(
            clusters=[
                *map(KnownDocument.of, answer.logs),
                *map(KnownDocument.of_unread, answer.unread),
            ],
            complete=not answer.unread,
        )
