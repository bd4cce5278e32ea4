"""Checks the rows of batches against their roots.

Every column of an entry is hashed by its meaning, so that rows are read with
the names that their numbers refer to, and their documents are decoded. For
entries that retention removed early the database has the hashes.
A problem names the entry if it is missing, doubled or unreadable. If an entry
merely differs, only its batch is known, because the database has no hashes of
single entries.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg

from recorder.integrity.chain import Problem
from recorder.integrity.leaves import BatchHeader, entry_hash, micros
from recorder.integrity.thinned import Thinned, leaves_of
from recorder.integrity.tree import tree_hash
from recorder.model.entry import Draft
from recorder.store.codes import version_columns
from recorder.store.entry_drafts import EntryDrafts, UnreadableEntryError
from recorder.store.read_batches import LogEnd, Stored, headers
from recorder.store.read_thinned import thinned_batches

WINDOW = 5_000
"""Entries that are read at once; a batch has at most 4,000."""

Row = tuple[asyncpg.Record, Draft]


@dataclass(slots=True)
class CheckedBatch:
    """A batch with the root of its rows."""

    stored: Stored
    root: bytes | None
    """None if a row is missing or unreadable."""

    leaves: Sequence[bytes] = ()
    """The hashes of its entries, if it has a root."""

    problems: list[Problem] = field(default_factory=list)


async def check_batches(
    connection: asyncpg.Connection, end: LogEnd, *, after: int, until: int
) -> AsyncIterator[CheckedBatch]:
    """Yield the batches after one, up to another, each checked."""
    drafts = await EntryDrafts.opened(connection, end.log)
    window: list[Stored] = []

    async def check() -> AsyncIterator[CheckedBatch]:
        first, last = window[0].header.batch, window[-1].header.batch
        gone = await thinned_batches(connection, end.log, first, last)
        async for checked in _check(drafts, window, gone):
            yield checked

    async for one in headers(connection, end, after=after, until=until):
        if window and _entries([*window, one]) > WINDOW:
            async for checked in check():
                yield checked
            window = []
        window.append(one)
    if window:
        async for checked in check():
            yield checked


def _entries(window: Sequence[Stored]) -> int:
    first, last = window[0].header, window[-1].header
    return last.last_position + 1 - first.first_position


async def _check(
    drafts: EntryDrafts,
    window: Sequence[Stored],
    gone: Mapping[int, Sequence[Thinned]],
) -> AsyncIterator[CheckedBatch]:
    first, last = window[0].header, window[-1].header
    try:
        found = await _read(drafts, first.first_position, last.last_position)
    except UnreadableEntryError as exc:
        if len(window) > 1:
            # One at a time, so that the others are still checked.
            for one in window:
                async for checked in _check(drafts, [one], gone):
                    yield checked
            return
        problem = Problem(
            kind="entry-unreadable",
            batch=first.batch,
            position=exc.name.position,
            says=f"entry {exc.name} cannot be read: {exc.why}",
        )
        yield CheckedBatch(window[0], None, problems=[problem])
        return
    for one in window:
        yield _compared(one, found, gone.get(one.header.batch, ()))


async def _read(
    drafts: EntryDrafts, first: int, last: int
) -> dict[int, list[Row]]:
    rows, made = await drafts.read(first - 1, last)
    found: dict[int, list[Row]] = {}
    for row, draft in zip(rows, made, strict=True):
        found.setdefault(row["position"], []).append((row, draft))
    return found


def _compared(
    stored: Stored, found: dict[int, list[Row]], gone: Sequence[Thinned]
) -> CheckedBatch:
    header = stored.header
    hashes: list[bytes] = []
    checked = CheckedBatch(stored, None)
    leaves = leaves_of(gone, header.first_position, header.entries)
    if leaves is None:
        checked.problems.append(_thinned(header, None))
        leaves = {}
    for position in range(header.first_position, header.last_position + 1):
        rows = found.get(position, [])
        if position in leaves:
            checked.problems += [_thinned(header, position) for _ in rows[:1]]
            hashes.append(leaves[position])
        elif len(rows) == 1:
            hashes.append(_hashed(checked, position, *rows[0]))
        else:
            checked.problems.append(_miscounted(header, position, len(rows)))
    if len(hashes) == header.entries:
        checked.root, checked.leaves = tree_hash(hashes), hashes
        if stored.is_hashed and header.root != checked.root:
            checked.problems.append(_altered(header, None))
    return checked


def _hashed(
    checked: CheckedBatch, position: int, row: asyncpg.Record, draft: Draft
) -> bytes:
    """Return the hash of an entry, and add the problems of its row."""
    if not _is_canonical(row, draft):
        checked.problems.append(_altered(checked.stored.header, position))
    return leaf_of_entry(row, draft)


def leaf_of_entry(row: asyncpg.Record, draft: Draft) -> bytes:
    """Return the hash of an entry, by its row and its draft."""
    return entry_hash(
        draft,
        position=row["position"],
        epoch=row["epoch"],
        recorded=micros(row["recorded_at"]),
    )


def _is_canonical(row: asyncpg.Record, draft: Draft) -> bool:
    """Return whether a version is in the column in which it is looked up."""
    stored = row["version"], row["resource_version"]
    return stored == version_columns(draft.resource_version)


def _miscounted(header: BatchHeader, position: int, count: int) -> Problem:
    if count == 0:
        return Problem(
            kind="entry-missing",
            batch=header.batch,
            position=position,
            says=f"the entry at position {position} is missing from batch"
            f" {header.batch}, or was recorded at another time",
        )
    return Problem(
        kind="entry-doubled",
        batch=header.batch,
        position=position,
        says=f"there are {count} entries at position {position}",
    )


def _thinned(header: BatchHeader, position: int | None) -> Problem:
    what = (
        "what is noted of entries that went before their day cannot be so"
        if position is None
        else f"the entry at position {position} is there, and is noted as one"
        " that went before its day"
    )
    return Problem(
        kind="thinned-altered",
        batch=header.batch,
        position=position,
        says=f"{what}, in batch {header.batch}",
    )


def _altered(header: BatchHeader, position: int | None) -> Problem:
    where = (
        f"one of the entries {header.first_position} to {header.last_position}"
        if position is None
        else f"entry {position}"
    )
    return Problem(
        kind="batch-altered",
        batch=header.batch,
        position=position,
        says=f"{where} is not as it was written in batch {header.batch}, or"
        " what it refers to is not",
    )
