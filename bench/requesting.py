"""Requests to an API server that cost the client next to nothing.

The processor is shared with what is measured, so the clients of a load must
not be the bottleneck: bodies are bytes, responses stay bytes, and a connection
carries one request after another.
"""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from tests.cluster.client import address_and_trust

__all__ = [
    "JSON",
    "MERGE",
    "STRATEGIC",
    "Connection",
    "connections",
    "version_of",
]

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
VERSION = re.compile(rb'"resourceVersion":"(\d+)"')
BODY_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection, which carries one request at a time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def request(
        self, method: str, path: str, body: bytes = b"", *, kind: str = JSON
    ) -> bytes:
        """Return the body of the response, which must be a success."""
        self.writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: cluster\r\n"
            f"Content-Type: {kind}\r\nAccept: */*\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await self.reader.readuntil(HEAD_END)
        length = LENGTH.search(head)
        if length is not None:
            answer = await self.reader.readexactly(int(length[1]))
        else:
            answer = await self._chunks()
        assert head[9:10] == b"2", (method, path, head[9:12], answer[:500])
        return answer

    async def _chunks(self) -> bytes:
        chunks = []
        while size := int(await self.reader.readline(), 16):
            chunks.append((await self.reader.readexactly(size + 2))[:-2])
        await self.reader.readexactly(2)
        return b"".join(chunks)


@asynccontextmanager
async def connections(
    kubeconfig: Path, count: int
) -> AsyncIterator[list[Connection]]:
    """Open connections as the user of a kubeconfig of the test cluster."""
    server, trust = _named(kubeconfig)
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = Connection(
                *await asyncio.open_connection(
                    server.hostname, server.port, ssl=trust, limit=BODY_MAX
                )
            )
            stack.callback(connection.writer.close)
            opened.append(connection)
        yield opened


def _named(kubeconfig: Path) -> tuple[SplitResult, ssl.SSLContext]:
    address, trust = address_and_trust(json.loads(kubeconfig.read_text()))
    return urlsplit(address), trust


def version_of(answer: bytes) -> int:
    """Read the version of an object that was written."""
    found = VERSION.search(answer)
    assert found is not None, answer[:200]
    return int(found[1])
