"""Holds: no day in the window of a hold is dropped until it is lifted."""

from collections.abc import Sequence

import asyncpg
import orjson

from recorder.model.errors import NotFoundError
from recorder.model.hold import Hold, NewHold, Placed
from recorder.store.retention import connect_for_retention
from recorder.store.statement import Statement
from recorder.store.steps import LEAVE_NOTICE, LOCK_HOLDS
from recorder.store.translate import translate_errors

ADD = Statement.of("""
    insert into recorder.hold
      (log_id, since, until, node, incident, who, why)
    values (:log, :since, :until, :node, :incident, :who, :why)
    returning hold_id
""")
LIFT = Statement.of("""
    insert into recorder.hold_lifted (hold_id, who, why)
    select hold_id, :who, :why from recorder.hold where hold_id = :hold
    on conflict do nothing returning hold_id
""")
LOG = Statement.of("select log_id from recorder.hold where hold_id = :hold")
LIST = Statement.of("""
    select h.hold_id as hold, h.log_id as log, h.since, h.until, h.node,
      h.incident, h.who, h.why, h.placed_at, l.lifted_at, l.who as lifted_by,
      l.why as lifted_why
    from recorder.hold h left join recorder.hold_lifted l using (hold_id)
    order by h.hold_id
""")
KEPT = Statement.of("""
    select (p.lower at time zone 'UTC')::date as day from recorder.partition p
    where p.state <> 'dropped'
      and :hold in (select hold_id from recorder.holds_over(p))
    order by p.lower
""")
DROPPED = Statement.of("""
    select (p.lower at time zone 'UTC')::date as day from recorder.partition p
    where p.state = 'dropped'
      and (:since::timestamptz is null or p.observed_max >= :since)
      and (:until::timestamptz is null or p.observed_min < :until)
      and exists (select from recorder.archived_day d
        where d.partition = p.name and d.log_id = :log)
    order by p.lower
""")


async def add_hold(dsn: str, hold: NewHold) -> Placed:
    """Place a hold, and leave a notice of it.

    It waits for a drop that is in progress, so that each day in the window
    is returned either as kept or as dropped.
    """
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("place the hold"):
            async with connection.transaction():
                await LOCK_HOLDS.execute(connection)
                number: int = await ADD.fetch_value(
                    connection,
                    log=hold.log,
                    since=hold.since,
                    until=hold.until,
                    node=hold.node,
                    incident=hold.incident,
                    who=hold.who,
                    why=hold.why,
                )
                said = {
                    "action": "hold placed",
                    "hold": number,
                    "since": hold.since,
                    "until": hold.until,
                    "node": hold.node,
                    "incident": hold.incident,
                    "who": hold.who,
                    "why": hold.why,
                }
                await _notice(connection, hold.log, said)
            kept = await KEPT.fetch(connection, hold=number)
            gone = await DROPPED.fetch(
                connection, since=hold.since, until=hold.until, log=hold.log
            )
    finally:
        connection.terminate()
    return Placed(
        number=number,
        kept=[row["day"] for row in kept],
        dropped=[row["day"] for row in gone],
    )


async def lift_hold(dsn: str, number: int, *, who: str, why: str) -> int:
    """Lift a hold; return the log that it was placed in.

    Raises:
        NotFoundError: it does not exist, or was lifted.
    """
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("lift the hold"):
            async with connection.transaction():
                found = await LIFT.fetch_value(
                    connection, hold=number, who=who, why=why
                )
                if found is None:
                    msg = f"there is no hold {number}, or it was lifted before"
                    raise NotFoundError(msg, code="not_found.hold")
                log: int = await LOG.fetch_value(connection, hold=number)
                said = {
                    "action": "hold lifted",
                    "hold": number,
                    "who": who,
                    "why": why,
                }
                await _notice(connection, log, said)
    finally:
        connection.terminate()
    return log


async def list_holds(dsn: str) -> Sequence[Hold]:
    """Return all holds, including those that were lifted."""
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("list the holds"):
            return [Hold(**row) for row in await LIST.fetch(connection)]
    finally:
        connection.terminate()


async def _notice(
    connection: asyncpg.Connection, log: int, said: dict[str, object]
) -> None:
    document = orjson.dumps(said).decode()
    await LEAVE_NOTICE.fetch_value(connection, log=log, document=document)
