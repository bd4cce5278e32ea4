"""The proof that a log only grew since it had a number of batches."""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import asyncpg

from recorder.errors import LogError
from recorder.integrity.tree import (
    CompactRange,
    consistency_proof,
    tree_hash,
)
from recorder.store.read_batches import (
    LogEnd,
    dropped_days,
    headers,
)

__all__ = ["prove_growth"]


class NoProofError(LogError):
    """Too little is left of a log to prove how it grew."""

    code = "log.no_proof"


async def prove_growth(
    connection: asyncpg.Connection, end: LogEnd, old: int
) -> Sequence[bytes]:
    """Return the proof that the tree begins with that of ``old`` batches.

    It needs the largest subtrees of the older tree, and the hashes of the
    batches behind it: what a log grew by since.

    Raises:
        NoProofError: the older tree ends within a day that was dropped.
    """
    before, leaves = CompactRange(), []
    for day in await dropped_days(connection, end):
        if day.last_batch > old:
            msg = (
                f"cannot prove how log {end.log} grew since it had {old}"
                f" batches: {day.name} was dropped"
            )
            raise NoProofError(msg)
        before.join(
            CompactRange.unpack(
                day.first_batch - 1, day.last_batch, day.packed
            )
        )
    async for one in _hashes(connection, end):
        if before.end < old:
            before.append(one)
        else:
            leaves.append(one)
    peaks = dict(zip(_spans(before), before.hashes, strict=True))

    def subtree(first: int, last: int) -> bytes:
        if first >= old:
            return tree_hash(leaves[first - old : last - old])
        inside = [
            one for (a, b), one in peaks.items() if first <= a and b <= last
        ]
        return CompactRange(first, last, inside).fold()

    return consistency_proof(old, end.batches, subtree)


async def _hashes(
    connection: asyncpg.Connection, end: LogEnd
) -> AsyncIterator[bytes]:
    after = end.pruned_batches
    async for one in headers(connection, end, after=after, until=end.batches):
        yield one.header.hash()


def _spans(tree: CompactRange) -> Sequence[tuple[int, int]]:
    """Return the spans of the largest subtrees of a tree."""
    bounds = [0]
    for bit in reversed(range(tree.end.bit_length())):
        if tree.end >> bit & 1:
            bounds.append(bounds[-1] + (1 << bit))
    return list(pairwise(bounds))
