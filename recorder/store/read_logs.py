"""Reads the logs of a database, and the state of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Log, Stream, Thinned
from recorder.model.entry import Operation
from recorder.model.observation import AUDITED
from recorder.model.reference import EntryName
from recorder.store.codes import OPERATION_CODES
from recorder.store.engine import Engine, fetch
from recorder.store.extent import Extent
from recorder.store.statement import Record, Statement, question

BOOKKEEPING = f"('tape', 'recorder', '{AUDITED}')"
"""Sources whose rows are not streams: how far a tape was played, how far
notices were read, and counts of resources while audit records are read."""


# Without an entry the time is "-infinity", which Python lacks.
LOGS = """
    select l.log_id, l.kind, l.cluster_name, l.cluster_uid, l.kubernetes,
      l.redaction_key_id, h.size,
      case when h.size > 0 then h.recorded_at end as recorded_at,
      case when h.expires_at > clock_timestamp() then h.holder end as holder,
      case when h.pruned_batches > 0 then coalesce((
        select b.observed_min from recorder.batch b
        where b.log_id = h.log_id and b.batch > h.pruned_batches
        order by b.batch limit 1), h.recorded_at) end as kept_since
    from recorder.log l join recorder.log_head h on h.log_id = l.log_id
"""
ALL = Statement.of(f"{LOGS} order by l.log_id")

RETENTION = OPERATION_CODES[Operation.RETENTION]

# Streams are read in parallel: the last entry need not be observed last.
# Entries of retention, in batches of their own, are not part of a tape.
OBSERVED = f"""
    select max(b.observed_max) as observed_at from (
      select observed_max from recorder.batch b
      where log_id = {{log}} and first_position <= {{size}}
        and not ({{is_tape}} and exists (select from recorder.entry e
          where e.log_id = b.log_id and e.recorded_at = b.recorded_at
            and e.position = b.first_position and e.operation = {RETENTION}))
      order by batch desc limit 100) b
"""
THINNED = """
    (select json_agg(json_build_object('day', t.name, 'since', t.observed_min,
        'until', t.observed_max, 'rule', r ->> 'rule', 'name', r ->> 'name',
        'days', (r ->> 'days')::int, 'facts', (r ->> 'facts')::int8,
        'archive', t.place) order by t.observed_min)::text
     from (
       select p.name, g.rules, p.observed_min, p.observed_max,
         regexp_replace(a.uri, '/[^/]+/[^/]+$', '') as place
       from recorder.thinning g
       join recorder.partition p on p.name = g.partition
       left join recorder.archived_day a
         on a.partition = g.partition and a.log_id = g.log_id
       where g.log_id = l.log_id and g.entries > 0
         and p.state <> 'dropped') t, jsonb_array_elements(t.rules) r
     where (r ->> 'entries')::int8 > 0)
"""
OBSERVED_UNTIL = question(
    OBSERVED.format(log=":log", size=":size", is_tape=":is_tape")
)
STANDING = Statement.of(f"""
    select l.*, o.observed_at, d.derivation_id, d.built_to,
      {THINNED} as thinned,
      r.name as resource, p.source, p.state, p.completed, p.began_at,
      p.began_version, p.vouched_until,
      p.last_frame_at, p.entries, p.gap_position, p.gap_reason, p.gap_since,
      p.gap_version, a.completed as audited
    from ({LOGS}) l
    cross join lateral ({
    OBSERVED.format(log="l.log_id", size="l.size", is_tape="l.kind = 'tape'")
}) o
    left join recorder.derivation d
      on d.log_id = l.log_id and d.state = 'current'
    left join (recorder.resume_point p join recorder.resource r
        on r.resource_id = p.resource_id and p.source not in {BOOKKEEPING})
      on p.log_id = l.log_id
    left join recorder.resume_point a
      on a.log_id = l.log_id and a.source = '{AUDITED}'
        and a.resource_id = p.resource_id and p.source = 'watch'
    where l.log_id = :log
    order by p.source, r.name
""")

NUMBER_MAX = 2**31 - 1
"""The greatest number of a log: the database has integers."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a log at one moment."""

    log: Log
    streams: Sequence[Stream]
    """By source and resource, in order."""

    extent: Extent
    thinned: Sequence[Thinned] = ()
    """What was removed from days that are here, oldest first."""


async def read_logs(engine: Engine) -> Sequence[Log]:
    """Return all logs, oldest first."""
    rows = await fetch(engine, "list the logs", ALL)
    return [_log(row, row.log_id) for row in rows]


async def read_standing(engine: Engine, number: int) -> Standing | None:
    """Return the state of a log, read at once; None if it does not exist.

    The result has the number of the argument, not that of the row.
    """
    if number > NUMBER_MAX:
        return None
    rows = await fetch(engine, "read the log", STANDING, log=number)
    if not rows:
        return None
    first = rows[0]
    # A log from before facts existed may not have been written since.
    built_to = 0 if first.derivation_id is None else first.built_to
    return Standing(
        replace(
            _log(first, number),
            observed_at=first.observed_at,
            derivation=first.derivation_id,
            built_to=built_to,
        ),
        [_stream(row, number) for row in rows if row.source is not None],
        Extent(number, first.size, first.derivation_id, built_to),
        _thinned(first.thinned),
    )


async def read_observed(engine: Engine, log: Log) -> datetime | None:
    """Return when the last entry of a log up to its size was observed."""
    rows = await fetch(
        engine,
        "read the log",
        OBSERVED_UNTIL,
        log=log.id,
        size=log.size,
        is_tape=log.is_tape,
    )
    at: datetime | None = rows[0][0]
    return at


def _log(row: Record, number: int) -> Log:
    return Log(
        id=number,
        kind=row.kind,
        cluster_name=row.cluster_name,
        cluster_uid=row.cluster_uid,
        kubernetes=row.kubernetes,
        size=row.size,
        recorded_at=row.recorded_at,
        holder=row.holder,
        redaction_key_id=row.redaction_key_id,
        kept_since=row.kept_since,
    )


def _thinned(text: str | None) -> Sequence[Thinned]:
    return msgspec.json.decode(text or "[]", type=list[Thinned])


def _stream(row: Record, number: int) -> Stream:
    gap = None
    if row.gap_position is not None:
        gap = Gap.still_open(
            opened=EntryName(number, row.gap_position),
            stream=(row.source, row.resource),
            since=row.gap_since,
            reason=row.gap_reason,
            version=row.gap_version,
        )
    return Stream(
        source=row.source,
        resource=row.resource,
        state=row.state,
        resource_version=row.completed,
        began_at=row.began_at,
        began_version=row.began_version,
        vouched_until=row.vouched_until,
        last_frame_at=row.last_frame_at,
        entries=row.entries,
        gap=gap,
        audited=row.audited,
    )
