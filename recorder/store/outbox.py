"""The outbox of notifications: what is to be posted, and what was.

A message is put once, by the unique number that it has among the messages of
its incident and rule, in a transaction that sees whether somebody else told
something meanwhile. It is claimed for a time by one process, and what it came
to counts only while that claim is the last.
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
from recorder.store.outbox_statements import (
    AGAIN,
    BEGIN,
    BEGUN,
    CLAIM,
    DUE,
    FAILED,
    FORGET,
    GIVE_UP,
    JUDGED,
    LIST,
    LOCK,
    NEWEST,
    POSTED,
    PUT,
    RETRY,
    TALLIES,
    TOLD,
)
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

__all__ = ["StoredOutbox", "outbox"]

CONNECTIONS: Final = 4
CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 30

TOLD_MAX: Final = 5_000
"""Of a log, the newest: some 3 KiB each; those of a week of a busy fleet."""

KEPT: Final = timedelta(days=90)
"""For how long what was posted or failed is listed."""


class StoredOutbox:
    """The outbox in PostgreSQL."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def begin(
        self, log: int, rules: Collection[str], since: datetime
    ) -> Mapping[str, Begun]:
        """Return since when rules tell of a log: from now on, if they are new.

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
        """Return what was told of a log.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("read what was told"):
            # First: what comes between the two is told as not yet known.
            newest = await NEWEST.fetch_value(self._pool, log=log)
            rows = await TOLD.fetch(self._pool, log=log, most=TOLD_MAX)
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
        """Take messages that are new, all or none; return how many are.

        None, and nothing is taken, where somebody told something since it
        was asked what is known.

        Raises:
            LogError: the database does not answer.
        """
        new = 0
        with translate_errors("put notifications into the outbox"):
            async with self._pool.acquire() as held, held.transaction():
                if messages:
                    # Without it two processes, of which each sees nothing of
                    # the other's, would tell of one incident by two names.
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
        """Remember up to where a log was judged for rules.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("remember what was judged"):
            await JUDGED.execute(
                self._pool, log=log, rules=sorted(rules), until=until
            )

    async def due(self, rules: Collection[str]) -> Collection[str]:
        """Return those of some rules of which a message is to be posted.

        Messages that are given up are failed by this.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("look for what is to be posted"):
            await GIVE_UP.execute(self._pool)
            rows = await DUE.fetch(self._pool, rules=sorted(rules))
        return [row["rule"] for row in rows]

    async def claim(self, rule: str, lease: timedelta) -> Claimed | None:
        """Claim the next message of a rule; None where none is due.

        Messages of one subject are claimed in their order.

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
        """Remember that a message was taken.

        Raises:
            LogError: the database does not answer.
        """
        await self._settle(POSTED, claimed)

    async def failed(self, claimed: Claimed, *, why: str) -> None:
        """Remember that a message was refused, and post it no more.

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
        with translate_errors("write down what became of a notification"):
            await statement.execute(
                self._pool,
                number=claimed.number,
                attempt=claimed.attempt,
                **values,
            )

    async def tallies(self) -> Sequence[Tally]:
        """Return what is waiting, failed and posted, by rule.

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
        """Post a message again that failed; return whether there is one.

        Raises:
            LogError: the database does not answer.
        """
        with translate_errors("post a notification again"):
            found = await RETRY.fetch_value(
                self._pool, number=number, patience=patience
            )
        return found is not None

    async def forget(self) -> None:
        """Forget what was settled long ago.

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
