"""The lease of a log: who may write, judged by PostgreSQL's clock alone.

The lease decides who tries; that nobody else's batch is committed is seen to
by the append itself, which compares the term.
"""

from datetime import timedelta

import asyncpg

from recorder.model.errors import StandingByError
from recorder.store.statement import Statement

__all__ = ["LEASE", "session_name", "take_lease"]

LEASE = timedelta(seconds=6)
"""How long a silent writer keeps the log. A standby takes over within 10 s:
this, its own polling of 2 s, and the time to recover.

One that ends later than any lease can was given before PostgreSQL's clock was
set back, and would keep a dead writer's log for as long as that; it is over
as well. A writer that lives is fenced, and stands by."""

MAKE_HEAD = Statement.of("""
    insert into recorder.log_head (log_id, sealed_until)
    select :log,
      coalesce(max(upper) filter (where state <> 'open'), '-infinity')
    from recorder.partition on conflict do nothing
""")
READ = Statement.of("""
    select holder, holder is null or holder = :holder
      or expires_at < clock_timestamp()
      or expires_at > clock_timestamp() + 2 * :lease::interval as is_free
    from recorder.log_head where log_id = :log
""")
END_SESSIONS = Statement.of("""
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user
      and application_name = left(:name, 63) and pid <> pg_backend_pid()
""")
TAKE = Statement.of("""
    update recorder.log_head
    set term = term + 1, holder = :holder,
        expires_at = clock_timestamp() + :lease::interval
    where log_id = :log
      and (holder is null or holder = :holder or expires_at < clock_timestamp()
        or expires_at > clock_timestamp() + 2 * :lease::interval)
    returning term
""")


async def take_lease(
    connection: asyncpg.Connection, log: int, holder: str
) -> int:
    """Take the free lease of a log; return its term.

    A holder that froze within a transaction has locked the log, for as long
    as its session lasts; so the sessions of one that is late are ended.

    Raises:
        StandingByError: another writer holds it.
    """
    ours = {"log": log, "holder": holder, "lease": LEASE}
    # Read before: a write waits for the transaction of the holder.
    lease = await READ.fetch_row(connection, **ours)
    if lease is None:
        await MAKE_HEAD.execute(connection, log=log)
    elif not lease["is_free"]:
        raise _standing_by(log, lease["holder"])
    elif lease["holder"] is not None:
        name = session_name("writer", lease["holder"])
        await END_SESSIONS.execute(connection, name=name)
    term: int | None = await TAKE.fetch_value(connection, **ours)
    if term is None:
        lease = await READ.fetch_row(connection, **ours)
        raise _standing_by(log, lease["holder"])
    return term


def session_name(purpose: str, holder: str) -> str:
    """Name a connection, so that an heir can tell it and end it."""
    return f"recorder {purpose} {holder}"


def _standing_by(log: int, holder: str) -> StandingByError:
    return StandingByError(f'log {log} is being written by "{holder}"')
