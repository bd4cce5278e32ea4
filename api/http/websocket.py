"""GraphQL over a WebSocket, with the protocol ``graphql-transport-ws``.

Tokens and limits are the same as over HTTP. A browser cannot set headers of a
WebSocket, so a token may also come in the payload of ``connection_init``. The
caller is authenticated again every second.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

import msgspec
import orjson
from graphql import GraphQLError
from starlette.datastructures import Headers
from starlette.websockets import WebSocket, WebSocketDisconnect

from api.access import Guard, Principal
from api.errors import ApiError, formatted_error
from api.http.executing import Query, Refused
from api.http.graphql_http import json_bytes
from api.http.streaming import ADMITTED_FOR, UNREAD_MAX
from recorder.listening import let_in

PROTOCOL = "graphql-transport-ws"

INIT_SECONDS = 10
OPERATIONS_MAX = 50
"""Open at once on one connection; the page opens three."""

BAD, UNAUTHORIZED, FORBIDDEN = 4400, 4401, 4403
NO_PROTOCOL, TOO_LATE, TWICE, AGAIN = 4406, 4408, 4409, 4429
TOO_MANY = 4413

Begin = Callable[[Query, Principal], Awaitable[AsyncGenerator[bytes, None]]]
"""Starts an operation; yields its results as JSON."""


class _Payload(msgspec.Struct):
    query: str
    variables: dict[str, Any] | None = None
    operation: str | None = msgspec.field(default=None, name="operationName")
    extensions: dict[str, Any] | None = None


class _Message(msgspec.Struct):
    kind: str = msgspec.field(name="type")
    id: str | None = None
    payload: Any = None


class _EndedError(Exception):
    """The connection is to be closed with a code of the protocol."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        super().__init__(reason)


class Socket:
    """One connection."""

    def __init__(
        self,
        socket: WebSocket,
        guard: Guard,
        peer: str | None,
        begin: Begin,
    ) -> None:
        """Take the connection, the guard, and what starts an operation."""
        self._socket = socket
        self._peer = peer
        self._guard = guard
        self._begin = begin
        self._headers = socket.headers
        self._operations: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()

    async def serve(self) -> None:
        """Answer until the client disconnects or loses access."""
        if PROTOCOL not in self._socket.scope.get("subprotocols", ()):
            await self._socket.close(NO_PROTOCOL)
            return
        await self._socket.accept(PROTOCOL)
        try:
            await self._talk()
        except* _EndedError as ended:
            first = ended.exceptions[0]
            assert isinstance(first, _EndedError)
            with suppress(RuntimeError, WebSocketDisconnect):
                await self._socket.close(first.code, str(first))
        except* (WebSocketDisconnect, TimeoutError, OSError):
            # The client disconnected or stopped reading.
            pass

    async def _talk(self) -> None:
        async with asyncio.TaskGroup() as group:
            try:
                async with asyncio.timeout(INIT_SECONDS):
                    first = await self._receive()
            except TimeoutError:
                raise _EndedError(
                    TOO_LATE, "Connection initialisation timeout"
                ) from None
            who = await self._admitted(first)
            await self._send({"type": "connection_ack"})
            group.create_task(self._admit_again())
            while True:
                await self._hear(await self._receive(), who, group)

    async def _admitted(self, first: _Message) -> Principal:
        if first.kind != "connection_init":
            raise _EndedError(UNAUTHORIZED, "Unauthorized")
        given = first.payload if isinstance(first.payload, dict) else {}
        token = given.get("Authorization") or given.get("authorization")
        if isinstance(token, str) and "authorization" not in self._headers:
            # Keep all headers, so that a repeated header stays repeated.
            given_too = (b"authorization", token.encode(errors="replace"))
            self._headers = Headers(raw=[*self._socket.headers.raw, given_too])
        who = await self._admit()
        let_in(self._socket.scope)
        return who

    async def _admit(self) -> Principal:
        try:
            return await self._guard.admit(self._headers, self._peer)
        except ApiError as exc:
            raise _EndedError(FORBIDDEN, "Forbidden") from exc

    async def _admit_again(self) -> None:
        while True:
            await asyncio.sleep(ADMITTED_FOR.total_seconds())
            await self._admit()

    async def _receive(self) -> _Message:
        try:
            return msgspec.json.decode(
                await self._socket.receive_text(), type=_Message
            )
        except (msgspec.DecodeError, KeyError) as exc:
            raise _EndedError(BAD, "Invalid message") from exc

    async def _hear(
        self, message: _Message, who: Principal, group: asyncio.TaskGroup
    ) -> None:
        match message:
            case _Message(kind="subscribe", id=str(name)) if name:
                self._subscribe(name, message.payload, who, group)
            case _Message(kind="complete", id=str(name)):
                if name in self._operations:
                    self._operations[name].cancel()
            case _Message(kind="ping"):
                # If the client does not read, this waits and reads no more.
                await self._send({"type": "pong"})
            case _Message(kind="pong"):
                pass
            case _Message(kind="connection_init"):
                raise _EndedError(AGAIN, "Too many initialisation requests")
            case _:
                raise _EndedError(BAD, "Invalid message")

    def _subscribe(
        self,
        name: str,
        payload: Any,
        who: Principal,
        group: asyncio.TaskGroup,
    ) -> None:
        if name in self._operations:
            raise _EndedError(TWICE, "Subscriber already exists")
        if len(self._operations) >= OPERATIONS_MAX:
            raise _EndedError(TOO_MANY, "Too many operations")
        try:
            asked = msgspec.convert(payload, _Payload)
        except msgspec.ValidationError as exc:
            raise _EndedError(BAD, "Invalid message") from exc
        query = Query(
            text=asked.query,
            variables=asked.variables,
            operation=asked.operation,
        )
        task = group.create_task(self._operate(name, query, who))
        self._operations[name] = task
        task.add_done_callback(lambda _: self._operations.pop(name, None))

    async def _operate(self, name: str, query: Query, who: Principal) -> None:
        try:
            results = await self._begin(query, who)
            async with aclosing(results):
                async for body in results:
                    await self._put(_next(name, body))
        except Refused as refused:
            await self._fail(name, refused.document()["errors"])
            return
        except _EndedError:
            raise
        except (WebSocketDisconnect, TimeoutError, OSError):
            raise
        except Exception as exc:  # noqa: BLE001 - sent to the subscriber
            wrapped = GraphQLError(str(exc), original_error=exc)
            await self._fail(name, [formatted_error(wrapped)])
            return
        await self._send({"type": "complete", "id": name})

    async def _fail(self, name: str, errors: Any) -> None:
        await self._send({"type": "error", "id": name, "payload": errors})

    async def _send(self, message: Mapping[str, Any]) -> None:
        await self._put(json_bytes(message))

    async def _put(self, body: bytes) -> None:
        async with (
            asyncio.timeout(UNREAD_MAX.total_seconds()),
            self._sending,
        ):
            await self._socket.send_text(body.decode())


def _next(name: str, body: bytes) -> bytes:
    """Return the message with a result that is already JSON."""
    return (
        b'{"type":"next","id":'
        + orjson.dumps(name)
        + b',"payload":'
        + body
        + b"}"
    )
