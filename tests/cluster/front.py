"""A proxy in front of API servers, which gives them addresses of their own.

Endpoints may not be on the loopback interface, so API servers advertise
addresses that no interface has, and clients reach them through this. It says
which of them can be reached.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

__all__ = ["Front", "front"]


class Front:
    """An HTTP proxy that connects to where an address leads."""

    def __init__(self, leads_to: Mapping[str, str]) -> None:
        self._leads_to = leads_to
        self.url = ""
        self.cut: set[str] = set()
        """Addresses that cannot be reached."""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Connect a client, and pass on what both say."""
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            host, port = request.split()[1].decode().rsplit(":", 1)
            if host in self.cut:
                writer.write(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
                return
            answers, questions = await asyncio.open_connection(
                self._leads_to.get(host, host), int(port)
            )
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            async with asyncio.TaskGroup() as group:
                group.create_task(_pass_on(reader, questions))
                group.create_task(_pass_on(answers, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def front(leads_to: Mapping[str, str]) -> AsyncIterator[Front]:
    """Serve a proxy while entered: where each address leads."""
    proxy = Front(leads_to)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        proxy.url = f"http://127.0.0.1:{port}"
        yield proxy


async def _pass_on(
    source: asyncio.StreamReader, target: asyncio.StreamWriter
) -> None:
    with suppress(OSError):
        while chunk := await source.read(1 << 16):
            target.write(chunk)
            await target.drain()
    target.close()
