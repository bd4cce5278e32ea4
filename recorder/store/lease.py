"""The lease of a log: which process may write, by PostgreSQL's clock.

The lease decides which process tries. The append compares its term, so that
no other process can commit a batch.
"""

from datetime import timedelta

import asyncpg

from recorder.model.errors import StandingByError
from recorder.store.statement import Statement

LEASE = timedelta(seconds=6)
"""How long a silent writer keeps the log. A standby takes over within 10 s:
this, its polling of 2 s, and the time to recover.

A lease that ends later than possible was taken before PostgreSQL's clock was
set back, and would keep the log of a dead writer for that long: it counts as
expired. A writer that is alive is fenced then, and waits as a standby."""

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

    A holder that froze in a transaction locks the log as long as its session
    lasts: the sessions of a holder whose lease expired are terminated.

    Raises:
        StandingByError: another writer holds it.
    """
    ours = {"log": log, "holder": holder, "lease": LEASE}
    # Read first: a write waits for the transaction of the holder.
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
    """Return the name of a connection, by which a successor can end it."""
    return f"recorder {purpose} {holder}"


def _standing_by(log: int, holder: str) -> StandingByError:
    return StandingByError(f'log {log} is being written by "{holder}"')
