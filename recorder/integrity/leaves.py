"""What is hashed of an entry and of a batch: their leaves, version 1.

A leaf is one MessagePack array of the values of every immutable column, by
name and not by number, each in its shortest form, so that it can be computed
from an archive as well as from the database, and by other programs. It has the
digest of the document: a proof can be shown without the document.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

import msgspec

from recorder.integrity.tree import LEAF
from recorder.model.entry import Draft

VERSION = 1

UNIX = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NO_IDENTITY = (None, None, None, None, None)

_encode = msgspec.msgpack.Encoder().encode


def origin_of(uid: UUID) -> str:
    """Return the origin of a log: its name in every database and archive."""
    return f"kube-recorder/{uid}"


def micros(at: datetime) -> int:
    """Return microseconds since 1970, as a leaf has them."""
    since = at - UNIX
    return (
        since.days * 86_400 + since.seconds
    ) * 1_000_000 + since.microseconds


def from_micros(count: int) -> datetime:
    """Return the time of a leaf."""
    return UNIX + count * MICROSECOND


def entry_leaf(
    draft: Draft, *, position: int, epoch: int, recorded: int
) -> bytes:
    """Return the leaf of an entry.

    Args:
        draft: the content of the entry.
        position: where it is.
        epoch: of the cluster's history.
        recorded: its ``recorded_at`` in microseconds since 1970.
    """
    occurred = draft.occurred_at
    return _encode(
        (
            VERSION,
            position,
            epoch,
            recorded,
            micros(draft.observed_at),
            None if occurred is None else micros(occurred),
            draft.operation,
            draft.source,
            draft.resource,
            *(draft.identity or NO_IDENTITY),
            draft.resource_version or None,
            draft.node,
            draft.reason,
            draft.actor,
            sha256(draft.raw).digest(),
        )
    )


def entry_hash(
    draft: Draft, *, position: int, epoch: int, recorded: int
) -> bytes:
    """Return the hash of the leaf of an entry."""
    leaf = entry_leaf(draft, position=position, epoch=epoch, recorded=recorded)
    return sha256(LEAF + leaf).digest()


class BatchHeader(msgspec.Struct, frozen=True, kw_only=True):
    """A batch in the log's tree: a leaf of its own."""

    origin: str
    """Which log, by the origin in its checkpoints."""

    cluster_uid: str
    batch: int
    """Its number, from 1 on; its leaf's index is one less."""

    first_position: int
    entries: int
    term: int
    recorded_at: datetime
    observed_min: datetime
    observed_max: datetime

    root: bytes
    """The hash of the tree over its entries."""

    sealed_at: datetime | None = None
    """When it was hashed, if later than it was written."""

    @property
    def last_position(self) -> int:
        """The position of its last entry."""
        return self.first_position + self.entries - 1

    def leaf(self) -> bytes:
        """Return the leaf of the batch."""
        sealed = self.sealed_at
        return _encode(
            (
                VERSION,
                self.origin,
                self.cluster_uid,
                self.batch,
                self.first_position,
                self.entries,
                self.term,
                micros(self.recorded_at),
                micros(self.observed_min),
                micros(self.observed_max),
                None if sealed is None else micros(sealed),
                self.root,
            )
        )

    def hash(self) -> bytes:
        """Return the hash of the leaf."""
        return sha256(LEAF + self.leaf()).digest()
