"""The socket of a server, the server on it, and its end."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from recorder.listening.door import Door, accept
from recorder.listening.protocol import WEBSOCKET, http
from recorder.listening.room import Bounds, Room
from recorder.model.errors import ConfigError

END_SECONDS = 5.0
"""How long responses in progress may take when the server ends."""

BACKLOG = 1024


class ListenError(ConfigError):
    """The address to serve on is malformed."""

    code = "config.listen"


class AddressTakenError(ListenError):
    """The address to serve on is not available."""

    exit_status = 1


@asynccontextmanager
async def listening(
    app: Any,
    bound: socket.socket,
    bounds: Bounds,
    *,
    tls: ssl.SSLContext | None = None,
    message_bytes_max: int | None = None,
) -> AsyncIterator[str]:
    """Serve while entered; yield the address in use, as ``HOST:PORT``.

    Leaving waits for responses in progress, a few seconds at most.

    Args:
        app: an ASGI application.
        bound: the listening socket; it is closed at the end.
        bounds: of connections.
        tls: our certificate and the client authority; None for plain
            connections.
        message_bytes_max: of a WebSocket message; None if there are no
            WebSockets.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        ws="none" if message_bytes_max is None else WEBSOCKET,
        ws_max_size=message_bytes_max or 0,
        ws_max_queue=8,
        lifespan="off",
        access_log=False,
        log_config=None,
        # The client is the one that connects, whatever a header says.
        proxy_headers=False,
        timeout_keep_alive=bounds.idle_seconds,
    )
    config.load()
    state, room = ServerState(), Room(bounds)

    def inner(door: Door) -> asyncio.Protocol:
        return http(door, config, state)

    host, port = bound.getsockname()[:2]
    ended: BaseException | None = None
    with closing(bound):
        async with asyncio.TaskGroup() as group:
            accepting = group.create_task(accept(bound, room, inner, tls))
            try:
                yield f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            except BaseException as exc:  # noqa: BLE001 - raised behind
                # Unchanged: the server is not part of an exception group.
                ended = exc
            accepting.cancel()
            await _end(state, room)
    if ended is not None:
        raise ended


async def _end(state: ServerState, room: Room) -> None:
    for connection in list(state.connections):
        connection.shutdown()
    with suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            room.drop_all(strangers_only=True)
            await room.emptied()
            if state.tasks:
                await asyncio.wait(state.tasks)
    room.drop_all()
    for task in list(state.tasks):
        task.cancel()
    if state.tasks:
        await asyncio.wait(state.tasks)


def parsed_address(listen: str) -> tuple[str, int]:
    """Return host and port of an address.

    Raises:
        ListenError: the address is malformed.
    """
    host, colon, port = listen.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) < 1 << 16):
        msg = f'cannot listen on "{listen}": write HOST:PORT'
        raise ListenError(msg)
    return host.strip("[]"), int(port)


def bound_socket(
    listen: str, *, setting: str, any_port: bool = False
) -> socket.socket:
    """Return a socket that is bound to an address and listens.

    Args:
        listen: ``HOST:PORT``; port 0 takes a free one.
        setting: the setting with the address, for messages.
        any_port: whether to use another port if this one is taken.

    Raises:
        ListenError: the address is malformed.
        AddressTakenError: it is taken, or not an address of this machine.
    """
    host, port = parsed_address(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Declared as TCP, so that the loop sends small responses at once.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as exc:
        bound.close()
        if any_port and port:
            return bound_socket(f"{host}:0", setting=setting)
        msg = (
            f"cannot listen on {listen}: {exc.strerror or exc}; choose"
            f" another address with {setting}"
        )
        raise AddressTakenError(msg) from exc
    bound.listen(BACKLOG)
    bound.setblocking(False)  # noqa: FBT003 - its signature
    return bound
