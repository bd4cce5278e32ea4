"""Writes the bookkeeping of a batch: header, hashes, heads, resume points."""

from typing import NamedTuple

import asyncpg

from recorder.intake.state import Batch
from recorder.store.hashing import Hashes, LogIdentity, hash_batch
from recorder.store.names import Numbers
from recorder.store.rows import head_rows, resume_rows
from recorder.store.statement import Statement

CHANNEL = "recorder"
"""NOTIFY channel; its payload is ``LOG:SIZE``. It is only a hint to read the
table `batch`."""

FOLLOW = Statement.of("""
    with made as (
      insert into recorder.batch (log_id, batch, first_position, entries,
        term, recorded_at, observed_min, observed_max, root, tree)
      select :log::int4, :batch::int8, :first::int8, :count::int4, :term::int8,
        :recorded_at::timestamptz, :observed_min::timestamptz,
        :observed_max::timestamptz, :root::bytea, :tree::bytea
      where :count > 0
    ), grown as (
      update recorder.log_head set peaks = :peaks::bytea
      where log_id = :log and :count > 0
    ), widened as (
      update recorder.partition
      set observed_min = least(observed_min, :observed_min),
          observed_max = greatest(observed_max, :observed_max)
      where :count > 0 and lower <= :recorded_at and :recorded_at < upper
    ), headed as (
      insert into recorder.object_head as h (log_id, object_id, resource_id,
        epoch, version, resource_version, position, ready, heartbeats,
        heartbeat_at, substance, renewal)
      select :log, h.* from jsonb_to_recordset(:heads::jsonb) as h (
        object_id int8, resource_id int2, epoch int2, version int8,
        resource_version text, position int8, ready bool, heartbeats int8,
        heartbeat_at timestamptz, substance bytea, renewal bytea)
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
      select :log, p.* from jsonb_to_recordset(:streams::jsonb) as p (
        source text, resource_id int2, state text, completed text,
        pending text, seen text[], began_at timestamptz,
        vouched_until timestamptz, last_frame_at timestamptz, entries int8,
        gap_position int8,
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
      case when :count > 0 then pg_notify(:channel::text, :place::text) end
    from (select) as once left join recorder.derivation d
      on d.log_id = :log and d.state = 'current'
""")
DELETE_HEADS = Statement.of("""
    delete from recorder.object_head where object_id = any(:ids::int8[])
""")
FORGET_STREAMS = Statement.of("""
    delete from recorder.resume_point
    where log_id = :log and (source, resource_id) in (
      select * from unnest(:sources::text[], :resources::int2[]))
""")


class Place(NamedTuple):
    """The log of a writer, and the term of its lease."""

    log: int
    term: int
    identity: LogIdentity


async def write_bookkeeping(
    connection: asyncpg.Connection,
    batch: Batch,
    numbers: Numbers,
    head: asyncpg.Record,
    place: Place,
) -> asyncpg.Record:
    """Write the bookkeeping of a batch; return the current derivation.

    It is one statement, because statements cost more than the rows of a small
    batch.
    """
    if batch.gone:
        ids = [numbers.objects[gone.identity] for gone in batch.gone.values()]
        await DELETE_HEADS.execute(connection, ids=ids)
    if batch.left:
        await FORGET_STREAMS.execute(
            connection,
            log=place.log,
            sources=[source for source, _ in batch.left],
            resources=[
                numbers.resources[resource] for _, resource in batch.left
            ],
        )
    observed = [draft.observed_at for _, draft in batch.drafts]
    return await FOLLOW.fetch_row(
        connection,
        log=place.log,
        batch=head["batches"],
        first=batch.first_position,
        count=len(batch),
        term=place.term,
        recorded_at=head["recorded_at"],
        observed_min=min(observed, default=None),
        observed_max=max(observed, default=None),
        heads=head_rows(batch.heads.values(), numbers),
        streams=resume_rows(batch.streams, numbers),
        channel=CHANNEL,
        place=f"{place.log}:{batch.first_position - 1 + len(batch)}",
        **_hashes(batch, head, place)._asdict(),
    )


def _hashes(batch: Batch, head: asyncpg.Record, place: Place) -> Hashes:
    if not batch.drafts:
        return Hashes(None, None, None)
    return hash_batch(
        batch,
        place.identity,
        number=head["batches"],
        term=place.term,
        recorded_at=head["recorded_at"],
        peaks=head["peaks"],
    )
