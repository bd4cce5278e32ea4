"""Derivations: facts by rules of one number; a log has a current one.

The writer adds the facts of each entry to the current derivation as long as
that has the writer's rules and no end. A derivation by other rules ends where
the writer changed, and is replaced as a whole.
"""

import asyncpg

from recorder.facts import DERIVATION
from recorder.store.statement import Statement

MAKE_DERIVATION = Statement.of("""
    insert into recorder.derivation (log_id, rules, state, built_to)
    select log_id, case when size = 0 then :rules::int4 else 0 end, 'current',
      case when size = 0 then null else 0 end
    from recorder.log_head where log_id = :log
    on conflict do nothing
""")
KEEP_FACTS = Statement.of("""
    insert into recorder.fact
    select (jsonb_populate_record(
      f, jsonb_build_object('derivation_id', :derivation::int4))).*
    from recorder.fact f
    join recorder.derivation d on d.derivation_id = f.derivation_id
      and d.log_id = :log and d.state = 'current'
    join recorder.log_head h on h.log_id = d.log_id
    where f.position <= h.pruned_positions
""")
"""The facts of dropped days cannot be derived again: those that were kept are
copied."""

LEAVE_DERIVATION = Statement.of("""
    update recorder.derivation set built_to = :built_to
    where log_id = :log and derivation_id = :derivation and built_to is null
""")


async def ensure_derivation(connection: asyncpg.Connection, log: int) -> None:
    """Create the current derivation of a log if it has none.

    If the log has entries, the derivation ends before the first of them.
    """
    await MAKE_DERIVATION.execute(connection, log=log, rules=DERIVATION)


async def derivation_to_write(
    connection: asyncpg.Connection,
    found: asyncpg.Record,
    *,
    log: int,
    position: int,
) -> int | None:
    """Return the derivation to which facts of new entries are added, if any.

    ``found`` is the current one, empty if there is none. Read it in the
    transaction of the entries, once that holds the head of the log: a
    statement that waited for the head would see the derivation from before.
    An answer must not mix two: one by other rules is ended before
    ``position``, and nothing is added after an end.
    """
    if found["derivation_id"] is None or found["built_to"] is not None:
        return None
    number: int = found["derivation_id"]
    if found["rules"] == DERIVATION:
        return number
    await LEAVE_DERIVATION.execute(
        connection, log=log, derivation=number, built_to=position - 1
    )
    return None
