"""The hashes of a batch that is about to be written."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from recorder.intake.state import Batch
from recorder.integrity.leaves import (
    BatchHeader,
    entry_hash,
    micros,
    origin_of,
)
from recorder.integrity.tree import CompactRange, tree_hash


class LogIdentity(NamedTuple):
    """The identity of a log in the headers of its batches."""

    uid: UUID
    cluster_uid: str

    @property
    def origin(self) -> str:
        """The origin of its checkpoints."""
        return origin_of(self.uid)


class Hashes(NamedTuple):
    """Hashes of a batch, and of the log up to and including it."""

    root: bytes | None
    tree: bytes | None
    """None if older batches of the log are not sealed."""

    peaks: bytes | None


def hash_batch(
    batch: Batch,
    identity: LogIdentity,
    *,
    number: int,
    term: int,
    recorded_at: datetime,
    peaks: bytes | None,
) -> Hashes:
    """Hash the entries of a batch, and append it to the log's tree.

    Args:
        batch: with one entry or more.
        identity: of the log.
        number: of the batch within the log.
        term: of the writer's lease.
        recorded_at: of all of its entries.
        peaks: of the tree over the batches before, None if not known.
    """
    recorded = micros(recorded_at)
    root = tree_hash(
        [
            entry_hash(
                draft, position=position, epoch=epoch, recorded=recorded
            )
            for position, (epoch, draft) in enumerate(
                batch.drafts, batch.first_position
            )
        ]
    )
    if peaks is None:
        return Hashes(root, None, None)
    observed = [draft.observed_at for _, draft in batch.drafts]
    header = BatchHeader(
        origin=identity.origin,
        cluster_uid=identity.cluster_uid,
        batch=number,
        first_position=batch.first_position,
        entries=len(batch),
        term=term,
        recorded_at=recorded_at,
        observed_min=min(observed),
        observed_max=max(observed),
        root=root,
    )
    tree = CompactRange.unpack(0, number - 1, peaks)
    tree.append(header.hash())
    return Hashes(root, tree.root(), tree.pack())
