"""Proofs of single entries, made from the database."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import asyncpg

from recorder.archive.proving import day_entries, day_headers
from recorder.errors import LogError, NotFoundError
from recorder.integrity.leaves import BatchHeader, entry_hash, micros
from recorder.integrity.notes import Checkpoint, SignedNote
from recorder.integrity.proof import Proof, leaf_of, make_proof
from recorder.integrity.tree import Subtree, inclusion_proof, tree_hash
from recorder.model.entry import Draft
from recorder.model.reference import EntryName
from recorder.store.entry_drafts import EntryDrafts
from recorder.store.read_batches import (
    DroppedDay,
    LogEnd,
    dropped_days,
    headers,
    read_end,
    stored_notes,
)

__all__ = ["prove"]


class UnprovenError(LogError):
    """An entry cannot be proven now."""

    code = "log.unproven"


async def prove(connection: asyncpg.Connection, name: EntryName) -> Proof:
    """Return the proof of an entry by the newest checkpoint over it.

    What was dropped is read in the archive.

    Raises:
        NotFoundError: there is no such entry.
        UnprovenError: no checkpoint commits to it yet, or the log does not
            lead to the one that does.
        ArchiveError: what is archived of it is damaged.
        PlaceError: the archive cannot be read.
    """
    end = await read_end(connection, name.log)
    if not 1 <= name.position <= end.size:
        msg = f"there is no entry {name}: log {name.log} has {end.size}"
        raise NotFoundError(msg)
    found: BatchHeader | None = None
    day: DroppedDay | None = None
    leaves: list[bytes] = []
    async for header, dropped in _headers(connection, end):
        leaves.append(header.hash())
        if header.first_position <= name.position <= header.last_position:
            found, day = header, dropped
    assert found is not None, "positions are dense"
    note, checkpoint = await _checkpoint(connection, end, found.batch, name)
    del leaves[checkpoint.batches :]
    if tree_hash(leaves) != checkpoint.root:
        msg = (
            f"cannot prove entry {name}: the log does not lead to its"
            " checkpoint; `recorder verify` says where it was altered"
        )
        raise UnprovenError(msg)
    if day is None:
        entries = await _stored(connection, end, found)
    else:
        entries = await asyncio.to_thread(_archived, day, found)
    hashes = [
        entry_hash(draft, position=position, epoch=epoch, recorded=recorded)
        for position, epoch, recorded, draft in entries
    ]
    index = name.position - found.first_position
    position, epoch, recorded, draft = entries[index]
    leaf = leaf_of(draft, position=position, epoch=epoch, recorded=recorded)
    size = checkpoint.batches
    return make_proof(
        (str(name), leaf, draft.raw),
        inclusion_proof(index, len(hashes), _over(hashes)),
        found,
        inclusion_proof(found.batch - 1, size, _over(leaves)),
        note,
    )


async def _headers(
    connection: asyncpg.Connection, end: LogEnd
) -> AsyncIterator[tuple[BatchHeader, DroppedDay | None]]:
    """Yield all headers, those of dropped days from the archive."""
    for day in await dropped_days(connection, end):
        if day.uri is None:
            msg = (
                f"cannot prove entries of log {end.log}: {day.name} was"
                " dropped without an archive"
            )
            raise UnprovenError(msg)
        for header in await asyncio.to_thread(day_headers, day.uri):
            yield header, day
    after = end.pruned_batches
    async for one in headers(connection, end, after=after, until=end.batches):
        yield one.header, None


Entry = tuple[int, int, int, Draft]
"""Position, epoch, `recorded_at` in microseconds, and the draft."""


def _archived(day: DroppedDay, header: BatchHeader) -> Sequence[Entry]:
    assert day.uri is not None, "its headers were read there"
    return day_entries(day.uri, header)


async def _stored(
    connection: asyncpg.Connection, end: LogEnd, header: BatchHeader
) -> Sequence[Entry]:
    drafts = await EntryDrafts.opened(connection, end.log)
    rows, made = await drafts.read(
        header.first_position - 1, header.last_position
    )
    return [
        (row["position"], row["epoch"], micros(row["recorded_at"]), draft)
        for row, draft in zip(rows, made, strict=True)
    ]


def _over(leaves: Sequence[bytes]) -> Subtree:
    return lambda first, last: tree_hash(leaves[first:last])


async def _checkpoint(
    connection: asyncpg.Connection, end: LogEnd, batch: int, name: EntryName
) -> tuple[SignedNote, Checkpoint]:
    for text in reversed(await stored_notes(connection, end.log)):
        note = SignedNote.parse(text)
        checkpoint = Checkpoint.parse(note.text)
        if batch <= checkpoint.batches <= end.batches:
            return note, checkpoint
    msg = (
        f"cannot prove entry {name}: no checkpoint commits to it yet; make"
        " one with `recorder checkpoint`"
    )
    raise UnprovenError(msg)
