"""A connection from when it is accepted until its protocol takes it over.

It may start with a TLS handshake, which is bounded in time. Handshakes count
among the connections: an unfinished one is an open file too. A client that
reads nothing of its response is dropped as well: a connection closes only once
everything was read.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from recorder.listening.room import Room

HANDSHAKE_SECONDS = 10.0
SHUTDOWN_SECONDS = 1.0
"""For the other side to end TLS as well."""

UNREAD_SECONDS = 60.0
"""How long a client may read nothing; it is dropped within twice as long."""

FULL_SECONDS = 0.1
"""Until the next attempt if no file can be opened."""

Inner = Callable[["Door"], asyncio.Protocol]


async def accept(
    bound: socket.socket,
    room: Room,
    inner: Inner,
    tls: ssl.SSLContext | None,
) -> None:
    """Accept connections until cancelled.

    Args:
        bound: the listening socket.
        room: the room whose places they take.
        inner: makes the protocol of each, which must call `Door.left`.
        tls: None for plain connections.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as opening:
        opening.create_task(_drop_unread(room))
        while True:
            try:
                accepted, address = await loop.sock_accept(bound)
            except OSError:
                await asyncio.sleep(FULL_SECONDS)
                continue
            door = Door(room, accepted, str(address[0]))
            if room.enter(door):
                door.opening = opening.create_task(door.open(inner, tls))
            else:
                accepted.close()


async def _drop_unread(room: Room) -> None:
    while True:
        await asyncio.sleep(UNREAD_SECONDS)
        room.drop_stuck()


class Door:
    """Lets one connection in, and drops it when its place is needed."""

    def __init__(self, room: Room, accepted: socket.socket, peer: str) -> None:
        self.peer = peer
        self.opening: asyncio.Task[None] | None = None
        self._room = room
        self._accepted = accepted
        self._transport: asyncio.Transport | None = None
        self._is_begun = False
        self._is_full = False
        self._unread = 0

    async def open(self, inner: Inner, tls: ssl.SSLContext | None) -> None:
        """Shake hands, and hand the connection to its protocol."""
        self._is_begun = True
        loop, secured = asyncio.get_running_loop(), tls is not None
        try:
            transport, _ = await loop.connect_accepted_socket(
                lambda: inner(self),
                self._accepted,
                ssl=tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if secured else None,
                ssl_shutdown_timeout=SHUTDOWN_SECONDS if secured else None,
            )
        except OSError:
            # The handshake failed, was interrupted, or took too long.
            self._give_up()
        except asyncio.CancelledError:
            self._give_up()
            raise
        else:
            self._transport = transport

    def let_in(self) -> None:
        """Note that the client has authenticated."""
        self._room.let_in(self)

    def fill(self) -> None:
        """Note that written data waits for the client to read."""
        self._is_full = True

    def drain(self) -> None:
        """Note that the client read what waited; more may follow it."""
        self._is_full, self._unread = False, 0

    def left(self) -> None:
        """Note that the connection ended."""
        self._room.leave(self)

    def is_stuck(self) -> bool:
        """Return whether the client read nothing since the last call.

        Only of what has waited for the client ever since, so that nothing was
        added to it.
        """
        before, self._unread = self._unread, 0
        transport = self._transport
        if transport is not None and (self._is_full or transport.is_closing()):
            self._unread = transport.get_write_buffer_size()
        return 0 < before <= self._unread

    def drop(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()
            return
        if self.opening is not None:
            self.opening.cancel()
        if not self._is_begun:
            self._accepted.close()
            self.left()

    def _give_up(self) -> None:
        # Not closed here: the event loop watches its file, and closes it when
        # it sees this end.
        with suppress(OSError):
            self._accepted.shutdown(socket.SHUT_RDWR)
        self.left()
