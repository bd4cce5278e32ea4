"""Checking the rows of batches against their roots.

Every column of an entry is in its leaf by what it stands for, so rows are
read with the names that their numbers refer to, and their documents decoded.
A batch that is not as it was written is told with the entry where that can
be known: one that is missing, one too many, one that cannot be read. Of one
that merely differs only the batch is known, since no entry has a hash of its
own in the database.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import asyncpg

from recorder.integrity.chain import Problem
from recorder.integrity.leaves import BatchHeader, entry_hash, micros
from recorder.integrity.tree import tree_hash
from recorder.model.entry import Draft
from recorder.store.codes import version_columns
from recorder.store.entry_drafts import EntryDrafts, UnreadableEntryError
from recorder.store.read_batches import LogEnd, Stored, headers

__all__ = ["CheckedBatch", "check_batches"]

WINDOW = 5_000
"""Entries that are read at once; a batch may have 4,000."""

Row = tuple[asyncpg.Record, Draft]


@dataclass(slots=True)
class CheckedBatch:
    """A batch, and what its rows hash to."""

    stored: Stored
    root: bytes | None
    """None where its rows are not all there and readable."""

    problems: list[Problem] = field(default_factory=list)


async def check_batches(
    connection: asyncpg.Connection, end: LogEnd, *, after: int, until: int
) -> AsyncIterator[CheckedBatch]:
    """Yield the batches behind one, up to another, each checked."""
    drafts = await EntryDrafts.opened(connection, end.log)
    window: list[Stored] = []
    async for one in headers(connection, end, after=after, until=until):
        if window and _entries([*window, one]) > WINDOW:
            async for checked in _check(drafts, window):
                yield checked
            window = []
        window.append(one)
    if window:
        async for checked in _check(drafts, window):
            yield checked


def _entries(window: Sequence[Stored]) -> int:
    first, last = window[0].header, window[-1].header
    return last.last_position + 1 - first.first_position


async def _check(
    drafts: EntryDrafts, window: Sequence[Stored]
) -> AsyncIterator[CheckedBatch]:
    first, last = window[0].header, window[-1].header
    try:
        found = await _read(drafts, first.first_position, last.last_position)
    except UnreadableEntryError as exc:
        if len(window) > 1:
            # One by one, so that the others are still checked.
            for one in window:
                async for checked in _check(drafts, [one]):
                    yield checked
            return
        problem = Problem(
            kind="entry-unreadable",
            batch=first.batch,
            entry=exc.name.position,
            says=f"entry {exc.name} cannot be read: {exc.why}",
        )
        yield CheckedBatch(window[0], None, [problem])
        return
    for one in window:
        yield _compared(one, found)


async def _read(
    drafts: EntryDrafts, first: int, last: int
) -> dict[int, list[Row]]:
    rows, made = await drafts.read(first - 1, last)
    found: dict[int, list[Row]] = {}
    for row, draft in zip(rows, made, strict=True):
        found.setdefault(row["position"], []).append((row, draft))
    return found


def _compared(stored: Stored, found: dict[int, list[Row]]) -> CheckedBatch:
    header = stored.header
    hashes: list[bytes] = []
    checked = CheckedBatch(stored, None)
    for position in range(header.first_position, header.last_position + 1):
        rows = found.get(position, [])
        if len(rows) != 1:
            checked.problems.append(_miscounted(header, position, len(rows)))
            continue
        row, draft = rows[0]
        if not _is_canonical(row, draft):
            checked.problems.append(_altered(header, position))
        hashes.append(
            entry_hash(
                draft,
                position=position,
                epoch=row["epoch"],
                recorded=micros(row["recorded_at"]),
            )
        )
    if len(hashes) == header.entries:
        checked.root = tree_hash(hashes)
        if stored.is_hashed and header.root != checked.root:
            checked.problems.append(_altered(header, None))
    return checked


def _is_canonical(row: asyncpg.Record, draft: Draft) -> bool:
    """Return whether a version stands in the column in which it is sought."""
    stored = row["version"], row["resource_version"]
    return stored == version_columns(draft.resource_version)


def _miscounted(header: BatchHeader, position: int, count: int) -> Problem:
    if count == 0:
        return Problem(
            kind="entry-missing",
            batch=header.batch,
            entry=position,
            says=f"the entry at position {position} is missing from batch"
            f" {header.batch}, or was recorded at another time",
        )
    return Problem(
        kind="entry-doubled",
        batch=header.batch,
        entry=position,
        says=f"there are {count} entries at position {position}",
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
        entry=position,
        says=f"{where} is not as it was written in batch {header.batch}, or"
        " what it refers to is not",
    )
