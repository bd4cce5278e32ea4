"""Reading: whether a database is fit to hold a log, for `recorder doctor`.

Each check looks at one thing and says what to do about it. Those that need
the schema are asked once it is there.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.report.checks import Check
from recorder.store.engine import reading
from recorder.store.schema import found_revision, wanted_revision
from recorder.store.tables import QueryRow, log, log_head, partition

__all__ = [
    "check_database",
    "check_partitions",
    "check_schema_found",
    "redaction_keys",
]

OLDEST = 15
SKEW_MAX = timedelta(seconds=2)
AHEAD_MIN = timedelta(days=1)
"""Partitions are made seven days ahead; less than one means that nobody
makes them."""

FACTS = text("""
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery()
        or current_setting('default_transaction_read_only')::bool as read_only,
      current_user as role,
      array(select wanted from unnest(array['recorder_owner',
        'recorder_writer', 'recorder_reader']) as wanted
        where not exists (select from pg_roles where rolname = wanted)
      ) as missing,
      coalesce((select pg_has_role(oid, 'member') from pg_roles
        where rolname = 'recorder_reader'), false) as reads,
      coalesce((select pg_has_role(oid, 'member') from pg_roles
        where rolname = 'recorder_writer'), false) as writes,
      clock_timestamp() as now
""")


async def check_database(engine: AsyncEngine) -> Sequence[Check]:
    """Check version, encoding, roles and clock.

    Raises:
        LogUnavailableError: it does not answer.
    """
    async with reading(engine, "reach the database") as connection:
        before = datetime.now(UTC)
        facts = (await connection.execute(FACTS)).one()
        after = datetime.now(UTC)
    return [
        _version(facts),
        _encoding(facts),
        _writable(facts),
        _roles(facts),
        _clock(before, facts.now, after),
    ]


async def check_schema_found(engine: AsyncEngine) -> Check:
    """Check whether the schema is the one that this release needs."""
    found, wanted = await found_revision(engine), wanted_revision()
    return Check(
        name="schema",
        ok=found == wanted,
        says=f'"{found or "missing"}", and this release needs "{wanted}"'
        if found != wanted
        else f'"{found}"',
        remedy="run: recorder migrate",
    )


async def check_partitions(engine: AsyncEngine) -> Check:
    """Check that partitions are made ahead; the schema must be there."""
    now = func.clock_timestamp()
    query = select(
        select(func.max(partition.c.upper)).scalar_subquery().label("until"),
        select(func.max(partition.c.upper) - now)
        .scalar_subquery()
        .label("ahead"),
        select(func.count())
        .select_from(log_head)
        .where(log_head.c.expires_at > now)
        .scalar_subquery()
        .label("writers"),
    )
    async with reading(engine, "look at the partitions") as connection:
        found = (await connection.execute(query)).one()
    if found.until is None:
        says, ok = "none yet; the first recording makes them", True
    else:
        says = f"made until {found.until:%Y-%m-%d}"
        ok = found.ahead > AHEAD_MIN or not found.writers
    return Check(
        name="partitions",
        ok=ok,
        says=says,
        remedy="the writer makes them each day: look at its errors, and"
        " whether recorder_writer may run recorder.add_partition",
    )


async def redaction_keys(engine: AsyncEngine) -> frozenset[str]:
    """Give the ids of the keys that live logs were redacted with."""
    query = select(log.c.redaction_key_id).where(
        log.c.kind == "live", log.c.redaction_key_id.is_not(None)
    )
    async with reading(engine, "look at the logs") as connection:
        return frozenset(await connection.scalars(query))


def _version(facts: QueryRow) -> Check:
    return Check(
        name="database version",
        ok=facts.major >= OLDEST,
        says=f"PostgreSQL {facts.version}",
        remedy=f"Recorder needs PostgreSQL {OLDEST} or newer",
    )


def _encoding(facts: QueryRow) -> Check:
    return Check(
        name="database encoding",
        ok=facts.encoding == "UTF8",
        says=facts.encoding,
        remedy="names may hold any character: create the database with"
        " ENCODING 'UTF8'",
    )


def _writable(facts: QueryRow) -> Check:
    return Check(
        name="database writable",
        ok=not facts.read_only,
        says="it is a standby or read-only" if facts.read_only else "yes",
        remedy="name the primary, or set default_transaction_read_only off",
    )


def _roles(facts: QueryRow) -> Check:
    if facts.missing:
        return Check(
            name="database rights",
            ok=False,
            says=f"there is no role {', '.join(facts.missing)}",
            remedy="run deploy/sql/roles.sql, then recorder migrate"
            " (both are printed by: recorder migrate --sql)",
        )
    can = "do nothing"
    if facts.writes:
        can = "read and write"
    elif facts.reads:
        can = "read"
    return Check(
        name="database rights",
        ok=bool(facts.reads or facts.writes),
        says=f'role "{facts.role}" may {can}',
        remedy=f'grant it: GRANT recorder_writer TO "{facts.role}"'
        " (recorder_reader is enough for asking)",
    )


def _clock(before: datetime, theirs: datetime, after: datetime) -> Check:
    ours = before + (after - before) / 2
    skew = theirs - ours
    is_near = abs(skew) <= SKEW_MAX + (after - before) / 2
    return Check(
        name="clock",
        ok=is_near,
        says=f"PostgreSQL's differs by {skew.total_seconds():+.3f} s",
        remedy="set both clocks by NTP: times of observation and of"
        " recording would not fit together",
    )
