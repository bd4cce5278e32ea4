"""Which clients may be connected: room for strangers, and reserved room.

Any client that reaches a port can open connections and send nothing, or half
of a request. So a connection is a stranger until the application has
authenticated it, strangers get only a part of the room, and a new one takes
the place of the oldest: of its own peer beyond the bound per peer, else of the
peer with the most. Clients that authenticate at once get in, however many
wait.
"""

import asyncio
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of the connections of one server."""

    connections: int
    """Of all clients; each is an open file."""

    strangers: int
    """Not authenticated yet, of all peers."""

    strangers_of_a_peer: int
    idle_seconds: int
    """After which a connection without a request is closed."""


class Visitor(Protocol):
    """One connection."""

    peer: str

    def is_stuck(self) -> bool:
        """Return whether it read nothing since the last call."""

    def drop(self) -> None:
        """End the connection at once."""


class Room:
    """Keeps the bounds of one server."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._known: dict[Visitor, None] = {}
        self._strangers: dict[str, dict[Visitor, None]] = {}
        self._count = 0
        self._empty = asyncio.Event()
        self._empty.set()

    def enter(self, visitor: Visitor) -> bool:
        """Add a connection as a stranger; return whether there is room."""
        bounds = self._bounds
        of_peer = self._strangers.get(visitor.peer, {})
        if len(of_peer) >= bounds.strangers_of_a_peer:
            self._drop_oldest(of_peer)
        elif self._count and (
            self._count >= bounds.strangers
            or self._count + len(self._known) >= bounds.connections
        ):
            self._drop_oldest(max(self._strangers.values(), key=len))
        if self._count + len(self._known) >= bounds.connections:
            return False
        self._strangers.setdefault(visitor.peer, {})[visitor] = None
        self._count += 1
        self._empty.clear()
        return True

    def let_in(self, visitor: Visitor) -> None:
        """Note that a stranger has authenticated."""
        if self._leave_strangers(visitor):
            self._known[visitor] = None

    def leave(self, visitor: Visitor) -> None:
        """Note that a connection ended."""
        self._leave_strangers(visitor)
        self._known.pop(visitor, None)
        if not (self._count or self._known):
            self._empty.set()

    async def emptied(self) -> None:
        """Wait until no client is connected."""
        await self._empty.wait()

    def drop_all(self, *, strangers_only: bool = False) -> None:
        """End connections at once."""
        known = () if strangers_only else self._known
        for visitor in [*self._all_strangers(), *known]:
            visitor.drop()

    def drop_stuck(self) -> None:
        """End the connections of clients that do not read their responses."""
        for visitor in [*self._all_strangers(), *self._known]:
            if visitor.is_stuck():
                visitor.drop()

    def _all_strangers(self) -> list[Visitor]:
        return [v for each in self._strangers.values() for v in each]

    def _drop_oldest(self, visitors: dict[Visitor, None]) -> None:
        oldest = next(iter(visitors))
        # Its place is free now; the end of its connection is reported later.
        self.leave(oldest)
        oldest.drop()

    def _leave_strangers(self, visitor: Visitor) -> bool:
        of_peer = self._strangers.get(visitor.peer)
        if of_peer is None or visitor not in of_peer:
            return False
        del of_peer[visitor]
        self._count -= 1
        if not of_peer:
            del self._strangers[visitor.peer]
        return True
