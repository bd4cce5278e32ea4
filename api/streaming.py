"""Subscriptions over server-sent events.

As the protocol of graphql-sse has it in its mode of distinct connections: one
request, one subscription; ``next`` with an answer each, ``complete`` at the
end. Who stops reading is let go after a while: the socket is closed.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Any

from graphql import ExecutionResult, GraphQLError
from starlette.types import Receive, Scope, Send

from api.access import Guard
from api.errors import ApiError
from api.executing import document_of
from api.graphql_http import EVENT_STREAM, json_bytes

__all__ = ["EventStream"]

PING = timedelta(seconds=12)
"""Proxies close what is silent for a minute, some for fifteen seconds."""

UNREAD_MAX = timedelta(seconds=30)
"""How long a socket may take nothing."""

HEADERS = (
    (b"content-type", f"{EVENT_STREAM}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)


Coming = dict[str, Any] | None
"""What to tell next; None at the end."""


class EventStream:
    """The response of one subscription."""

    def __init__(
        self,
        results: AsyncGenerator[ExecutionResult, None],
        guard: Guard,
        headers: Mapping[str, str],
    ) -> None:
        """Take what is told, and who asked for it."""
        self._results = results
        self._guard = guard
        self._headers = headers

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Stream until the end, or until nobody listens."""
        del scope
        coming: asyncio.Queue[Coming] = asyncio.Queue(1)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_left(receive)),
                group.create_task(self._tell(coming, send)),
            ]
            pumping = group.create_task(self._pump(coming))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in (*tasks, pumping):
                task.cancel()

    async def _pump(self, coming: "asyncio.Queue[Coming]") -> None:
        """Take what there is to tell; only one waits to be sent."""
        try:
            async with aclosing(self._results) as results:
                async for result in results:
                    await coming.put(document_of(result))
        except Exception as exc:  # noqa: BLE001 - told to who subscribed
            await coming.put(_failed(exc))
        await coming.put(None)

    async def _tell(self, coming: "asyncio.Queue[Coming]", send: Send) -> None:
        # Nobody reads, or nobody is there: to return closes the socket.
        with suppress(TimeoutError, OSError):
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": list(HEADERS),
                }
            )
            await _put(send, b":\n\n")
            async for document in self._documents(coming):
                if document is None:
                    await _put(send, b":\n\n")
                else:
                    body = json_bytes(document)
                    await _put(send, b"event: next\ndata: " + body + b"\n\n")
            await _put(send, b"event: complete\ndata:\n\n", more=False)

    async def _documents(
        self, coming: "asyncio.Queue[Coming]"
    ) -> AsyncIterator[Coming]:
        """Yield what to tell, and None where nothing came for a while."""
        while True:
            silent = False
            document: Coming = None
            try:
                async with asyncio.timeout(PING.total_seconds()):
                    document = await coming.get()
            except TimeoutError:
                silent = True
            if document is None and not silent:
                return
            try:
                # A token may have been revoked since.
                await self._guard.admit(self._headers)
            except ApiError as exc:
                yield _failed(exc)
                return
            yield document


async def _put(send: Send, text: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(UNREAD_MAX.total_seconds()):
        await send(
            {"type": "http.response.body", "body": text, "more_body": more}
        )


def _failed(error: Exception) -> dict[str, Any]:
    wrapped = GraphQLError(str(error), original_error=error)
    return document_of(ExecutionResult(None, [wrapped]))


async def _left(receive: Receive) -> None:
    """Wait until who asked is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
