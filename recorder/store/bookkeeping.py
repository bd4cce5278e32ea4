"""What follows from a batch: its header and hashes, heads, resume points."""

from typing import NamedTuple

import asyncpg

from recorder.intake.state import Batch
from recorder.store.hashing import Hashes, LogIdentity, hash_batch
from recorder.store.names import Numbers
from recorder.store.rows import head_rows, resume_rows

__all__ = ["CHANNEL", "Place", "write_bookkeeping"]

CHANNEL = "recorder"
"""NOTIFY channel; its payload is ``LOG:SIZE``. A hint: the truth is the
table `batch`."""

FOLLOW = """
    with made as (
      insert into recorder.batch (log_id, batch, first_position, entries,
        term, recorded_at, observed_min, observed_max, root, tree)
      select $1::int4, $2::int8, $3::int8, $4::int4, $5::int8,
        $6::timestamptz, $7::timestamptz, $8::timestamptz, $13::bytea,
        $14::bytea where $4 > 0
    ), grown as (
      update recorder.log_head set peaks = $15::bytea
      where log_id = $1 and $4 > 0
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
FORGET_STREAMS = """
    delete from recorder.resume_point
    where log_id = $1 and (source, resource_id) in (
      select * from unnest($2::text[], $3::int2[]))
"""


class Place(NamedTuple):
    """Where a writer writes, and as whom."""

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
    """Write what follows from a batch; return the current derivation.

    In one statement: of a small batch the statements cost more than the
    rows.
    """
    if batch.gone:
        ids = [numbers.objects[gone.identity] for gone in batch.gone.values()]
        await connection.execute(DELETE_HEADS, ids)
    if batch.left:
        await connection.execute(
            FORGET_STREAMS,
            place.log,
            [source for source, _ in batch.left],
            [numbers.resources[resource] for _, resource in batch.left],
        )
    observed = [draft.observed_at for _, draft in batch.drafts]
    return await connection.fetchrow(
        FOLLOW,
        place.log,
        head["batches"],
        batch.first_position,
        len(batch),
        place.term,
        head["recorded_at"],
        min(observed, default=None),
        max(observed, default=None),
        head_rows(batch.heads.values(), numbers),
        resume_rows(batch.streams, numbers),
        CHANNEL,
        f"{place.log}:{batch.first_position - 1 + len(batch)}",
        *_hashes(batch, head, place),
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
