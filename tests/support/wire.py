"""A wire between a recorder and a server, that can be cut, hung or slowed.

It knows bytes and connections, over TCP or a unix socket, and nothing of what
they say. A hung connection stays hung for ever, as one whose other end is
gone behind a firewall does; only new ones get through once it is mended.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum
from pathlib import Path
from random import Random

__all__ = ["State", "Wire"]

PORTION = 16 << 10

SLOW_PORTION = 2 << 10
SLOW_SECONDS = 0.05
"""40 KB/s each way and connection."""

Address = int | Path
"""A port on 127.0.0.1, or a unix socket."""


class State(Enum):
    """What becomes of bytes."""

    WHOLE = "whole"
    CUT = "cut"
    HUNG = "hung"
    SLOW = "slow"


class Wire:
    """A listener that leads to another address."""

    def __init__(self, target: Address) -> None:
        self._target = target
        self._state = State.WHOLE
        self._open: set[_Connection] = set()

    @asynccontextmanager
    async def listening(self, at: Address) -> AsyncIterator["Wire"]:
        """Serve while entered."""
        if isinstance(at, Path):
            server = await asyncio.start_unix_server(self._serve, at)
            at.chmod(0o777)
        else:
            server = await asyncio.start_server(self._serve, "127.0.0.1", at)
        try:
            yield self
        finally:
            server.close()
            self.cut_once()

    def become(self, state: State) -> None:
        """Change what becomes of bytes, of open connections too."""
        self._state = state
        if state is State.CUT:
            self.cut_once()
        if state is State.HUNG:
            for connection in self._open:
                connection.hung = True

    async def spoil(self, state: State, seconds: float) -> None:
        """Let bytes fare otherwise for a while."""
        self.become(state)
        await asyncio.sleep(seconds)
        self.become(State.WHOLE)

    async def cut_often(self, times: int, chance: Random) -> None:
        """End connections again and again, then let none be for a while."""
        for _ in range(times):
            self.cut_once()
            await asyncio.sleep(chance.uniform(0.05, 0.5))
        await self.spoil(State.CUT, chance.uniform(0.0, 2.0))

    def cut_once(self) -> None:
        """End every connection."""
        for connection in list(self._open):
            connection.end()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection = _Connection(writer)
        connection.hung = self._state is State.HUNG
        self._open.add(connection)
        try:
            if self._state is not State.CUT:
                await self._lead(connection, reader, writer)
        finally:
            self._open.discard(connection)
            connection.end()

    async def _lead(
        self,
        connection: "_Connection",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            if isinstance(self._target, Path):
                there = await asyncio.open_unix_connection(self._target)
            else:
                there = await asyncio.open_connection(
                    "127.0.0.1", self._target
                )
        except OSError:
            return
        connection.ends.append(there[1])
        async with asyncio.TaskGroup() as group:
            ways = [
                group.create_task(self._pass_on(connection, reader, there[1])),
                group.create_task(self._pass_on(connection, there[0], writer)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()

    async def _pass_on(
        self,
        connection: "_Connection",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        with suppress(OSError):
            while True:
                slow = self._state is State.SLOW
                data = await reader.read(SLOW_PORTION if slow else PORTION)
                if connection.hung:
                    # Not even its end is sent.
                    await connection.ended.wait()
                    return
                if not data:
                    return
                if slow:
                    await asyncio.sleep(SLOW_SECONDS)
                writer.write(data)
                await writer.drain()


class _Connection:
    """Both ends of one connection."""

    def __init__(self, end: asyncio.StreamWriter) -> None:
        self.ends = [end]
        self.hung = False
        self.ended = asyncio.Event()

    def end(self) -> None:
        self.ended.set()
        for end in self.ends:
            end.close()
