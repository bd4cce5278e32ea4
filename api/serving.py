"""Serving: the socket, the server, and its end.

Begun by `recorder.wiring.serving`. The address is taken before anything is
said of it, so that one that is taken is told at once.
"""

import asyncio
import logging
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

import uvicorn
from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

from api.access import PEER, check_listening
from api.graphql_http import BODY_MAX
from api.opening import Opening
from recorder.errors import ConfigError

__all__ = ["AddressTakenError", "ListenError", "listening"]

END_SECONDS = 5
"""How long answers that have begun may take when the server ends."""

CONNECTIONS_MAX = 3000
HEAD_BYTES_MAX = 32 << 10
"""Of a request line and headers, or of trailers, while they have no end."""

REQUEST_SECONDS = 10
"""From the first byte of a request to its last."""

TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)

SWITCH_SECONDS = 0.001
"""How long a worker computes before the loop that talks to clients may."""


class ListenError(ConfigError):
    """The address to serve on is malformed."""

    code = "config.listen"


class AddressTakenError(ListenError):
    """The address to serve on cannot be had."""

    exit_status = 1


class _Server(uvicorn.Server):
    """A server that leaves signals to who began it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(HttpToolsProtocol):
    """HTTP in which a request ends: in bytes of its head, and in time.

    The parser would keep a head without end, and a connection whose request
    never becomes whole would be held for ever.
    """

    _head_bytes = 0
    _whole = True
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer = _peer(transport)
        if peer is not None:
            self.app_state = {**self.app_state, PEER: peer}
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        current = self._current()
        if current is None or current.response_complete:
            self._expect_whole()
        super().data_received(data)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._head_bytes = 0
            if not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._whole = False
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        self._whole = True
        self._in_time()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._whole:
            # Of a request behind another, or refused before it was whole.
            self._expect_whole()

    def _current(self) -> RequestResponseCycle | None:
        return self.cycle

    def _expect_whole(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def handle_websocket_upgrade(self) -> None:
        self._in_time()
        super().handle_websocket_upgrade()

    def _end(self) -> None:
        if self.transport.is_closing():
            return
        current = self._current()
        if current is None or not current.response_started:
            self.transport.write(TOO_SLOW)
        self.transport.close()


def _peer(transport: asyncio.BaseTransport) -> str | None:
    """Return the common name of a client certificate that was verified."""
    tls = transport.get_extra_info("ssl_object")
    certificate = tls.getpeercert() if tls is not None else None
    names = [
        value
        for part in (certificate or {}).get("subject", ())
        for name, value in part
        if name == "commonName"
    ]
    return names[0] if len(names) == 1 else None


@asynccontextmanager
async def listening(
    listen: str,
    *,
    any_port: bool = False,
    guarded: bool,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[str, Opening]]:
    """Listen while entered; yield the address, and what to serve through.

    Leaving waits for answers that have begun, a few seconds at most.

    Raises:
        OpenToAllError: others could read everything.
        ListenError: the address is malformed.
        AddressTakenError: it is taken, or not of this machine.
    """
    host, port = _parsed(listen)
    check_listening(host, guarded=guarded)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    sys.setswitchinterval(SWITCH_SECONDS)
    opening = Opening()
    with closing(_bound(host, port, any_port=any_port)) as bound:
        server = _Server(
            uvicorn.Config(
                opening,
                http=_Protocol,
                ws="websockets-sansio",
                ws_max_size=BODY_MAX,
                ws_max_queue=8,
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                # Who connects is who reads, whatever a header says.
                proxy_headers=False,
                backlog=1024,
                limit_concurrency=CONNECTIONS_MAX,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=END_SECONDS,
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve([bound]))
            try:
                shown = f"[{host}]" if ":" in host else host
                scheme = "http" if tls is None else "https"
                port = bound.getsockname()[1]
                yield f"{scheme}://{shown}:{port}/", opening
            finally:
                server.should_exit = True


def _parsed(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) < 1 << 16):
        msg = f'cannot serve on "{listen}": write HOST:PORT, as 127.0.0.1:9470'
        raise ListenError(msg)
    return host.strip("[]"), int(port)


def _bound(host: str, port: int, *, any_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that the loop sends small answers at once.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as exc:
        bound.close()
        if any_port and port:
            return _bound(host, 0, any_port=False)
        msg = (
            f"cannot serve on {host}:{port}: {exc.strerror or exc}; choose"
            " another address with --listen"
        )
        raise AddressTakenError(msg) from exc
    bound.listen(1024)
    bound.setblocking(False)  # noqa: FBT003 - its signature
    return bound
