"""Appends batches: the only code that writes to the log.

Each log has one writer, which is fenced twice. A lease that expires decides
which process may try. Each commit compares the term of the lease, its holder
and the size of the log: a writer that was frozen cannot append when it
continues, and a batch whose commit was not confirmed cannot be appended
twice. The holder is compared because a database that was restored from a
backup counts the same terms again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from recorder.intake.state import Batch
from recorder.model.errors import UnknownStateError
from recorder.store.bookkeeping import Place, write_bookkeeping
from recorder.store.derivation import derivation_to_write
from recorder.store.details import DetailEncoder
from recorder.store.dimension import Dimensions
from recorder.store.encoding import Encoder
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_rows,
    name_facts,
)
from recorder.store.hashing import LogIdentity
from recorder.store.names import Names, Numbers
from recorder.store.rows import (
    ENTRY_COLUMNS,
    entry_rows,
    name_entries,
)
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

ADD_PARTITION = Statement.of("select recorder.add_partition(:at)")
ADVANCE = Statement.of("""
    update recorder.log_head
    set size = size + :count,
        batches = batches + case when :count > 0 then 1 else 0 end,
        epoch = :epoch,
        recorded_at = greatest(recorded_at, sealed_until, clock_timestamp()),
        expires_at = clock_timestamp() + :lease::interval
    where log_id = :log and term = :term and size = :size and holder = :holder
    returning recorded_at, batches, peaks, forgotten
""")
READ_HEAD = Statement.of("""
    select term, holder, size from recorder.log_head where log_id = :log
""")
Row = tuple[Any, ...]

ROWS_AT_ONCE = 1000
"""Rows that are made before other tasks run."""


class Appender:
    """Appends batches to one log under one term of its lease."""

    def __init__(
        self,
        *,
        log: int,
        term: int,
        holder: str,
        lease: timedelta,
        dictionaries: Mapping[str, tuple[int, bytes]],
        identity: LogIdentity,
    ) -> None:
        self._log = log
        self._place = Place(log, term, identity)
        self._term = term
        self._holder = holder
        self._lease = lease
        self._dimensions = Dimensions(log)
        self._encoder = Encoder(dictionaries)
        self._details = DetailEncoder(dictionaries)
        self._day: str | None = None
        self._forgotten: int | None = None

    async def append(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        """Append a batch with its facts, heads and resume points, or nothing.

        The batch is durable when this returns. When it raises
        `LogUnavailableError` the batch may be in the log or not: append it
        again, on another connection; a batch that is in the log already is
        recognized by the size of the log. An empty batch renews the lease.

        Raises:
            UnknownStateError: another writer holds the lease.
            UnknownStateError: the log grew without this writer.
            LogUnavailableError: PostgreSQL is away, read-only or full.
        """
        try:
            with translate_errors("append to the log"):
                async with connection.transaction():
                    await self._write(connection, batch)
        except BaseException:
            # Ids and keyframes of the failed transaction refer to rows that
            # may not exist.
            self._dimensions.forget()
            self._encoder.forget()
            self._day = self._forgotten = None
            raise

    async def _write(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        head = await ADVANCE.fetch_row(
            connection,
            log=self._log,
            term=self._term,
            size=batch.first_position - 1,
            count=len(batch),
            epoch=batch.epoch,
            lease=self._lease,
            holder=self._holder,
        )
        if head is None:
            await self._explain_refusal(connection, batch)
            return
        if not batch:
            return
        self._forget_removed(head)
        numbers = await self._numbers(connection, batch)
        if batch.drafts:
            await self._enter_partition(connection, head["recorded_at"])
        derivation = await write_bookkeeping(
            connection, batch, numbers, head, self._place
        )
        # Rows come last: PostgreSQL processes them while more are made. It
        # needs longer for those of facts, so that these come first.
        if batch.drafts:
            await self._write_facts(
                connection, batch, numbers, head, derivation
            )
            await self._write_entries(connection, batch, numbers, head)

    async def _explain_refusal(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        """Return if the batch is in the log already, else raise why not."""
        found = await READ_HEAD.fetch_row(connection, log=self._log)
        ours = (self._term, self._holder)
        if found is None or (found["term"], found["holder"]) != ours:
            msg = f"cannot append to log {self._log}: another writer holds it"
            raise UnknownStateError(msg, code="log.lease_lost")
        if found["size"] != batch.first_position - 1 + len(batch):
            # The log grew in our term without us: our state is useless.
            msg = (
                f"cannot append to log {self._log}: it has {found['size']}"
                f" entries where {batch.first_position - 1} were expected"
            )
            raise UnknownStateError(msg)

    def _forget_removed(self, head: asyncpg.Record) -> None:
        """Forget the numbers of names that retention may have removed."""
        if head["forgotten"] != self._forgotten:
            self._dimensions.forget()
            self._forgotten = head["forgotten"]

    async def _numbers(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> Numbers:
        names = Names()
        name_entries(batch, names)
        name_facts(batch, names)
        return await self._dimensions.numbers(connection, names)

    async def _write_entries(
        self,
        connection: asyncpg.Connection,
        batch: Batch,
        numbers: Numbers,
        head: asyncpg.Record,
    ) -> None:
        rows = entry_rows(
            batch,
            numbers,
            self._encoder,
            log=self._log,
            recorded_at=head["recorded_at"],
        )
        await connection.copy_records_to_table(
            "entry",
            schema_name="recorder",
            columns=ENTRY_COLUMNS,
            records=_in_turns(rows),
        )

    async def _write_facts(
        self,
        connection: asyncpg.Connection,
        batch: Batch,
        numbers: Numbers,
        head: asyncpg.Record,
        derivation: asyncpg.Record,
    ) -> None:
        """Write the facts of a batch beside its entries."""
        number = await derivation_to_write(
            connection,
            derivation,
            log=self._log,
            position=batch.first_position,
        )
        if number is None:
            return
        rows = fact_rows(
            batch,
            numbers,
            self._details,
            derivation=number,
            recorded_at=head["recorded_at"],
        )
        if batch.facts:
            await connection.copy_records_to_table(
                "fact",
                schema_name="recorder",
                columns=FACT_COLUMNS,
                records=_in_turns(rows),
            )

    async def _enter_partition(
        self, connection: asyncpg.Connection, recorded_at: datetime
    ) -> None:
        """Add the partitions of the next days; a day has its own keyframes."""
        day = recorded_at.strftime("%Y%m%d")
        if day == self._day:
            return
        for ahead in range(8):
            await ADD_PARTITION.execute(
                connection, at=recorded_at + timedelta(days=ahead)
            )
        self._encoder.forget()
        self._day = day


async def _in_turns(rows: Iterable[Row]) -> AsyncIterator[Row]:
    """Yield rows as they are made, and let other tasks run between them."""
    for number, row in enumerate(rows, 1):
        yield row
        if number % ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
