"""The outbox of notifications: what is to be posted, and what was.

A message is put once: it has a unique number among the messages of its
incident and rule, and the transaction detects messages that another process
put meanwhile. One process claims it for a time, and the result counts only
while that claim is the last.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

import asyncpg
import msgspec
import orjson

from recorder.model.document import json_bytes
from recorder.notification.listing import Notification
from recorder.notification.message import Message, Reported
from recorder.notification.ports import (
    Begun,
    Claimed,
    Known,
    State,
    Tally,
)
from recorder.store.engine import check_address
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

CONNECTIONS: Final = 4
CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 30

REPORTED_MAX: Final = 5_000
"""The newest messages of a log that are read: some 3 KiB each, a week of a
busy fleet."""

KEPT: Final = timedelta(days=90)
"""For how long posted and failed messages are listed."""

BEGIN = Statement.of("""
    insert into recorder.notify_rule (log_id, rule, since, judged_until)
    select :log, rule, :since, :since from unnest(:rules::text[]) rule
    on conflict do nothing
""")
BEGUN = Statement.of("""
    select rule, since, judged_until from recorder.notify_rule
    where log_id = :log and rule = any(:rules)
""")
NEWEST = Statement.of("""
    select coalesce(max(notification_id), 0) from recorder.notification
    where log_id = :log
""")
REPORTED = Statement.of("""
    select distinct on (rule, name) rule, name, number, position,
      message::text as message
    from (
      select * from recorder.notification where log_id = :log
      order by notification_id desc limit :most
    ) newest
    order by rule, name, number desc
""")
LOCK = Statement.of(
    "select pg_advisory_xact_lock(hashtext('recorder.notify'), :log)"
)
PUT = Statement.of("""
    insert into recorder.notification
      (log_id, rule, name, number, digest, position, message, give_up_at)
    values (:log, :rule, :name, :number, :digest, :position, :message::json,
      clock_timestamp() + :patience)
    on conflict do nothing returning notification_id
""")
JUDGED = Statement.of("""
    update recorder.notify_rule
    set judged_until = greatest(judged_until, :until)
    where log_id = :log and rule = any(:rules) and judged_until < :until
""")
GIVE_UP = Statement.of("""
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(),
      said = 'given up after ' || attempts || ' attempts: '
        || coalesce(said, 'it was never posted')
    where state = 'waiting' and give_up_at < clock_timestamp()
      and (leased_until is null or leased_until < clock_timestamp())
""")
FREE = """
    n.state = 'waiting' and n.due_at <= clock_timestamp()
    and (n.leased_until is null or n.leased_until < clock_timestamp())
    and not exists (
      select from recorder.notification earlier
      where earlier.log_id = n.log_id and earlier.rule = n.rule
        and earlier.name = n.name and earlier.number < n.number
        and earlier.state = 'waiting'
    )
"""
DUE = Statement.of(f"""
    select distinct n.rule from recorder.notification n
    where n.rule = any(:rules) and {FREE}
""")  # noqa: S608 - a condition of its own
CLAIM = Statement.of(f"""
    update recorder.notification set attempts = attempts + 1,
      leased_until = clock_timestamp() + :lease
    where notification_id = (
      select n.notification_id from recorder.notification n
      where n.rule = :rule and {FREE}
      order by n.due_at, n.notification_id
      limit 1 for update skip locked
    )
    returning notification_id, attempts, give_up_at, message::text as message
""")  # noqa: S608 - a condition of its own
MINE = (
    "notification_id = :number and attempts = :attempt and state = 'waiting'"
)
POSTED = Statement.of(f"""
    update recorder.notification set state = 'posted', leased_until = null,
      settled_at = clock_timestamp(), said = null where {MINE}
""")  # noqa: S608 - a condition of its own
FAILED = Statement.of(f"""
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(), said = :why where {MINE}
""")  # noqa: S608 - a condition of its own
AGAIN = Statement.of(f"""
    update recorder.notification set leased_until = null, said = :why,
      due_at = clock_timestamp() + :after where {MINE}
""")  # noqa: S608 - a condition of its own
FORGET = Statement.of("""
    delete from recorder.notification n
    where n.settled_at < clock_timestamp() - :kept::interval
      and not exists (
        select from recorder.notification later
        where later.log_id = n.log_id and later.rule = n.rule
          and later.name = n.name
          and coalesce(later.settled_at, clock_timestamp())
            >= clock_timestamp() - :kept::interval
      )
""")
TALLIES = Statement.of("""
    select rule, count(*) filter (where state = 'waiting') as waiting,
      count(*) filter (where state = 'failed') as failed,
      min(created_at) filter (where state = 'waiting') as oldest_waiting,
      max(settled_at) filter (where state = 'posted') as last_posted
    from recorder.notification group by rule order by rule
""")
LIST = Statement.of("""
    select notification_id as id, state, attempts, created_at, due_at,
      settled_at, said as why, message::text as message
    from recorder.notification
    where (:states::text[] is null or state = any(:states))
      and (:rule::text is null or rule = :rule)
      and (:log::int4 is null or log_id = :log)
    order by notification_id desc limit :most
""")
RETRY = Statement.of("""
    update recorder.notification set state = 'waiting', settled_at = null,
      due_at = clock_timestamp(), attempts = 0,
      give_up_at = clock_timestamp() + :patience
    where notification_id = :number and state = 'failed'
    returning notification_id
""")


class StoredOutbox:
    """The outbox in PostgreSQL."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def begin(
        self, log: int, rules: Collection[str], since: datetime
    ) -> Mapping[str, Begun]:
        """Return since when rules apply to a log; new rules begin at a time.

        Raises:
            LogError: the database does not answer.
        """
        names = sorted(rules)
        with translate_errors("read the rules of notifications"):
            rows = await BEGUN.fetch(self._pool, log=log, rules=names)
            if len(rows) < len(names):
                await BEGIN.execute(
                    self._pool, log=log, rules=names, since=since
                )
                rows = await BEGUN.fetch(self._pool, log=log, rules=names)
        return {
            row["rule"]: Begun(row["since"], row["judged_until"])
            for row in rows
        }

    async def known(self, log: int) -> Known:
        """Return what was reported of a log.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("read what was reported"):
            # First: a message put between the two makes `put` return None.
            newest = await NEWEST.fetch_value(self._pool, log=log)
            rows = await REPORTED.fetch(self._pool, log=log, most=REPORTED_MAX)
        reported: dict[str, list[Reported]] = {}
        for row in rows:
            message = _message(row["message"])
            reported.setdefault(row["rule"], []).append(
                Reported(
                    name=row["name"],
                    number=row["number"],
                    position=row["position"],
                    first_at=message.first_at,
                    subject=message.now,
                )
            )
        return Known(newest, reported)

    async def put(
        self,
        log: int,
        messages: Sequence[tuple[Message, timedelta]],
        *,
        known: Known,
        position: int,
    ) -> int | None:
        """Put messages, all or none; return how many of them are new.

        Return None, and put nothing, if another process put a message after
        `known` was read.

        Raises:
            LogError: the database does not answer.
        """
        new = 0
        with translate_errors("put notifications into the outbox"):
            async with self._pool.acquire() as held, held.transaction():
                if messages:
                    # Without the lock two processes, which do not see each
                    # other's messages, would report an incident twice.
                    await LOCK.execute(held, log=log)
                    if await NEWEST.fetch_value(held, log=log) != known.newest:
                        return None
                for message, patience in messages:
                    number = await PUT.fetch_value(
                        held,
                        log=log,
                        rule=message.rule,
                        name=message.name,
                        number=message.number,
                        digest=message.now.digest,
                        position=position,
                        message=json_bytes(message).decode(),
                        patience=patience,
                    )
                    new += number is not None
        return new

    async def judged(
        self, log: int, rules: Collection[str], until: datetime
    ) -> None:
        """Note until when a log was judged by rules.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("remember what was judged"):
            await JUDGED.execute(
                self._pool, log=log, rules=sorted(rules), until=until
            )

    async def due(self, rules: Collection[str]) -> Collection[str]:
        """Return those rules that have a message to post.

        This marks messages as failed that are given up.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("look for what is to be posted"):
            await GIVE_UP.execute(self._pool)
            rows = await DUE.fetch(self._pool, rules=sorted(rules))
        return [row["rule"] for row in rows]

    async def claim(self, rule: str, lease: timedelta) -> Claimed | None:
        """Claim the next message of a rule; None if none is due.

        Messages of one subject are claimed in order.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("claim a notification"):
            row = await CLAIM.fetch_row(self._pool, rule=rule, lease=lease)
        if row is None:
            return None
        return Claimed(
            number=row["notification_id"],
            attempt=row["attempts"],
            message=_message(row["message"]),
            give_up_at=row["give_up_at"],
        )

    async def posted(self, claimed: Claimed) -> None:
        """Note that a receiver accepted a message.

        Raises:
            LogError: the database does not answer.
        """
        await self._settle(POSTED, claimed)

    async def failed(self, claimed: Claimed, *, why: str) -> None:
        """Note that a message was refused; it is not posted again.

        Raises:
            LogError: the database does not answer.
        """
        await self._settle(FAILED, claimed, why=why)

    async def again(
        self, claimed: Claimed, *, why: str, after: timedelta
    ) -> None:
        """Post a message again later.

        Raises:
            LogError: the database does not answer.
        """
        await self._settle(AGAIN, claimed, why=why, after=after)

    async def _settle(
        self, statement: Statement, claimed: Claimed, **values: object
    ) -> None:
        with translate_errors("note the result of a notification"):
            await statement.execute(
                self._pool,
                number=claimed.number,
                attempt=claimed.attempt,
                **values,
            )

    async def tallies(self) -> Sequence[Tally]:
        """Return counts of waiting, failed and posted messages, by rule.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("count notifications"):
            rows = await TALLIES.fetch(self._pool)
        return [Tally(**row) for row in rows]

    async def listed(
        self,
        *,
        states: Collection[State] = (),
        rule: str | None = None,
        log: int | None = None,
        limit: int | None = None,
    ) -> Sequence[Notification]:
        """Return the newest messages, newest first; all without a limit.

        Raises:
            LogError: the database does not answer.
        """
        wanted = sorted(states) or None
        with translate_errors("list notifications"):
            rows = await LIST.fetch(
                self._pool, states=wanted, rule=rule, log=log, most=limit
            )
        return [
            _notification(State(row["state"]), _message(row["message"]), row)
            for row in rows
        ]

    async def retry(self, number: int, patience: timedelta) -> bool:
        """Post a failed message again; return whether it exists.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("post a notification again"):
            found = await RETRY.fetch_value(
                self._pool, number=number, patience=patience
            )
        return found is not None

    async def forget(self) -> None:
        """Delete messages that were settled long ago.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("forget old notifications"):
            await FORGET.execute(self._pool, kept=KEPT)


@asynccontextmanager
async def outbox(dsn: str) -> AsyncIterator[StoredOutbox]:
    """Yield the outbox of a database.

    Raises:
        LogError: the database does not answer.
    """
    check_address(dsn)
    with translate_errors("open the outbox of notifications"):
        pool = await asyncpg.create_pool(
            dsn,
            min_size=0,
            max_size=CONNECTIONS,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            server_settings={
                "application_name": "recorder notify",
                "idle_in_transaction_session_timeout": "60s",
                "timezone": "UTC",
            },
        )
    try:
        yield StoredOutbox(pool)
    finally:
        pool.terminate()


def _notification(
    state: State, message: Message, row: asyncpg.Record
) -> Notification:
    now = message.now
    return Notification(
        id=row["id"],
        rule=message.rule,
        state=state,
        stage=message.stage,
        kind=now.kind,
        incident=message.name,
        number=message.number,
        cluster=now.cluster,
        log=now.log,
        nodes=now.nodes,
        sentence=now.sentence,
        created_at=row["created_at"],
        settled_at=row["settled_at"],
        due_at=row["due_at"] if row["settled_at"] is None else None,
        attempts=row["attempts"],
        why=row["why"],
    )


def _message(text: str) -> Message:
    return msgspec.convert(orjson.loads(text), Message)
