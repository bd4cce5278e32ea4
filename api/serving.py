"""Serving: the socket, the server, and its end.

Begun by `recorder.wiring.serving`. The address is taken before anything is
said of it, so that one that is taken is told at once.
"""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.access import Anybody, Guard, Tokens, check_listening
from api.app import Served
from api.ports import Logs, TokenFile
from recorder.errors import ConfigError
from recorder.knowledge import Knowledge

__all__ = ["AddressTakenError", "ListenError", "serve"]

END_SECONDS = 5
"""How long answers that have begun may take when the server ends."""

CONNECTIONS_MAX = 3000
HEAD_BYTES_MAX = 32 << 10
"""Of a request line and headers, or of trailers, while they have no end."""

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
    """HTTP that ends a head without end, which the parser would all keep."""

    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._head_bytes = 0
            if not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()


@asynccontextmanager
async def serve(
    logs: Logs,
    knowledge: Knowledge,
    *,
    listen: str,
    any_port: bool = False,
    tokens: TokenFile | None,
    stop: asyncio.Event,
) -> AsyncIterator[str]:
    """Serve while entered; yield the address.

    Raises:
        OpenToAllError: others could read everything.
        ListenError: the address is malformed.
        AddressTakenError: it is taken, or not of this machine.
    """
    host, port = _parsed(listen)
    check_listening(host, guarded=tokens is not None)
    guard: Guard = Anybody() if tokens is None else Tokens(tokens)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    sys.setswitchinterval(SWITCH_SECONDS)
    bound = _bound(host, port, any_port=any_port)
    served = Served(logs, knowledge, guard, stop=stop)
    try:
        async with served.running():
            server = _Server(
                uvicorn.Config(
                    served.app(only_loopback_names=tokens is None),
                    http=_Protocol,
                    ws="none",
                    lifespan="off",
                    access_log=False,
                    log_config=None,
                    server_header=False,
                    backlog=1024,
                    limit_concurrency=CONNECTIONS_MAX,
                    timeout_keep_alive=75,
                    timeout_graceful_shutdown=END_SECONDS,
                )
            )
            async with asyncio.TaskGroup() as group:
                group.create_task(server.serve([bound]))
                try:
                    shown = f"[{host}]" if ":" in host else host
                    yield f"http://{shown}:{bound.getsockname()[1]}/"
                finally:
                    stop.set()
                    server.should_exit = True
    finally:
        bound.close()


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
