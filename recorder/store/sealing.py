"""Sealing: hashes for batches that were written before there were any.

What they prove begins with the day on which they were made, and the headers
say so. The last step holds the head of the log, so that the writer goes on
from the tree that was computed.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import asyncpg
import msgspec

from recorder.integrity.leaves import BatchHeader
from recorder.integrity.tree import CompactRange
from recorder.model.errors import LogError
from recorder.store.checking import check_batches
from recorder.store.dimension import HOLD_HEAD
from recorder.store.read_batches import LogEnd, read_end
from recorder.store.statement import Statement

ROWS_AT_ONCE = 1_000

SEAL = Statement.of("""
    insert into recorder.seal (log_id, batch, root, tree, sealed_at)
    values (:log, :batch, :root, :tree, :sealed_at) on conflict do nothing
""")
SET_PEAKS = Statement.of("""
    update recorder.log_head set peaks = :peaks where log_id = :log
""")


async def seal(connection: asyncpg.Connection, end: LogEnd) -> int:
    """Seal the batches of a log; return how many there were.

    If it is interrupted, the next call computes the same again: the log has a
    tree only after the last step.
    """
    tree, sealed = CompactRange(), 0
    sealed_at = datetime.now(UTC)
    while True:
        if end.batches - tree.end <= ROWS_AT_ONCE:
            async with connection.transaction():
                await HOLD_HEAD.execute(connection, log=end.log)
                end = await read_end(connection, end.log)
                if end.peaks is not None:
                    return sealed
                if end.batches - tree.end <= 2 * ROWS_AT_ONCE:
                    sealed += await _seal(connection, end, tree, sealed_at)
                    await SET_PEAKS.execute(
                        connection, log=end.log, peaks=tree.pack()
                    )
                    return sealed
        async with connection.transaction():
            sealed += await _seal(connection, end, tree, sealed_at)
        end = await read_end(connection, end.log)


async def _seal(
    connection: asyncpg.Connection,
    end: LogEnd,
    tree: CompactRange,
    sealed_at: datetime,
) -> int:
    """Append the batches that are not in a tree yet; return how many."""
    rows = []
    async for header in _headers(connection, end, tree.end, sealed_at):
        tree.append(header.hash())
        rows.append(
            {
                "log": end.log,
                "batch": header.batch,
                "root": header.root,
                "tree": tree.root(),
                "sealed_at": sealed_at,
            }
        )
    await SEAL.execute_many(connection, rows)
    return len(rows)


async def _headers(
    connection: asyncpg.Connection,
    end: LogEnd,
    after: int,
    sealed_at: datetime,
) -> AsyncIterator[BatchHeader]:
    """Yield the headers behind a batch, with roots computed where missing."""
    checked = check_batches(connection, end, after=after, until=end.batches)
    async for one in checked:
        if one.stored.is_hashed:
            yield one.stored.header
        elif one.root is None:
            names = "; ".join(problem.says for problem in one.problems)
            msg = f"cannot seal log {end.log}: {names}"
            raise LogError(msg)
        else:
            yield msgspec.structs.replace(
                one.stored.header, root=one.root, sealed_at=sealed_at
            )
