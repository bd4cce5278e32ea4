"""Appending: the only code that writes to the log.

One writer per log, fenced twice over: a lease that expires decides who may
try, and every commit compares the term of that lease, its holder and the size
of the log, so that a writer that was frozen for an hour and thaws cannot
append, and a batch whose commit was answered by silence cannot be appended
twice. The holder is compared because a database that was restored from a
backup gives a term again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from recorder.errors import UnknownStateError
from recorder.intake.state import Batch
from recorder.store.derivation import derivation_to_write
from recorder.store.dimension import Dimensions
from recorder.store.encoding import Encoder
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_rows,
    name_facts,
)
from recorder.store.names import Names, Numbers
from recorder.store.rows import (
    ENTRY_COLUMNS,
    entry_rows,
    head_rows,
    name_entries,
    resume_rows,
)
from recorder.store.translate import translate_errors

__all__ = ["Appender", "LeaseLostError"]

CHANNEL = "recorder"
"""NOTIFY channel; its payload is ``LOG:SIZE``. A hint: the truth is the
table `batch`."""

ADVANCE = """
    update recorder.log_head
    set size = size + $4,
        batches = batches + case when $4 > 0 then 1 else 0 end,
        epoch = $5,
        recorded_at = greatest(recorded_at, clock_timestamp()),
        expires_at = clock_timestamp() + $6::interval
    where log_id = $1 and term = $2 and size = $3 and holder = $7
    returning recorded_at, batches
"""
READ_HEAD = """
    select term, holder, size from recorder.log_head where log_id = $1
"""
FOLLOW = """
    with made as (
      insert into recorder.batch (log_id, batch, first_position, entries,
        term, recorded_at, observed_min, observed_max)
      select $1::int4, $2::int8, $3::int8, $4::int4, $5::int8,
        $6::timestamptz, $7::timestamptz, $8::timestamptz where $4 > 0
    ), widened as (
      update recorder.partition
      set observed_min = least(observed_min, $7),
          observed_max = greatest(observed_max, $8)
      where $4 > 0 and lower <= $6 and $6 < upper
    ), headed as (
      insert into recorder.object_head as h (log_id, object_id, resource_id,
        epoch, version, resource_version, position, ready, heartbeats,
        heartbeat_at, substance, renewal)
      select $1, h.* from jsonb_to_recordset($9::jsonb) as h (object_id int8,
        resource_id int2, epoch int2, version int8, resource_version text,
        position int8, ready bool, heartbeats int8, heartbeat_at timestamptz,
        substance bytea, renewal bytea)
      on conflict (object_id) do update set
        resource_id = excluded.resource_id, epoch = excluded.epoch,
        version = excluded.version,
        resource_version = excluded.resource_version,
        position = excluded.position, ready = excluded.ready,
        heartbeats = excluded.heartbeats,
        heartbeat_at = excluded.heartbeat_at,
        substance = excluded.substance, renewal = excluded.renewal
    ), moved as (
      insert into recorder.resume_point as r (log_id, source, resource_id,
        state, completed, pending, seen, began_at, vouched_until,
        last_frame_at, entries, gap_position, gap_reason, gap_since,
        gap_version, began_version, settled_until)
      select $1, p.* from jsonb_to_recordset($10::jsonb) as p (source text,
        resource_id int2, state text, completed text, pending text,
        seen text[], began_at timestamptz, vouched_until timestamptz,
        last_frame_at timestamptz, entries int8, gap_position int8,
        gap_reason text, gap_since timestamptz, gap_version text,
        began_version text, settled_until timestamptz)
      on conflict (log_id, source, resource_id) do update set
        state = excluded.state, completed = excluded.completed,
        pending = excluded.pending, seen = excluded.seen,
        began_at = excluded.began_at,
        vouched_until = excluded.vouched_until,
        last_frame_at = excluded.last_frame_at, entries = excluded.entries,
        gap_position = excluded.gap_position,
        gap_reason = excluded.gap_reason, gap_since = excluded.gap_since,
        gap_version = excluded.gap_version,
        began_version = excluded.began_version,
        settled_until = excluded.settled_until
    )
    select d.derivation_id, d.rules, d.built_to,
      case when $4 > 0 then pg_notify($11::text, $12::text) end
    from (select) as once left join recorder.derivation d
      on d.log_id = $1 and d.state = 'current'
"""
DELETE_HEADS = """
    delete from recorder.object_head where object_id = any($1::int8[])
"""


Row = tuple[Any, ...]

ROWS_AT_ONCE = 1000
"""Rows made before PostgreSQL and others get their turn."""


class LeaseLostError(UnknownStateError):
    """Another writer took the lease: our state may be behind the log."""

    code = "log.lease_lost"


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
    ) -> None:
        self._log = log
        self._term = term
        self._holder = holder
        self._lease = lease
        self._dimensions = Dimensions(log)
        self._encoder = Encoder(dictionaries)
        self._day: str | None = None

    async def append(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        """Append every draft of a batch and all that follows, or nothing.

        Durable when this returns. When it raises `LogUnavailableError` the
        batch may be in the log or not; append the same batch again, on
        another connection: what is in the log already is recognised by the
        log's size and not written twice. An empty batch renews the lease.

        Raises:
            LeaseLostError: another writer holds a newer term.
            UnknownStateError: the log has a size that no batch of ours gave.
            LogUnavailableError: PostgreSQL is away, read-only or full.
        """
        try:
            with translate_errors("append to the log"):
                async with connection.transaction():
                    await self._write(connection, batch)
        except BaseException:
            # Ids and keyframes of the failed transaction point at rows that
            # may not exist.
            self._dimensions.forget()
            self._encoder.forget()
            self._day = None
            raise

    async def _write(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        head = await connection.fetchrow(
            ADVANCE,
            self._log,
            self._term,
            batch.first_position - 1,
            len(batch),
            batch.epoch,
            self._lease,
            self._holder,
        )
        if head is None:
            await self._explain_refusal(connection, batch)
            return
        if not batch:
            return
        numbers = await self._numbers(connection, batch)
        if batch.drafts:
            await self._enter_partition(connection, head["recorded_at"])
        derivation = await self._write_bookkeeping(
            connection, batch, numbers, head
        )
        # Rows come last, since PostgreSQL takes them while more are made; and
        # those of entries behind those of facts, for which it needs longer.
        if batch.drafts:
            await self._write_facts(
                connection, batch, numbers, head, derivation
            )
            await self._write_entries(connection, batch, numbers, head)

    async def _explain_refusal(
        self, connection: asyncpg.Connection, batch: Batch
    ) -> None:
        """Return if the batch is in the log already; else say why not."""
        found = await connection.fetchrow(READ_HEAD, self._log)
        ours = (self._term, self._holder)
        if found is None or (found["term"], found["holder"]) != ours:
            msg = f"cannot append to log {self._log}: another writer holds it"
            raise LeaseLostError(msg)
        if found["size"] != batch.first_position - 1 + len(batch):
            # The log moved under our term without us: memory is worthless.
            msg = (
                f"cannot append to log {self._log}: it has {found['size']}"
                f" entries where {batch.first_position - 1} were expected"
            )
            raise UnknownStateError(msg)

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
            log=self._log,
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
        """Make sure of the partition; keyframes do not cross into it."""
        day = recorded_at.strftime("%Y%m%d")
        if day == self._day:
            return
        for ahead in range(8):
            await connection.execute(
                "select recorder.add_partition($1)",
                recorded_at + timedelta(days=ahead),
            )
        self._encoder.forget()
        self._day = day

    async def _write_bookkeeping(
        self,
        connection: asyncpg.Connection,
        batch: Batch,
        numbers: Numbers,
        head: asyncpg.Record,
    ) -> asyncpg.Record:
        """Write what follows from a batch; return the current derivation.

        In one statement: of a small batch the statements cost more than
        the rows.
        """
        if batch.gone:
            ids = [
                numbers.objects[gone.identity] for gone in batch.gone.values()
            ]
            await connection.execute(DELETE_HEADS, ids)
        observed = [draft.observed_at for _, draft in batch.drafts]
        return await connection.fetchrow(
            FOLLOW,
            self._log,
            head["batches"],
            batch.first_position,
            len(batch),
            self._term,
            head["recorded_at"],
            min(observed, default=None),
            max(observed, default=None),
            head_rows(batch.heads.values(), numbers),
            resume_rows(batch.streams, numbers),
            CHANNEL,
            f"{self._log}:{batch.first_position - 1 + len(batch)}",
        )


async def _in_turns(rows: Iterable[Row]) -> AsyncIterator[Row]:
    """Yield rows as they are made, and others their turn between them."""
    for number, row in enumerate(rows, 1):
        yield row
        if number % ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
