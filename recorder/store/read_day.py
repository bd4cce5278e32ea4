"""Reads one day of a log for the archive.

It has the entries in the order of the log, with their documents; the facts
with all of their columns; and the names that both refer to. A past day does
not change, so that no transaction is held between two pages.
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
from recorder.model.columns import numbers_of
from recorder.model.entry import Entry
from recorder.store.details import DICTIONARIES, detail_json
from recorder.store.entry_drafts import EntryDrafts
from recorder.store.hashing import LogIdentity
from recorder.store.statement import Statement

ENTRIES_AT_ONCE = 4000
FACTS_AT_ONCE = 5000

BATCHES = Statement.of("""
    select b.batch, b.first_position, b.entries, b.term, b.recorded_at,
      b.observed_min, b.observed_max, coalesce(b.root, s.root) as root,
      coalesce(b.tree, s.tree) as tree,
      case when b.root is null then s.sealed_at end as sealed_at
    from recorder.batch b
    left join recorder.seal s on s.log_id = b.log_id and s.batch = b.batch
    where b.log_id = :log
      and b.recorded_at >= :lower and b.recorded_at < :upper
    order by b.batch
""")
OUTSIDE = Statement.of("""
    select min(position) from recorder.entry
    where log_id = :log and recorded_at >= :lower and recorded_at < :upper
      and (position < :first or position > :last)
""")
LOG = Statement.of("select * from recorder.log where log_id = :log")
RULES = Statement.of("""
    select rules from recorder.derivation
    where log_id = :log and state = 'current'
      and (built_to is null or built_to >= (
        select max(first_position + entries - 1) from recorder.batch
        where log_id = :log
          and recorded_at >= :lower and recorded_at < :upper))
""")
FACT_TYPES = Statement.of("""
    select a.attname::text, format_type(a.atttypid, null)
    from pg_attribute a
    where a.attrelid = 'recorder.fact'::regclass and a.attnum > 0
      and not a.attisdropped
    order by a.attnum
""")
PLAIN = {
    "boolean", "smallint", "integer", "bigint", "real", "double precision",
    "timestamp with time zone", "bytea", "smallint[]", "integer[]",
    "bigint[]", "text[]",
}  # fmt: skip
"""Types of columns of facts that are kept; others become text."""

DETAIL = "detail"
"""The column that is archived as JSON."""


class Day(NamedTuple):
    """A partition."""

    name: str
    lower: datetime
    upper: datetime


class StoredBatch(NamedTuple):
    """A batch of the log as stored."""

    header: BatchHeader
    tree: bytes | None
    has_root: bool


class DayEntry(NamedTuple):
    """An entry with its document, and its row with numbers."""

    row: asyncpg.Record
    entry: Entry


class DayReader:
    """Reads one day of one log."""

    def __init__(
        self, connection: asyncpg.Connection, log: int, day: Day
    ) -> None:
        self.connection = self._connection = connection
        self._log = log
        self._asked = {"log": log, "lower": day.lower, "upper": day.upper}

    async def identity(self) -> asyncpg.Record:
        """Return the row of the log."""
        return await LOG.fetch_row(self._connection, log=self._log)

    async def batches(self, log: LogIdentity) -> Sequence[StoredBatch]:
        """Return the batches of the day, in order."""
        rows = await BATCHES.fetch(self._connection, **self._asked)
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

    async def outside(self, first: int, last: int) -> int | None:
        """Return an entry of the day outside of its batches, if any."""
        position: int | None = await OUTSIDE.fetch_value(
            self._connection, **self._asked, first=first, last=last
        )
        return position

    async def entries(
        self, first: int, last: int
    ) -> AsyncIterator[Sequence[DayEntry]]:
        """Yield the entries between two positions, page by page.

        Missing entries are left out: the hashes will differ.

        Raises:
            UnreadableEntryError: an entry is damaged.
        """
        drafts = await EntryDrafts.opened(self._connection, self._log)
        for begin in range(first, last + 1, ENTRIES_AT_ONCE):
            end = min(begin + ENTRIES_AT_ONCE - 1, last)
            rows, made = await drafts.read(begin - 1, end)
            yield [
                DayEntry(row, entry)
                for row, entry in zip(rows, made, strict=True)
            ]

    async def facts(
        self,
    ) -> tuple[list[tuple[str, str]], AsyncIterator[Sequence[Sequence[Any]]]]:
        """Return the columns of facts, and the current facts."""
        rows = await FACT_TYPES.fetch(self._connection)
        columns = [(name, kind) for name, kind in rows]
        selected = ", ".join(
            f'f."{name}"' if kind in PLAIN else f'f."{name}"::text'
            for name, kind in columns
        )
        statement = Statement.of(f"""
            select {selected} from recorder.fact f
            where f.recorded_at >= :lower and f.recorded_at < :upper
              and f.derivation_id = (
                select derivation_id from recorder.derivation
                where log_id = :log and state = 'current')
        """)
        names = [name for name, _ in columns]
        detail = names.index(DETAIL)
        columns[detail] = (DETAIL, "text")
        return columns, self._pages(statement, detail)

    async def _pages(
        self, statement: Statement, detail: int
    ) -> AsyncIterator[Sequence[Sequence[Any]]]:
        """Yield rows, with the column of details as JSON."""
        dictionaries = {
            number + 1: content
            for number, content in await DICTIONARIES.fetch(self._connection)
        }
        async with self._connection.transaction(readonly=True):
            cursor = await statement.cursor(self._connection, **self._asked)
            while rows := await cursor.fetch(FACTS_AT_ONCE):
                yield [
                    [
                        *row[:detail],
                        detail_json(row[detail], dictionaries).decode(),
                        *row[detail + 1 :],
                    ]
                    for row in rows
                ]

    async def rules(self) -> int | None:
        """Return the number of the rules of the facts.

        None if not all entries have facts.
        """
        rules: int | None = await RULES.fetch_value(
            self._connection, **self._asked
        )
        return rules


def batch_root(entries: Sequence[DayEntry], recorded: datetime) -> bytes:
    """Return the hash of the tree over the entries of a batch."""
    count = micros(recorded)
    return tree_hash(
        [
            entry_hash(
                one.entry,
                position=one.entry.entry.position,
                epoch=one.entry.epoch,
                recorded=count,
            )
            for one in entries
        ]
    )


FACTS = """(
        select f.* from recorder.fact f join recorder.derivation d
          on d.derivation_id = f.derivation_id
        where d.log_id = :log and d.state = 'current'
          and f.recorded_at >= :lower and f.recorded_at < :upper) f"""

OBJECTS = Statement.of(f"""
    select o.object_id, o.kind_id, k.api_group, k.name as kind, o.namespace,
      o.name, o.uid
    from recorder.object o join recorder.kind k on k.kind_id = o.kind_id
    where o.log_id = :log and o.object_id in (
      select object_id from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper
      union select object_id from {FACTS}
      union select owner_id from {FACTS})
    order by o.object_id
""")
OF_NODES = Statement.of(f"""
    select node_id, name from recorder.node
    where log_id = :log and node_id in (
      select node_id from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper
      union select node_id from {FACTS})
    order by node_id
""")
BY_ENTRIES = " union ".join(
    f"""select {number} from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper"""
    for number in numbers_of("word")
)
OF_WORDS = Statement.of(f"""
    select word_id, text from recorder.word where word_id in (
      {BY_ENTRIES}
      union select actor_id from {FACTS}
      union select topic_id from {FACTS})
    order by word_id
""")


async def names_of_day(
    connection: asyncpg.Connection, log: int, day: Day
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the objects, nodes and words that rows of a day refer to."""
    asked = {"log": log, "lower": day.lower, "upper": day.upper}
    return {
        name: [tuple(row) for row in await names.fetch(connection, **asked)]
        for name, names in (
            ("objects", OBJECTS),
            ("nodes", OF_NODES),
            ("words", OF_WORDS),
        )
    }
