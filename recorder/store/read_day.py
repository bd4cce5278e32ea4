"""Reading: one day of a log, whole, for the archive.

Entries in the order of the log, with their documents; the facts as they are,
whatever columns they have; and the names that both refer to. A day that is
over does not change, so nothing is held between two pages.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from recorder.integrity.leaves import (
    BatchHeader,
    entry_hash,
    micros,
)
from recorder.integrity.tree import tree_hash
from recorder.model.entry import Draft
from recorder.store.details import told_json
from recorder.store.entry_drafts import EntryDrafts
from recorder.store.hashing import LogIdentity

__all__ = [
    "FACT_TYPES",
    "Day",
    "DayEntry",
    "DayReader",
    "StoredBatch",
    "batch_root",
]

ENTRIES_AT_ONCE = 4000
FACTS_AT_ONCE = 5000

BATCHES = """
    select b.batch, b.first_position, b.entries, b.term, b.recorded_at,
      b.observed_min, b.observed_max, coalesce(b.root, s.root) as root,
      coalesce(b.tree, s.tree) as tree,
      case when b.root is null then s.sealed_at end as sealed_at
    from recorder.batch b
    left join recorder.seal s on s.log_id = b.log_id and s.batch = b.batch
    where b.log_id = $1 and b.recorded_at >= $2 and b.recorded_at < $3
    order by b.batch
"""
STRAY = """
    select min(position) from recorder.entry
    where log_id = $1 and recorded_at >= $2 and recorded_at < $3
      and (position < $4 or position > $5)
"""
DICTIONARIES = "select dictionary_id, bytes from recorder.dictionary"
LOG = "select * from recorder.log where log_id = $1"
RULES = """
    select rules from recorder.derivation
    where log_id = $1 and state = 'current'
      and (built_to is null or built_to >= (
        select max(first_position + entries - 1) from recorder.batch
        where log_id = $1 and recorded_at >= $2 and recorded_at < $3))
"""
FACT_TYPES = """
    select a.attname::text, format_type(a.atttypid, null)
    from pg_attribute a
    where a.attrelid = 'recorder.fact'::regclass and a.attnum > 0
      and not a.attisdropped
    order by a.attnum
"""
PLAIN = {
    "boolean", "smallint", "integer", "bigint", "real", "double precision",
    "timestamp with time zone", "bytea", "smallint[]", "integer[]",
    "bigint[]", "text[]",
}  # fmt: skip
"""Types of facts that are kept as they are; others as their text."""

DETAIL = "detail"
"""The column of what a fact tells, which is archived as JSON."""


class Day(NamedTuple):
    """A partition."""

    name: str
    lower: datetime
    upper: datetime


class StoredBatch(NamedTuple):
    """A batch of the log, as its table has it."""

    header: BatchHeader
    tree: bytes | None
    has_root: bool


class DayEntry(NamedTuple):
    """An entry with its document, and the numbers that its row has."""

    row: asyncpg.Record
    draft: Draft


class DayReader:
    """Reads one day of one log."""

    def __init__(
        self, connection: asyncpg.Connection, log: int, day: Day
    ) -> None:
        self.connection = self._connection = connection
        self._log = log
        self._day = day

    async def identity(self) -> asyncpg.Record:
        """Return the row of the log."""
        return await self._connection.fetchrow(LOG, self._log)

    async def batches(self, log: LogIdentity) -> Sequence[StoredBatch]:
        """Return the batches of the day, in order."""
        rows = await self._connection.fetch(
            BATCHES, self._log, self._day.lower, self._day.upper
        )
        return [
            StoredBatch(
                BatchHeader(
                    origin=log.origin,
                    cluster_uid=log.cluster_uid,
                    batch=row["batch"],
                    first_position=row["first_position"],
                    entries=row["entries"],
                    term=row["term"],
                    recorded_at=row["recorded_at"],
                    observed_min=row["observed_min"],
                    observed_max=row["observed_max"],
                    root=row["root"] or b"",
                    sealed_at=row["sealed_at"],
                ),
                row["tree"],
                row["root"] is not None,
            )
            for row in rows
        ]

    async def stray(self, first: int, last: int) -> int | None:
        """Return an entry of the day that lies outside of its batches."""
        position: int | None = await self._connection.fetchval(
            STRAY, self._log, self._day.lower, self._day.upper, first, last
        )
        return position

    async def entries(
        self, first: int, last: int
    ) -> AsyncIterator[Sequence[DayEntry]]:
        """Yield the entries between two positions, page by page.

        A position that is missing is left out: hashes will tell.

        Raises:
            UnreadableEntryError: one is not as it was written.
        """
        drafts = await EntryDrafts.opened(self._connection, self._log)
        for begin in range(first, last + 1, ENTRIES_AT_ONCE):
            end = min(begin + ENTRIES_AT_ONCE - 1, last)
            rows, made = await drafts.read(begin - 1, end)
            yield [
                DayEntry(row, draft)
                for row, draft in zip(rows, made, strict=True)
            ]

    async def facts(
        self,
    ) -> tuple[list[tuple[str, str]], AsyncIterator[Sequence[Sequence[Any]]]]:
        """Return the columns of facts, and the facts that are current."""
        rows = await self._connection.fetch(FACT_TYPES)
        columns = [(name, kind) for name, kind in rows]
        selected = ", ".join(
            f'f."{name}"' if kind in PLAIN else f'f."{name}"::text'
            for name, kind in columns
        )
        query = f"""
            select {selected} from recorder.fact f
            where f.recorded_at >= $2 and f.recorded_at < $3
              and f.derivation_id = (
                select derivation_id from recorder.derivation
                where log_id = $1 and state = 'current')
        """
        names = [name for name, _ in columns]
        told = names.index(DETAIL)
        columns[told] = (DETAIL, "text")
        return columns, self._pages(query, told)

    async def _pages(
        self, query: str, told: int
    ) -> AsyncIterator[Sequence[Sequence[Any]]]:
        """Yield rows, with the column of what they tell as JSON."""
        dictionaries = {
            number + 1: content
            for number, content in await self._connection.fetch(DICTIONARIES)
        }
        async with self._connection.transaction(readonly=True):
            cursor = await self._connection.cursor(
                query, self._log, self._day.lower, self._day.upper
            )
            while rows := await cursor.fetch(FACTS_AT_ONCE):
                yield [
                    [
                        *row[:told],
                        told_json(row[told], dictionaries).decode(),
                        *row[told + 1 :],
                    ]
                    for row in rows
                ]

    async def rules(self) -> int | None:
        """Return the number of the rules that the facts were derived by.

        None if there are facts of only some of the entries.
        """
        rules: int | None = await self._connection.fetchval(
            RULES, self._log, self._day.lower, self._day.upper
        )
        return rules


def batch_root(entries: Sequence[DayEntry], recorded: datetime) -> bytes:
    """Return the hash of the tree over the entries of a batch."""
    count = micros(recorded)
    return tree_hash(
        [
            entry_hash(
                one.draft,
                position=one.row["position"],
                epoch=one.row["epoch"],
                recorded=count,
            )
            for one in entries
        ]
    )
