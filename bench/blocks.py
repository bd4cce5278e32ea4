"""A block of entries and facts, put into a log again and again by SQL.

The block is made once, outside the log, as the writer would make its rows.
Each copy moves its times and positions, and gives its objects other numbers,
UIDs and names, wherever these occur.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg

from bench.daily_life import NAME_MARK, UID_MARK, Again
from recorder.store.details import DetailEncoder
from recorder.store.fact_rows import FACT_COLUMNS
from recorder.store.rows import ENTRY_COLUMNS

__all__ = ["Block", "BlockBatch"]

MAKE = """
    create schema block;
    create table block.entry (like recorder.entry including storage);
    create table block.fact (like recorder.fact including storage);
"""
INDEX = """
    create index on block.entry (position);
    create index on block.fact (position);
    create table block.object as
      select * from recorder.object where object_id > {after};
    analyze block.entry, block.fact;
"""
DROP = "drop schema block cascade"

OBJECTS_APART = 100_000_000
"""Between the numbers of the objects of two copies."""

MOVED = ("recorded_at", "at", "observed_at", "occurred_at")
FACTS_AT_ONCE = 5_000
NUMBERED = ("object_id", "owner_id")

MOVED_ROWS = """
    select {values} from block.{table}
    where position > {after} and position <= {until}
    order by position
"""
PUT_OBJECTS = """
    insert into recorder.object
      (object_id, log_id, kind_id, namespace, name, uid)
    select object_id + {apart}, log_id, kind_id, namespace,
      {name}, {uid}
    from block.object
"""
PUT_BATCHES = """
    insert into recorder.batch select 1, * from unnest(
      $1::int8[], $2::int8[], $3::int4[], $4::int8[], $5::timestamptz[],
      $6::timestamptz[], $7::timestamptz[])
"""


class BlockBatch(NamedTuple):
    """A batch of the block."""

    until: int
    """Its last position, from 1."""

    entries: int
    recorded_at: datetime
    observed_min: datetime
    observed_max: datetime


class Block:
    """The block, and where the log ends that it is put into."""

    def __init__(
        self,
        connections: Sequence[asyncpg.Connection],
        known: int,
        began: datetime,
        details: DetailEncoder,
    ) -> None:
        """Take two connections, and the newest object of before the block."""
        self._connections = connections
        self._known = known
        self._details = details
        self.began = began
        self.batches: list[BlockBatch] = []

    async def create(self) -> None:
        await self._connections[0].execute(MAKE)

    async def complete(self) -> None:
        """Note that all rows are there."""
        await self._connections[0].execute(INDEX.format(after=self._known))

    async def drop(self) -> None:
        await self._connections[0].execute(DROP)

    async def put_objects(self, again: Again) -> None:
        if again.number:
            await self._connections[0].execute(
                PUT_OBJECTS.format(
                    apart=again.number * OBJECTS_APART,
                    name=_marked("name", again),
                    uid=_marked("uid", again),
                )
            )

    def until(self, after: datetime) -> int:
        """Return how many batches were recorded up to a time of the block."""
        return bisect_right(self.batches, after, key=lambda b: b.recorded_at)

    async def put(
        self, span: tuple[int, int], end: tuple[int, int], again: Again,
        at: datetime,
    ) -> tuple[int, int]:  # fmt: skip
        """Put batches at the end of a log, as if the block began at a time.

        Returns where the log ends then, in entries and batches.
        """
        size, batches = end
        part = self.batches[slice(*span)]
        if not part:
            return end
        after = part[0].until - part[0].entries
        shift = at - self.began
        rows_of = {
            table: MOVED_ROWS.format(
                table=table,
                values=", ".join(
                    self._value(c, shift, size - after, again) for c in columns
                ),
                after=after,
                until=part[-1].until,
            )
            for table, columns in (
                ("entry", ENTRY_COLUMNS),
                ("fact", FACT_COLUMNS),
            )
        }
        async with asyncio.TaskGroup() as both:
            both.create_task(self._put_entries(rows_of["entry"]))
            both.create_task(self._put_facts(rows_of["fact"]))
        rows = [
            (
                batches + place,
                size - after + made.until - made.entries + 1,
                made.entries,
                1,
                made.recorded_at + shift,
                made.observed_min + shift,
                made.observed_max + shift,
            )
            for place, made in enumerate(part, 1)
        ]
        await self._connections[0].execute(
            PUT_BATCHES, *(list(column) for column in zip(*rows, strict=True))
        )
        return size + part[-1].until - after, batches + len(part)

    async def _put_entries(self, rows: str) -> None:
        columns = ", ".join(f'"{column}"' for column in ENTRY_COLUMNS)
        await self._connections[0].execute(
            f"insert into recorder.entry ({columns}) {rows}"
        )

    async def _put_facts(self, rows: str) -> None:
        """Put facts, whose details are compressed only here."""
        connection = self._connections[1]
        async with connection.transaction():
            cursor = await connection.cursor(rows)
            while found := await cursor.fetch(FACTS_AT_ONCE):
                await connection.copy_records_to_table(
                    "fact",
                    schema_name="recorder",
                    columns=FACT_COLUMNS,
                    records=[
                        (*row[:-1], self._details.encode(row[-1]))
                        for row in map(tuple, found)
                    ],
                )

    def _value(
        self, column: str, shift: timedelta, by: int, again: Again
    ) -> str:
        if column in MOVED:
            return f"{column} + interval '{shift.total_seconds()} seconds'"
        if column == "position":
            return f"position + {by}"
        if again.number and column in NUMBERED:
            apart = again.number * OBJECTS_APART
            return (
                f"case when {column} > {self._known}"
                f" then {column} + {apart} else {column} end"
            )
        if again.number and column == "owners":
            return f"{_marked('owners::text', again)}::text[]"
        if column == "detail":
            detail = "convert_from(substr(detail, 2), 'UTF8')"
            return f"convert_to({_marked(detail, again)}, 'UTF8')"
        return f'"{column}"'


def _marked(text: str, again: Again) -> str:
    return (
        f"replace(replace({text}, '{UID_MARK}', '{again.uid}'),"
        f" '{NAME_MARK}', '{again.name}')"
    )
