"""Holds: windows of which no day is dropped, until they are lifted."""

from collections.abc import Sequence

import asyncpg
import orjson

from recorder.errors import NotFoundError
from recorder.model.hold import Hold, NewHold, Placed
from recorder.store.retention import connect_for_retention
from recorder.store.steps import LEAVE_NOTICE, LOCK_HOLDS
from recorder.store.translate import translate_errors

__all__ = ["add_hold", "lift_hold", "list_holds"]

ADD = """
    insert into recorder.hold (log_id, since, until, node, incident, who, why)
    values ($1, $2, $3, $4, $5, $6, $7) returning hold_id
"""
LIFT = """
    insert into recorder.hold_lifted (hold_id, who, why)
    select hold_id, $2, $3 from recorder.hold where hold_id = $1
    on conflict do nothing returning hold_id
"""
LIST = """
    select h.hold_id as hold, h.log_id as log, h.since, h.until, h.node,
      h.incident, h.who, h.why, h.placed_at, l.lifted_at, l.who as lifted_by,
      l.why as lifted_why
    from recorder.hold h left join recorder.hold_lifted l using (hold_id)
    order by h.hold_id
"""
KEPT = """
    select (p.lower at time zone 'UTC')::date as day from recorder.partition p
    where p.state <> 'dropped'
      and $1 in (select hold_id from recorder.holds_over(p))
    order by p.lower
"""
DROPPED = """
    select (p.lower at time zone 'UTC')::date as day from recorder.partition p
    where p.state = 'dropped'
      and ($1::timestamptz is null or p.observed_max >= $1)
      and ($2::timestamptz is null or p.observed_min < $2)
      and exists (select from recorder.archived_day d
        where d.partition = p.name and d.log_id = $3)
    order by p.lower
"""


class NoHoldError(NotFoundError):
    """There is no such hold, or it was lifted."""

    code = "not_found.hold"


async def add_hold(dsn: str, hold: NewHold) -> Placed:
    """Place a hold, and leave a notice of it.

    A day that is being dropped is waited for, so that it counts as dropped:
    each day in the window is kept, or told to be gone.
    """
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("place the hold"):
            async with connection.transaction():
                await connection.execute(LOCK_HOLDS)
                number: int = await connection.fetchval(
                    ADD,
                    hold.log,
                    hold.since,
                    hold.until,
                    hold.node,
                    hold.incident,
                    hold.who,
                    hold.why,
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
            kept = await connection.fetch(KEPT, number)
            gone = await connection.fetch(
                DROPPED, hold.since, hold.until, hold.log
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
        NoHoldError: there is none, or it was lifted.
    """
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("lift the hold"):
            async with connection.transaction():
                found = await connection.fetchval(LIFT, number, who, why)
                if found is None:
                    msg = f"there is no hold {number}, or it was lifted before"
                    raise NoHoldError(msg)
                log: int = await connection.fetchval(
                    "select log_id from recorder.hold where hold_id = $1",
                    number,
                )
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
    """Return every hold, those that were lifted as well."""
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("list the holds"):
            return [Hold(**row) for row in await connection.fetch(LIST)]
    finally:
        connection.terminate()


async def _notice(
    connection: asyncpg.Connection, log: int, said: dict[str, object]
) -> None:
    document = orjson.dumps(said).decode()
    await connection.fetchval(LEAVE_NOTICE, log, document)
