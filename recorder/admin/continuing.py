"""Whether a log continues what was signed of it, asked before it is signed.

The tree of the last checkpoint is extended by the batches behind it, and must
give the hash that is about to be signed. The database keeps the subtrees of
each checkpoint: they fold to the signed hash, or are not believed and
computed from the first batch on.
"""

from collections.abc import Iterable

import asyncpg

from recorder.errors import LogError
from recorder.integrity.chain import Witnessed
from recorder.integrity.tree import CompactRange, ProofError
from recorder.store.read_batches import (
    LogEnd,
    dropped_days,
    headers,
    stored_peaks,
)

__all__ = ["ForkedError", "check_continues"]


class ForkedError(LogError):
    """A log is not the continuation of what was signed of it."""

    code = "log.forked"


async def check_continues(
    connection: asyncpg.Connection, end: LogEnd, last: Iterable[Witnessed]
) -> None:
    """Check that a log extends the checkpoints that places show last.

    One that ends within a day that was dropped proves nothing here: what
    joins it to the next day is in the archive.

    Raises:
        ForkedError: it is shorter, or another history under its name.
    """
    for one in {found.checkpoint: found for found in last}.values():
        signed = one.checkpoint.batches
        if signed > end.batches:
            raise _refused(end, one, f"it has only {end.batches}")
        if await _is_other(connection, end, one):
            raise _refused(
                end, one, f"its {end.batches} batches do not continue them"
            )


async def _is_other(
    connection: asyncpg.Connection, end: LogEnd, one: Witnessed
) -> bool:
    """Return whether the history of a log is not that of a checkpoint."""
    try:
        before = await _tree(connection, end, one)
        if before is None:
            return False
        if before.root() != one.checkpoint.root:
            return True
        grown = await _extended(connection, end, before, end.batches)
    except ProofError:
        # What is left of days that were dropped is not what was left.
        return True
    return grown is not None and grown.pack() != end.peaks


def _refused(end: LogEnd, one: Witnessed, why: str) -> ForkedError:
    msg = (
        f"cannot sign a checkpoint of {end.identity.origin}: the last one in"
        f" {one.place} commits to {one.checkpoint.batches} batches, and {why};"
        " run `recorder verify`. If the database was restored from a backup,"
        " name a new place in checkpoint_places, and keep the old one as"
        " evidence"
    )
    return ForkedError(msg)


async def _tree(
    connection: asyncpg.Connection, end: LogEnd, one: Witnessed
) -> CompactRange | None:
    """Return the tree of the batches that a checkpoint commits to."""
    batches, root = one.checkpoint.batches, one.checkpoint.root
    for packed in await stored_peaks(connection, end.log, batches):
        try:
            tree = CompactRange.unpack(0, batches, packed)
        except ProofError:
            continue
        if tree.root() == root:
            return tree
    return await _extended(connection, end, CompactRange(), batches)


async def _extended(
    connection: asyncpg.Connection,
    end: LogEnd,
    tree: CompactRange,
    until: int,
) -> CompactRange | None:
    """Extend a tree; None if it, or the end, lies within a dropped day."""
    for day in await dropped_days(connection, end):
        if day.last_batch <= tree.end:
            continue
        if day.first_batch - 1 != tree.end or day.last_batch > until:
            return None
        tree.join(CompactRange.unpack(tree.end, day.last_batch, day.packed))
    async for one in headers(connection, end, after=tree.end, until=until):
        tree.append(one.header.hash())
    return tree
