"""Reads what `recorder doctor` checks of a database.

Methods that need the schema are called only if it exists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.doctor.clock import ClockReading
from recorder.doctor.log import EventLives, LeaseFacts, PartitionFacts
from recorder.doctor.schema import GuardFacts, SchemaFacts
from recorder.doctor.server import ServerFacts
from recorder.facts.coverage.audit_state import AuditReading, audit_reading
from recorder.facts.coverage.ports import FactsEnd
from recorder.integrity.catalog import differences
from recorder.store.engine import Pooled, asking, fetch, fetch_planned, reading
from recorder.store.read_catalog import made_catalog, read_catalog
from recorder.store.read_facts import facts_end
from recorder.store.read_logs import read_logs, read_standing
from recorder.store.schema import (
    found_revision,
    is_served,
    known_revisions,
    wanted_revision,
)
from recorder.store.statement import Statement

FACTS = Statement.of("""
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery()
        or current_setting('default_transaction_read_only')::bool
        as is_read_only,
      array(select name from unnest(array['fsync', 'full_page_writes',
        'synchronous_commit']) as name
        where current_setting(name) = 'off') as unsafe,
      current_user as role,
      (select rolsuper from pg_roles where rolname = current_user)
        as is_superuser,
      array(select wanted from unnest(array['recorder_owner',
        'recorder_writer', 'recorder_reader', 'recorder_retention']) as wanted
        where not exists (select from pg_roles where rolname = wanted)
      ) as missing,
      coalesce((select pg_has_role(oid, 'usage') from pg_roles
        where rolname = 'recorder_owner'), false) as owns,
      coalesce((select pg_has_role(oid, 'usage') from pg_roles
        where rolname = 'recorder_writer'), false) as writes,
      coalesce((select pg_has_role(oid, 'usage') from pg_roles
        where rolname = 'recorder_reader'), false) as reads,
      clock_timestamp() as now
""")

APPENDED = (
    "dictionary", "log", "log_head", "resource", "kind", "node", "word",
    "object", "batch", "entry", "resume_point", "object_head",
    "derivation", "derivation_part", "fact",
)  # fmt: skip
BOOKKEEPING = ("log_head", "resume_point", "object_head")
FROZEN = (
    "batch", "dictionary", "log", "resource", "kind", "node", "word",
    "object", "entry", "fact",
)  # fmt: skip
"""What migrations/sql grants, and the tables that no role may change."""

LACKING = Statement.of("""
    select verb || ' ON recorder.' || string_agg(name, ', recorder.'
      order by place) as granted
    from (
      select 'SELECT' as verb, name, place
        from unnest(:appended::text[]) with ordinality a(name, place)
      union all select 'INSERT', name, place
        from unnest(:appended::text[]) with ordinality a(name, place)
      union all select 'UPDATE', name, place
        from unnest(:bookkeeping::text[]) with ordinality
          a(name, place)
      union all select 'DELETE', 'object_head', 1
      union all select 'SELECT', 'partition', 99
    ) needed
    where not has_table_privilege('recorder.' || name, verb)
    group by verb
    union all
    select 'UPDATE (observed_min, observed_max) ON recorder.partition'
    where not (
      has_column_privilege('recorder.partition', 'observed_min', 'UPDATE')
      and has_column_privilege('recorder.partition', 'observed_max',
        'UPDATE'))
    union all
    select 'USAGE ON SEQUENCE recorder.object_id_block'
    where not has_sequence_privilege('recorder.object_id_block', 'USAGE')
    union all
    select 'EXECUTE ON FUNCTION recorder.add_partition'
    where not has_function_privilege('recorder.add_partition(timestamptz)',
      'EXECUTE')
    order by 1
""")
CHANGEABLE = Statement.of("""
    select c.relname
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'recorder'
    where (c.relname = any(:frozen::text[]) or c.oid in
        (select inhrelid from pg_inherits
         where inhparent in (to_regclass('recorder.entry'),
           to_regclass('recorder.fact'))))
      and (has_any_column_privilege(c.oid, 'UPDATE')
        or has_table_privilege(c.oid, 'DELETE')
        or has_table_privilege(c.oid, 'TRUNCATE'))
    order by c.relname
""")

SAMPLED = 50_000
"""Entries at the end of a log that are searched for deletions of Events:
minutes to hours of a busy cluster."""

LIVES = Statement.of("""
    select count(*) as sample,
      percentile_cont(0.75) within group (order by e.observed_at
        - e.occurred_at) as typical
    from recorder.entry e
    join recorder.resource r on r.resource_id = e.resource_id
      and r.name = 'v1/events'
    join recorder.log_head h on h.log_id = e.log_id
    join recorder.log l on l.log_id = e.log_id and l.kind = 'live'
    where e.position > h.size - :sampled and e.operation = #deleted
      and e.occurred_at is not null
      and (:cluster::text is null or l.cluster_uid = :cluster)
""")

CLAIM_TYPES = Statement.of("""
    select w.text as type, count(*) as claims
    from recorder.log_head h
    join recorder.log l on l.log_id = h.log_id and l.kind = 'live'
    join recorder.derivation d on d.log_id = l.log_id and d.state = 'current'
    join recorder.fact f on f.derivation_id = d.derivation_id
    join recorder.word w on w.word_id = f.topic_id
    where f.kind = #claimed and f.position > h.size - :sampled
      and (:cluster::text is null or l.cluster_uid = :cluster)
    group by w.text
""")

PARTITIONS = Statement.of("""
    select max(upper) as until, max(upper) - clock_timestamp() as ahead,
      (select count(*) from recorder.log_head
        where expires_at > clock_timestamp()) as writers
    from recorder.partition
""")
# Without a lease the time is "-infinity", which Python lacks.
LEASES = Statement.of("""
    select l.log_id as log, l.cluster_name as cluster, h.holder,
      nullif(h.expires_at, '-infinity') as expires_at,
      clock_timestamp() as now
    from recorder.log l join recorder.log_head h on h.log_id = l.log_id
    where l.kind = 'live'
      and (:cluster::text is null or l.cluster_uid = :cluster)
    order by l.log_id
""")
KEYS = Statement.of("""
    select redaction_key_id from recorder.log
    where kind = 'live' and redaction_key_id is not null
      and (:cluster::text is null or cluster_uid = :cluster)
""")
SESSION = Statement.of("select session_user")

# A log from before facts existed may not have been written since.
FACTS_ENDS = Statement.of("""
    select h.log_id, h.size,
      case when d.derivation_id is null then 0 else d.built_to end
    from recorder.log l join recorder.log_head h on h.log_id = l.log_id
    left join recorder.derivation d
      on d.log_id = h.log_id and d.state = 'current'
    where :cluster::text is null or l.cluster_uid = :cluster
    order by h.log_id
""")


class CheckReader:
    """Satisfies the port `DatabaseProbe`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def server(self) -> tuple[ServerFacts, ClockReading]:
        """Return the server's version, our role, and the server's time.

        Raises:
            LogUnavailableError: the server does not answer.
        """
        async with reading(self._engine, "reach the database") as connection:
            before = datetime.now(UTC)
            (row,) = await connection.fetch(FACTS)
            after = datetime.now(UTC)
        facts = {
            field.name: getattr(row, field.name)
            for field in fields(ServerFacts)
        }
        clock = ClockReading(before=before, theirs=row.now, after=after)
        return ServerFacts(**facts), clock

    async def schema(self) -> SchemaFacts:
        """Return the revision of the schema, and those that are known."""
        found = await found_revision(self._engine)
        return SchemaFacts(
            found,
            wanted_revision(),
            known_revisions(),
            serves=await is_served(self._engine, found),
        )

    async def guards(self) -> GuardFacts:
        """Return the rights of this role on the tables, and the guards."""
        async with asking(self._engine, "check the rights") as connection:
            assert isinstance(connection, Pooled), "it checks a database"
            lacking = await connection.fetch(
                LACKING, appended=[*APPENDED], bookkeeping=[*BOOKKEEPING]
            )
            excess = await connection.fetch(CHANGEABLE, frozen=[*FROZEN])
            found = await read_catalog(await connection.driver())
            ((role,),) = await connection.fetch(SESSION)
        return GuardFacts(
            lacking=[name for (name,) in lacking],
            excess=[name for (name,) in excess],
            altered=list(differences(found, made_catalog(), {role})),
        )

    async def partitions(self) -> PartitionFacts:
        """Return how far ahead partitions exist."""
        (found,) = await fetch(
            self._engine, "check the partitions", PARTITIONS
        )
        return PartitionFacts(
            until=found.until, ahead=found.ahead, is_written=found.writers > 0
        )

    async def leases(self, cluster: str | None) -> Sequence[LeaseFacts]:
        """Return the writer of a cluster's log, or of every log."""
        rows = await fetch(
            self._engine, "check the leases", LEASES, cluster=cluster
        )
        return [LeaseFacts(**row) for row in rows]

    async def redaction_keys(self, cluster: str | None) -> frozenset[str]:
        """Return the ids of the keys of a cluster's log, or of all of them."""
        rows = await fetch(
            self._engine, "check the logs", KEYS, cluster=cluster
        )
        return frozenset(key for (key,) in rows)

    async def facts_ends(self, cluster: str | None) -> list[FactsEnd]:
        """Return where facts end, for each log with entries after that."""
        rows = await fetch(
            self._engine, "check the facts", FACTS_ENDS, cluster=cluster
        )
        found = [await facts_end(self._engine, *row) for row in rows]
        return [end for end in found if end is not None]

    async def audits(self, cluster: str | None) -> list[AuditReading]:
        """Return the state of audit records in each log of a live cluster."""
        found = []
        for one in await read_logs(self._engine):
            if not one.is_tape and cluster in {None, one.cluster_uid}:
                standing = await read_standing(self._engine, one.id)
                if standing is not None:
                    found.append(audit_reading(standing.log, standing.streams))
        return found

    async def event_lives(self, cluster: str | None) -> EventLives:
        """Measure how long Events live, by those recorded as deleted."""
        (found,) = await fetch_planned(
            self._engine,
            "check the Events",
            LIVES,
            sampled=SAMPLED,
            cluster=cluster,
        )
        typical: timedelta | None = found.typical
        return EventLives(sample=found.sample, typical=typical)

    async def claim_types(self, cluster: str | None) -> Mapping[str, int]:
        """Return how many of the newest claims are of each type."""
        rows = await fetch_planned(
            self._engine,
            "read the types of claims",
            CLAIM_TYPES,
            sampled=SAMPLED,
            cluster=cluster,
        )
        return {row.type: row.claims for row in rows}
