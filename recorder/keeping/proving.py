"""Proofs of single entries, made from the database."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg
import msgspec

from recorder.archive.verifying import day_entries, day_headers
from recorder.integrity.leaves import BatchHeader, entry_hash, micros
from recorder.integrity.notes import (
    Checkpoint,
    NoteError,
    SignedNote,
    signed_by_any,
)
from recorder.integrity.proof import (
    Proof,
    check_proof,
    leaf_of,
    make_proof,
)
from recorder.integrity.thinned import leaves_of
from recorder.integrity.tree import (
    ProofError,
    Subtree,
    inclusion_proof,
    tree_hash,
)
from recorder.model.entry import Draft
from recorder.model.errors import LogError, NotFoundError
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
from recorder.store.read_thinned import thinned_batches
from recorder.store.statement import Statement

ARCHIVED = Statement.of("""
    select uri from recorder.archived_day
    where log_id = :log and :batch between first_batch and last_batch
""")


class UnprovenError(LogError):
    """An entry cannot be proven now."""

    code = "log.unproven"


async def prove(
    connection: asyncpg.Connection,
    name: EntryName,
    keys: Sequence[bytes] = (),
) -> Proof:
    """Return the proof of an entry by the newest checkpoint over it.

    It holds as an auditor checks it: with the keys that are trusted here, and
    where there are none but for the signature.
    What was dropped, or removed from a thinned day, is in the archive.

    Raises:
        NotFoundError: there is no such entry.
        UnprovenError: no checkpoint commits to it yet, or the log does not
            lead to the one that does; it was altered; or it is gone and was
            not archived.
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
    note, checkpoint = await _checkpoint(
        connection, end, (found.batch, name), keys
    )
    del leaves[checkpoint.batches :]
    if tree_hash(leaves) != checkpoint.root:
        msg = (
            f"cannot prove entry {name}: the log does not lead to its"
            " checkpoint; `recorder verify` says where it was altered"
        )
        raise UnprovenError(msg)
    entries, hashes = await _of_batch(connection, end, (found, day), name)
    index = name.position - found.first_position
    position, epoch, recorded, draft = next(
        entry for entry in entries if entry[0] == name.position
    )
    leaf = leaf_of(draft, position=position, epoch=epoch, recorded=recorded)
    size = checkpoint.batches
    proof = make_proof(
        (str(name), leaf, draft.raw),
        inclusion_proof(index, len(hashes), _over(hashes)),
        found,
        inclusion_proof(found.batch - 1, size, _over(leaves)),
        note,
    )
    try:
        return check_proof(msgspec.json.encode(proof), keys or None)
    except ProofError as exc:
        msg = (
            f"cannot prove entry {name}: {exc}; `recorder verify` says what"
            " was altered"
        )
        raise UnprovenError(msg) from exc


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


async def _of_batch(
    connection: asyncpg.Connection,
    end: LogEnd,
    where: tuple[BatchHeader, DroppedDay | None],
    name: EntryName,
) -> tuple[Sequence[Entry], Sequence[bytes]]:
    """Return the entries of a batch, and the hashes of all it ever had."""
    found, day = where
    gone: Mapping[int, bytes] = {}
    uri = None if day is None else day.uri
    if day is None:
        gone = await _gone(connection, end, found)
        if name.position in gone:
            uri = await _archive_of(connection, found, name)
    entries = (
        await _stored(connection, end, found)
        if uri is None
        else await asyncio.to_thread(day_entries, uri, found)
    )
    hashed = dict(gone)
    for position, epoch, recorded, draft in entries:
        hashed[position] = entry_hash(
            draft, position=position, epoch=epoch, recorded=recorded
        )
    return entries, [hashed[position] for position in sorted(hashed)]


async def _gone(
    connection: asyncpg.Connection, end: LogEnd, header: BatchHeader
) -> Mapping[int, bytes]:
    """Return the hashes of entries removed from a batch before its day."""
    batch = header.batch
    found = await thinned_batches(connection, end.log, batch, batch)
    leaves = leaves_of(
        found.get(batch, ()), header.first_position, header.entries
    )
    return leaves or {}


async def _archive_of(
    connection: asyncpg.Connection, header: BatchHeader, name: EntryName
) -> str:
    """Return the place where the day of a batch is archived."""
    uri: str | None = await ARCHIVED.fetch_value(
        connection, log=name.log, batch=header.batch
    )
    if uri is None:
        msg = (
            f"cannot prove entry {name}: retention_shorter removed it before"
            " its day was dropped, and the day was not archived"
        )
        raise UnprovenError(msg)
    return uri


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
    connection: asyncpg.Connection,
    end: LogEnd,
    wanted: tuple[int, EntryName],
    keys: Sequence[bytes],
) -> tuple[SignedNote, Checkpoint]:
    """Return the newest checkpoint over a batch that counts."""
    batch, name = wanted
    for text in reversed(await stored_notes(connection, end.log)):
        try:
            note = SignedNote.parse(text)
            checkpoint = Checkpoint.parse(note.text)
            if keys and signed_by_any(note, keys, end.identity.origin) is None:
                continue
        except NoteError:
            # Of no use to prove anything by; `recorder verify` names it.
            continue
        if batch <= checkpoint.batches <= end.batches:
            return note, checkpoint
    msg = (
        f"cannot prove entry {name}: no checkpoint commits to it yet; make"
        " one with `recorder checkpoint`"
    )
    raise UnprovenError(msg)
