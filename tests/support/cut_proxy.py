"""A wire to PostgreSQL that can be cut at the worst moment.

It is between a client and the server's unix socket. Armed, it waits for
the client's COMMIT, or for another statement, and then either swallows it
(the transaction is lost) or lets it through and swallows the answer (it is
committed, and the client does not know).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

__all__ = ["CutProxy", "cut_proxy"]

PORT = 5432


class CutProxy:
    """One proxy; its `dsn` leads to the server through it."""

    def __init__(self, dsn: str, folder: Path) -> None:
        parts = urlsplit(dsn)
        query = {key: found[0] for key, found in parse_qs(parts.query).items()}
        self._server = Path(query["host"]) / f".s.PGSQL.{query['port']}"
        self.socket = folder / f".s.PGSQL.{PORT}"
        query["host"], query["port"] = str(folder), str(PORT)
        self.dsn = urlunsplit(parts._replace(query=urlencode(query)))
        self.fate: Literal["lost", "silent"] | None = None
        """What becomes of the next commit."""
        self.at = b"COMMIT;"
        """The statement that is cut, when it is first run on a connection."""
        self.cuts = 0
        self.heard = b""
        """Everything that clients said."""
        self._prepared = False

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        from_server, to_server = await asyncio.open_unix_connection(
            self._server
        )
        answering = asyncio.Event()
        answering.set()
        try:
            async with asyncio.TaskGroup() as group:
                answers = group.create_task(
                    self._answers(from_server, writer, answering)
                )
                await self._questions(reader, to_server, answering)
                answers.cancel()
        finally:
            to_server.close()
            writer.close()

    async def _questions(
        self,
        reader: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        answering: asyncio.Event,
    ) -> None:
        while data := await reader.read(1 << 16):
            self.heard += data
            if self.fate is not None and self._runs(data):
                fate, self.fate = self.fate, None
                self.cuts += 1
                answering.clear()
                if fate == "silent":
                    server.write(data)
                    await server.drain()
                    await asyncio.sleep(0.2)  # the commit takes its time
                return
            server.write(data)
            await server.drain()

    def _runs(self, data: bytes) -> bool:
        """Return whether this runs the statement to be cut.

        One with parameters is parsed by one message and run by the next.
        """
        if self._prepared:
            self._prepared = False
            return True
        if self.at not in data:
            return False
        self._prepared = data.startswith(b"P")
        return not self._prepared

    async def _answers(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answering: asyncio.Event,
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                await answering.wait()
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def cut_proxy(dsn: str, folder: Path) -> AsyncIterator[CutProxy]:
    """Serve a proxy in a folder with a short name."""
    proxy = CutProxy(dsn, folder)
    server = await asyncio.start_unix_server(proxy.serve, proxy.socket)
    try:
        yield proxy
    finally:
        server.close()
