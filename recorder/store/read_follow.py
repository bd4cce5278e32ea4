"""Waits until a log has grown.

The writer notifies in the transaction of each batch. A notification is only a
hint that makes an answer come sooner: a follower reads by position once a
second anyway, so that it can miss notifications.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Self

import asyncpg

from recorder.model.errors import ConfigError
from recorder.store.bookkeeping import CHANNEL
from recorder.store.engine import connect

LOOK_AGAIN = timedelta(seconds=1)
LOOK_AGAIN_UNHEARD = timedelta(milliseconds=200)
"""While there is no connection to listen on."""


UNHEARD = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
    ConfigError,
)


class Bell:
    """Rings when a log may have grown."""

    def __init__(self, url: str, log: int) -> None:
        self._url = url
        self._prefix = f"{int(log)}:"
        self._rung = asyncio.Event()
        self._connection: asyncpg.Connection | None = None

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(self, *failure: object) -> None:
        if self._connection is not None:
            self._connection.terminate()

    async def wait(self) -> None:
        """Wait until the log may have grown, a second at most."""
        patience = LOOK_AGAIN
        if self._connection is None or self._connection.is_closed():
            await self._listen()
            patience = LOOK_AGAIN_UNHEARD
        with suppress(TimeoutError):
            async with asyncio.timeout(patience.total_seconds()):
                await self._rung.wait()
        self._rung.clear()

    async def _listen(self) -> None:
        """Try to listen; without a connection, wake up by the clock."""
        with suppress(*UNHEARD):
            connection = await connect(self._url)
            await connection.add_listener(CHANNEL, self._hear)
            self._connection = connection

    def _hear(
        self, connection: object, process: int, channel: str, payload: object
    ) -> None:
        del connection, process, channel
        if str(payload).startswith(self._prefix):
            self._rung.set()
