"""HTTP with bounded requests: in bytes of the head, and in time.

The parser of uvicorn would keep a head without end, and a connection whose
request is never completed would be held forever.
"""

import asyncio
import time
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.protocols.websockets.websockets_sansio_impl import (
    WebSocketsSansIOProtocol,
)
from uvicorn.server import ServerState

from recorder.listening.door import Door
from recorder.listening.state import CERTIFIED, LET_IN, PEER

HEAD_BYTES_MAX = 32 << 10
"""Of a request line and headers, with trailers."""

REQUEST_SECONDS = 10
"""From the first byte of a request to its last."""

TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
LINE_END = 2
DOOR = "recorder.door"


class HeadTooLongError(Exception):
    """Ends the parsing of a request."""


def http(
    door: Door, config: uvicorn.Config, state: ServerState
) -> asyncio.Protocol:
    """Return the protocol of one connection."""
    return _Http(door, config, state)


class _Http(HttpToolsProtocol):
    """One connection that carries requests."""

    def __init__(
        self, door: Door, config: uvicorn.Config, state: ServerState
    ) -> None:
        super().__init__(config, state, {DOOR: door, LET_IN: door.let_in})
        self._door = door
        self._unparsed = 0
        """Bytes received since the last body or end of a request."""

        self._head_bytes = 0
        self._whole = True
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        certificate = _certificate(transport)
        self.app_state[CERTIFIED] = bool(certificate)
        peer = _peer(certificate)
        if peer is not None:
            self.app_state[PEER] = peer
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._door.left()

    def pause_writing(self) -> None:
        self._door.fill()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._door.drain()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        current = self._current()
        if current is None or current.response_complete:
            self._expect_whole()
        super().data_received(data)
        if self._unparsed > HEAD_BYTES_MAX:
            self._unparsed = 0
            self._refuse(TOO_LONG)

    def on_message_begin(self) -> None:
        self._whole = False
        self._head_bytes = 0
        _set_date(self.server_state)
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 2 * LINE_END)
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        self._whole = True
        self._in_time()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._whole:
            # Of a pipelined request, or one rejected before it was complete.
            self._expect_whole()

    def send_400_response(self, msg: str) -> None:
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(TOO_LONG)
        else:
            super().send_400_response(msg)

    def handle_websocket_upgrade(self) -> None:
        self._in_time()
        super().handle_websocket_upgrade()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES_MAX:
            raise HeadTooLongError

    def _current(self) -> RequestResponseCycle | None:
        return self.cycle

    def _expect_whole(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(
                REQUEST_SECONDS, self._refuse, TOO_SLOW
            )

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, answer: bytes) -> None:
        """End the connection, with a response if none has begun."""
        if self.transport.is_closing():
            return
        current = self._current()
        if (
            current is None
            or current.response_complete
            or not current.response_started
        ):
            self.transport.write(answer)
        self.transport.close()


class _WebSocket(WebSocketsSansIOProtocol):
    """One connection on which a WebSocket was opened."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._door: Door = self.app_state[DOOR]

    def pause_writing(self) -> None:
        self._door.fill()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._door.drain()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._door.left()


WEBSOCKET = _WebSocket


def _set_date(state: ServerState) -> None:
    """Set the Date header of responses, to the second."""
    now = int(time.time())
    if getattr(state, "dated", None) != now:
        state.dated = now  # type: ignore[attr-defined]
        date = formatdate(now, usegmt=True).encode()
        state.default_headers = [(b"date", date)]


def _certificate(transport: asyncio.BaseTransport) -> Mapping[str, Any]:
    """Return the verified certificate of the client, empty without one."""
    tls = transport.get_extra_info("ssl_object")
    return (tls.getpeercert() if tls is not None else None) or {}


def _peer(certificate: Mapping[str, Any]) -> str | None:
    """Return the common name in a certificate."""
    names = [
        value
        for part in certificate.get("subject", ())
        for name, value in part
        if name == "commonName"
    ]
    return names[0] if len(names) == 1 else None
