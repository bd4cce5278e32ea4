"""Appending: the only code that writes to the log.

One writer per log, fenced twice over: a lease that expires decides who may
try, and every commit compares the term of that lease, its holder and the size
of the log, so that a writer that was frozen for an hour and thaws cannot
append, and a batch whose commit was answered by silence cannot be appended
twice. The holder is compared because a database that was restored from a
backup gives a term again.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import asyncpg

from recorder.errors import UnknownStateError
from recorder.intake.state import Batch
from recorder.store.derivation import derivation_to_write
from recorder.store.dimension import Dimensions
from recorder.store.encoding import Encoder
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_identities,
    fact_nodes,
    fact_rows,
    fact_words,
)
from recorder.store.rows import (
    ENTRY_COLUMNS,
    Numbers,
    entry_rows,
    head_columns,
    identities,
    resume_columns,
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
TELL_BATCH = """
    with made as (
      insert into recorder.batch (log_id, batch, first_position, entries,
        term, recorded_at, observed_min, observed_max)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
    ), widened as (
      update recorder.partition
      set observed_min = least(observed_min, $7),
          observed_max = greatest(observed_max, $8)
      where lower <= $6 and $6 < upper
    )
    select pg_notify($9, $10)
"""
UPSERT_HEADS = """
    insert into recorder.object_head as h (object_id, log_id, resource_id,
      epoch, version, resource_version, position, ready, heartbeats,
      heartbeat_at, substance, renewal)
    select * from unnest($1::int8[], $2::int4[], $3::int2[], $4::int2[],
      $5::int8[], $6::text[], $7::int8[], $8::bool[], $9::int8[],
      $10::timestamptz[], $11::bytea[], $12::bytea[])
    on conflict (object_id) do update set
      resource_id = excluded.resource_id, epoch = excluded.epoch,
      version = excluded.version,
      resource_version = excluded.resource_version,
      position = excluded.position, ready = excluded.ready,
      heartbeats = excluded.heartbeats, heartbeat_at = excluded.heartbeat_at,
      substance = excluded.substance, renewal = excluded.renewal
"""
DELETE_HEADS = """
    delete from recorder.object_head where object_id = any($1::int8[])
"""
UPSERT_RESUME = """
    insert into recorder.resume_point as r (log_id, source, resource_id,
      state, completed, pending, seen, began_at, vouched_until,
      last_frame_at, entries, gap_position, gap_reason, gap_since,
      gap_version, began_version)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
      $16)
    on conflict (log_id, source, resource_id) do update set
      state = excluded.state, completed = excluded.completed,
      pending = excluded.pending, seen = excluded.seen,
      began_at = excluded.began_at, vouched_until = excluded.vouched_until,
      last_frame_at = excluded.last_frame_at, entries = excluded.entries,
      gap_position = excluded.gap_position, gap_reason = excluded.gap_reason,
      gap_since = excluded.gap_since, gap_version = excluded.gap_version,
      began_version = excluded.began_version
"""


class LeaseLostError(UnknownStateError):
    """Another writer took the lease: what we hold may be behind the log."""

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
        numbers = await self._numbers(connection, batch)
        if batch.drafts:
            await self._write_entries(connection, batch, numbers, head)
            await self._write_facts(connection, batch, numbers, head)
        await self._write_bookkeeping(connection, batch, numbers)

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
        drafts = [draft for _, draft in batch.drafts]
        words = {d.reason for d in drafts} | {d.actor for d in drafts}
        words |= fact_words(batch)
        resources = {d.resource for d in drafts}
        resources.update(head.resource for head in batch.heads.values())
        resources.update(resource for _, resource in batch.streams)
        dimensions = self._dimensions
        return Numbers(
            nodes=await dimensions.nodes(
                connection,
                {d.node for d in drafts if d.node is not None}
                | fact_nodes(batch),
            ),
            objects=await dimensions.objects(
                connection, [*identities(batch), *fact_identities(batch)]
            ),
            resources=await dimensions.resources(
                connection, {r for r in resources if r is not None}
            ),
            words=await dimensions.words(
                connection, {w for w in words if w is not None}
            ),
        )

    async def _write_entries(
        self,
        connection: asyncpg.Connection,
        batch: Batch,
        numbers: Numbers,
        head: asyncpg.Record,
    ) -> None:
        recorded_at: datetime = head["recorded_at"]
        await self._enter_partition(connection, recorded_at)
        rows = entry_rows(
            batch,
            numbers,
            self._encoder,
            log=self._log,
            recorded_at=recorded_at,
        )
        await connection.copy_records_to_table(
            "entry",
            schema_name="recorder",
            columns=ENTRY_COLUMNS,
            records=rows,
        )
        observed = [draft.observed_at for _, draft in batch.drafts]
        first, last = min(observed), max(observed)
        await connection.execute(
            TELL_BATCH,
            self._log,
            head["batches"],
            batch.first_position,
            len(batch),
            self._term,
            recorded_at,
            first,
            last,
            CHANNEL,
            f"{self._log}:{batch.first_position - 1 + len(batch)}",
        )

    async def _write_facts(
        self,
        connection: asyncpg.Connection,
        batch: Batch,
        numbers: Numbers,
        head: asyncpg.Record,
    ) -> None:
        """Write the facts of a batch beside its entries."""
        derivation = await derivation_to_write(
            connection, self._log, batch.first_position
        )
        if derivation is None:
            return
        rows = fact_rows(
            batch,
            numbers,
            log=self._log,
            derivation=derivation,
            recorded_at=head["recorded_at"],
        )
        if rows:
            await connection.copy_records_to_table(
                "fact",
                schema_name="recorder",
                columns=FACT_COLUMNS,
                records=rows,
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
        self, connection: asyncpg.Connection, batch: Batch, numbers: Numbers
    ) -> None:
        if batch.heads:
            columns = head_columns(batch.heads.values(), numbers, self._log)
            await connection.execute(UPSERT_HEADS, *columns)
        if batch.gone:
            gone = [
                numbers.objects[head.identity] for head in batch.gone.values()
            ]
            await connection.execute(DELETE_HEADS, gone)
        if batch.streams:
            rows = [
                resume_columns(key, point, numbers, self._log)
                for key, point in batch.streams.items()
            ]
            await connection.executemany(UPSERT_RESUME, rows)
