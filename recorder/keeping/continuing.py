"""A log and its signed checkpoints: whether both are of one history.

Before a checkpoint is signed, the tree of the last one is extended by the
batches behind it, and must give the hash that is about to be signed. The
database keeps the subtrees of each checkpoint: they fold to the signed hash,
or are not believed and computed from the first batch on.

After a log was verified, its checkpoints show whether two histories were
signed, or whether a place lacks checkpoints that were written to it. To a
witness, a proof shows that a log only grew since it had a number of batches.
"""

from collections import defaultdict
from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import pairwise

import asyncpg

from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.notes import Checkpoint
from recorder.integrity.tree import (
    CompactRange,
    ProofError,
    consistency_proof,
    tree_hash,
)
from recorder.integrity.verified import Verified
from recorder.model.errors import LogError
from recorder.store.read_batches import (
    LogEnd,
    dropped_days,
    headers,
    stored_peaks,
)


class ForkedError(LogError):
    """A log does not continue its signed checkpoints."""

    code = "log.forked"


async def check_continues(
    connection: asyncpg.Connection, end: LogEnd, last: Iterable[Witnessed]
) -> None:
    """Check that a log extends the last checkpoint of each place.

    A checkpoint whose last batch is within a dropped day is not compared:
    what joins that batch to the next day is only in the archive.

    Raises:
        ForkedError: it is shorter, or another history under its name.
    """
    different = {found.checkpoint: found for found in last}
    for witnessed in different.values():
        if witnessed.checkpoint.batches > end.batches:
            why = f"it has only {end.batches}"
            raise _refused(end, witnessed, why)
        if await _is_other(connection, end, witnessed):
            why = f"its {end.batches} batches do not continue them"
            raise _refused(end, witnessed, why)


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


def lacking(
    place: str, written: frozenset[Checkpoint], held: Sequence[Witnessed]
) -> Iterator[Problem]:
    """Yield that a place lacks checkpoints that were written to it."""
    missing = written - {one.checkpoint for one in held}
    if missing:
        sizes = sorted(one.batches for one in missing)
        yield Problem(
            kind="checkpoint-missing",
            batch=sizes[0],
            says=f"{place} lacks {len(missing)} of {len(written)} checkpoints"
            f" that were written to it, of {sizes[0]} to {sizes[-1]} batches",
        )


def forks(found: Verified) -> Iterator[Problem]:
    """Yield the signed checkpoints that are of another history of the log.

    Either two commit to as many batches with different hashes, or one differs
    from a log that a larger one agrees with. Without trusted keys they may be
    forged.
    """
    if not found.signed:
        return
    by_size: Mapping[int, set[bytes]] = defaultdict(set)
    for one in found.witnessed:
        by_size[one.checkpoint.batches].add(one.checkpoint.root)
    differing = {
        problem.batch
        for problem in found.problems
        if problem.kind == "checkpoint-mismatch"
    }
    for size in sorted(by_size):
        is_other = size in differing and size < found.agreed
        if len(by_size[size]) > 1 or is_other:
            yield Problem(
                kind="forked",
                batch=size,
                says=f"two histories of {found.origin} were signed: there are"
                f" checkpoints of {size} batches of both",
            )


async def prove_growth(
    connection: asyncpg.Connection, end: LogEnd, old: int
) -> Sequence[bytes]:
    """Return the proof that the tree begins with that of ``old`` batches.

    It needs the largest subtrees of the older tree, and the hashes of the
    batches behind it: what a log grew by since.

    Raises:
        LogError: the older tree ends within a day that was dropped.
    """
    before = await _extended(connection, end, CompactRange(), old)
    if before is None:
        days = await dropped_days(connection, end)
        name = next((d.name for d in days if d.last_batch > old), "a day")
        msg = (
            f"cannot prove how log {end.log} grew since it had {old}"
            f" batches: {name} was dropped"
        )
        raise LogError(msg, code="log.no_proof")
    behind = headers(connection, end, after=old, until=end.batches)
    leaves = [one.header.hash() async for one in behind]
    peaks = dict(zip(_spans(before), before.hashes, strict=True))

    def subtree(first: int, last: int) -> bytes:
        if first >= old:
            return tree_hash(leaves[first - old : last - old])
        inside = [
            one for (a, b), one in peaks.items() if first <= a and b <= last
        ]
        return CompactRange(first, last, inside).fold()

    return consistency_proof(old, end.batches, subtree)


def _spans(tree: CompactRange) -> Sequence[tuple[int, int]]:
    """Return the spans of the largest subtrees of a tree."""
    bounds = [0]
    for bit in reversed(range(tree.end.bit_length())):
        if tree.end >> bit & 1:
            bounds.append(bounds[-1] + (1 << bit))
    return list(pairwise(bounds))
