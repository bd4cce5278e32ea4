"""Subscriptions over server-sent events.

The protocol is that of graphql-sse in distinct connections mode: one
subscription per request; ``next`` with each answer, ``complete`` at the end.
The socket of a client that stops reading is closed. Each event is compressed
and sent at once, with a window so small that thousands of subscribers fit into
memory.
"""

import asyncio
import time
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Mapping,
)
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Any

from graphql import ExecutionResult, GraphQLError
from starlette.types import Receive, Scope, Send

from api.access import Guard
from api.errors import ApiError
from api.http.executing import document_of
from api.http.graphql_http import EVENT_STREAM, json_bytes

PING = timedelta(seconds=12)
"""Proxies close connections that are idle for a minute, some for 15 s."""

ADMITTED_FOR = timedelta(seconds=1)
"""How long a revoked token may still receive events."""

UNREAD_MAX = timedelta(seconds=30)
"""How long a client may read nothing."""

HEADERS = (
    (b"content-type", f"{EVENT_STREAM}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"vary", b"Accept-Encoding"),
)

GZIP_WINDOW = 13
GZIP_MEMORY = 6
"""Together 64 KiB for a subscriber; the defaults take four times as much."""


Coming = dict[str, Any] | None
"""The next document to send; None at the end."""


class EventStream:
    """The response of one subscription."""

    def __init__(
        self,
        results: AsyncGenerator[ExecutionResult, None],
        guard: Guard,
        headers: Mapping[str, str],
        peer: str | None = None,
    ) -> None:
        """Take the results, and the headers and peer of the request."""
        self._peer = peer
        self._results = results
        self._guard = guard
        self._headers = headers

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Stream until the end, or until the client disconnects."""
        del scope
        out = _Out(send, self._headers)
        coming: asyncio.Queue[Coming] = asyncio.Queue(1)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_left(receive)),
                group.create_task(self._send(coming, out)),
            ]
            pumping = group.create_task(self._pump(coming))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in (*tasks, pumping):
                task.cancel()

    async def _pump(self, coming: "asyncio.Queue[Coming]") -> None:
        """Queue the results; at most one waits to be sent."""
        try:
            async with aclosing(self._results) as results:
                async for result in results:
                    await coming.put(document_of(result))
        except Exception as exc:  # noqa: BLE001 - sent to the subscriber
            await coming.put(_failed(exc))
        await coming.put(None)

    async def _send(
        self, coming: "asyncio.Queue[Coming]", out: "_Out"
    ) -> None:
        # The client stopped reading or disconnected: returning closes the
        # socket.
        with suppress(TimeoutError, OSError):
            await out.begin()
            await out.put(b":\n\n")
            async for document in self._documents(coming):
                if document is None:
                    await out.put(b":\n\n")
                else:
                    body = json_bytes(document)
                    await out.put(b"event: next\ndata: " + body + b"\n\n")
            await out.put(b"event: complete\ndata:\n\n", more=False)

    async def _documents(
        self, coming: "asyncio.Queue[Coming]"
    ) -> AsyncIterator[Coming]:
        """Yield documents to send, and None if nothing came for a while."""
        sent_at = time.monotonic()
        while True:
            silent = False
            document: Coming = None
            try:
                async with asyncio.timeout(ADMITTED_FOR.total_seconds()):
                    document = await coming.get()
            except TimeoutError:
                silent = True
            if document is None and not silent:
                return
            try:
                await self._guard.admit(self._headers, self._peer)
            except ApiError as exc:
                yield _failed(exc)
                return
            now = time.monotonic()
            if not silent or now - sent_at > PING.total_seconds():
                sent_at = now
                yield document


class _Out:
    """Sends to the client; each part can be decompressed when it arrives."""

    def __init__(self, send: Send, headers: Mapping[str, str]) -> None:
        self._send = send
        self._gzip = None
        if _takes_gzip(headers):
            self._gzip = zlib.compressobj(
                wbits=16 + GZIP_WINDOW, memLevel=GZIP_MEMORY
            )

    async def begin(self) -> None:
        headers = list(HEADERS)
        if self._gzip is not None:
            headers.append((b"content-encoding", b"gzip"))
        await self._send(
            {"type": "http.response.start", "status": 200, "headers": headers}
        )

    async def put(self, text: bytes, *, more: bool = True) -> None:
        if self._gzip is not None:
            until = zlib.Z_SYNC_FLUSH if more else zlib.Z_FINISH
            text = self._gzip.compress(text) + self._gzip.flush(until)
        async with asyncio.timeout(UNREAD_MAX.total_seconds()):
            await self._send(
                {"type": "http.response.body", "body": text, "more_body": more}
            )


def _takes_gzip(headers: Mapping[str, str]) -> bool:
    """Return whether a client accepts gzip."""
    for part in headers.get("accept-encoding", "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "").rstrip("0.") != "q="
    return False


def _failed(error: Exception) -> dict[str, Any]:
    wrapped = GraphQLError(str(error), original_error=error)
    return document_of(ExecutionResult(None, [wrapped]))


async def _left(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
