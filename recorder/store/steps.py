"""Takes steps of retention: one transaction, repeated if locks are taken.

Each step is a function of the schema that checks its own conditions. A step
that locks the whole log waits only briefly for the lock, lets others pass, and
tries again.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import asyncpg
import orjson

from recorder.model.errors import LogError, LogUnavailableError
from recorder.store.read_retention import RetentionReader
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

LOCK_MILLISECONDS = 200
"""How long a step waits for its locks, and others wait behind it."""

TRIES = 60
PAUSE_SECONDS = 0.5
"""Half a minute of tries: longer than the timeout of statements."""

LOCK_NOT_AVAILABLE = ("55P03", "40P01")
"""SQLSTATEs of a lock that is not available, and of a deadlock."""

LEAVE_NOTICE = Statement.of("select recorder.leave_notice(:log, :document)")
LOCK_HOLDS = Statement.of(
    "select pg_advisory_xact_lock(hashtext('recorder.holds'))"
)
"""Placing a hold and dropping a day exclude each other: a hold that is placed
during a drop would keep nothing of the day."""


class RefusedError(LogError):
    """The database refused a step of retention: its conditions do not hold."""

    code = "retention.refused"


class Steps(RetentionReader):
    """Takes steps, on one connection."""

    async def _briefly(
        self,
        action: str,
        notices: Mapping[int, Any],
        statement: Statement,
        **values: object,
    ) -> float:
        """Take a step that locks the log, and leave notices of it, by log.

        Returns:
            The seconds from requesting the locks to releasing them.
        """
        loop = asyncio.get_running_loop()
        for _ in range(TRIES):
            began = loop.time()
            try:
                with refusals(action):
                    async with self._connection.transaction():
                        await self._connection.execute(
                            f"set local lock_timeout = {LOCK_MILLISECONDS}"
                        )
                        await LOCK_HOLDS.execute(self._connection)
                        for log, document in notices.items():
                            said = orjson.dumps(document).decode()
                            await LEAVE_NOTICE.execute(
                                self._connection, log=log, document=said
                            )
                        began = loop.time()
                        await statement.execute(self._connection, **values)
            except asyncpg.PostgresError as exc:
                if exc.sqlstate not in LOCK_NOT_AVAILABLE:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return loop.time() - began
        msg = (
            f"cannot {action}: questions or a backup hold the log for too"
            " long; the next run tries again"
        )
        raise LogUnavailableError(msg)

    async def _patiently(
        self, action: str, statement: Statement, **values: object
    ) -> Any:
        row = await self._patiently_row(action, statement, **values)
        return row[0]

    async def _patiently_row(
        self, action: str, statement: Statement, **values: object
    ) -> Any:
        for last in (False, False, True):
            try:
                with refusals(action):
                    return await statement.fetch_row(
                        self._connection, **values
                    )
            except asyncpg.PostgresError as exc:
                if last or exc.sqlstate not in LOCK_NOT_AVAILABLE:
                    with translate_errors(action):
                        raise
                await asyncio.sleep(PAUSE_SECONDS)
        raise AssertionError


class refusals:  # noqa: N801 - used as a function
    """Raises errors of the functions of the schema as `RefusedError`."""

    def __init__(self, action: str) -> None:
        self._action = action

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Translate an error."""
        if isinstance(error, asyncpg.RaiseError):
            msg = f"cannot {self._action}: {error}"
            raise RefusedError(msg) from error
