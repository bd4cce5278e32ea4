"""A client that takes nothing of its answer does not keep its place."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from recorder.listening import (
    Bounds,
    bound_socket,
    door,
    let_in,
    listening,
)
from recorder.listening.room import Room

BOUNDS = Bounds(
    connections=1, strangers=1, strangers_of_a_peer=1, idle_seconds=30
)
MUCH = b"x" * (16 << 20)
"""More than the sockets of both ends hold."""

SMALL = 64 << 10
"""Sockets of this size hold less than is read between two judgements."""


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Accept every client, and answer much, or only half of it."""
    let_in(scope)
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": MUCH})
        return
    headers = [(b"content-length", b"%d" % len(MUCH))]
    await send(
        {"type": "http.response.start", "status": 200, "headers": headers}
    )
    body = {"type": "http.response.body", "body": MUCH[: len(MUCH) // 2]}
    await send(body | {"more_body": True})
    if scope["path"] == "/":
        # Which waits until the half was taken.
        await send(body)


HOST = b" HTTP/1.1\r\nHost: x\r\n"
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
    b"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
ASKED = {
    "all of it": b"GET /" + HOST + b"\r\n",
    "a part": b"GET /left" + HOST + b"\r\n",
    "websocket": b"GET /" + HOST + UPGRADE + b"\r\n",
}


@asynccontextmanager
async def answering(*, small: bool = False) -> AsyncIterator[tuple[str, int]]:
    bound = bound_socket("127.0.0.1:0", setting="listen")
    if small:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
    host, port = bound.getsockname()
    async with listening(app, bound, BOUNDS, message_bytes_max=1 << 20):
        yield host, port


async def asking(
    address: tuple[str, int], asked: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*address, limit=1 << 10)
    writer.write(asked)
    return reader, writer


async def has_room(address: tuple[str, int]) -> bool:
    """Return whether the only place is free."""
    reader, writer = await asking(address, ASKED["all of it"])
    try:
        return (await reader.read(12)).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("half", [False, True], ids=["open", "half-closed"])
async def test_who_takes_nothing_of_an_answer_is_dropped(
    monkeypatch: pytest.MonkeyPatch, what: str, *, half: bool
) -> None:
    assert door.UNREAD_SECONDS == 60
    monkeypatch.setattr(door, "UNREAD_SECONDS", 0.2)
    async with answering() as address:
        stuck = socket.create_connection(address)
        stuck.sendall(ASKED[what])
        stuck.setblocking(False)  # noqa: FBT003 - its signature
        await asyncio.get_running_loop().sock_recv(stuck, 1)
        if half:
            stuck.shutdown(socket.SHUT_WR)
        assert not await has_room(address)
        async with asyncio.timeout(5):
            while not await has_room(address):  # noqa: ASYNC110 - of others
                await asyncio.sleep(0.05)
        stuck.close()


async def test_who_reads_slowly_gets_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also when a second half takes the place of the first meanwhile."""
    judge, rooms = Room.drop_stuck, asyncio.Queue[Room]()

    def note(room: Room) -> None:
        rooms.put_nowait(room)

    monkeypatch.setattr(Room, "drop_stuck", note)
    monkeypatch.setattr(door, "UNREAD_SECONDS", 0.01)
    async with answering(small=True) as address:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        client.setblocking(False)  # noqa: FBT003 - its signature
        await asyncio.get_running_loop().sock_connect(client, address)
        reader, writer = await asyncio.open_connection(
            sock=client, limit=1 << 10
        )
        try:
            writer.write(ASKED["all of it"])
            await reader.readuntil(b"\r\n\r\n")
            room = await rooms.get()
            for _ in range(16):
                judge(room)
                await reader.readexactly(len(MUCH) // 16)
        finally:
            writer.transport.abort()
