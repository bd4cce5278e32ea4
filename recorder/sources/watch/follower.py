"""What is known of one resource while it is followed.

Shared by the reflector that follows it and by those who may interrupt that:
the guard against rewinds, the reconciler, and discovery. Everything happens on
one event loop; no field is read and written across an await.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recorder.sources.watch.place import Place
from recorder.sources.watch.target import Target

__all__ = ["Follower"]


class Follower:
    """One resource and how far it was followed."""

    def __init__(self, target: Target, completed: str | None) -> None:
        self.target = target
        self.place = Place(completed)
        # Owned by the reflector.
        self.lost = True
        """Whether the connection was lost since the cluster's history was
        last confirmed. True at the start: we were away."""
        self.opening = self.streaming = False
        """Whether a watch was asked for, whose frames may be on their way
        before it is known that they are of the same history; and whether it
        is known, and the end of the watch was not put."""
        self.opened_at = 0.0
        """When that watch was opened; steady time, as all of these."""
        self.heard_at = 0.0
        """When something was last heard of the history that is followed."""
        self.proven = False
        """Whether the open watch showed that the server took our version."""
        self.followed = completed is not None
        """Whether it was ever listed, by us or an earlier recorder."""
        self.live = False
        """Whether any watch showed so since the last loss."""
        self.marked = False
        """Whether the resource was ever seen to send bookmarks."""
        self.lists = 0
        """How many complete lists its place was taken from."""
        self.head: str | None = None
        """The newest version that there was after the last loss; what is
        older was made while we were away. None once that is behind us."""
        self.clean_since = 0.0
        """When the last watch that ended cleanly had begun."""
        # Owned by the reconciler; the reflector adds to it while it is set.
        self.touched: set[str] | None = None
        """The uids seen since the reconciler took its list."""
        # Owned by whoever interrupts.
        self.stopped = False
        """Whether it should not be followed any more."""
        self._reason: str | None = None
        self._scope: asyncio.Timeout | None = None

    def lose(self) -> None:
        """Note that the connection was lost, or never came to be."""
        self.lost = True
        self.opening = self.streaming = self.live = False

    def confirmed(self, at: float) -> None:
        """Note that the history was found to be the one followed."""
        self.lost = False
        self.heard_at = at

    def interrupt(self, reason: str | None) -> None:
        """Stop what the reflector is doing; it begins again with a list.

        The reason is told as the end of the stream; None if that was done.
        """
        self._reason = reason or self._reason
        self.place.forget()
        self.opening = self.streaming = False
        self.proven = self.live = False
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(asyncio.get_running_loop().time())

    def finish(self, reason: str) -> None:
        """Let the watch be the last one; ``reason`` is told behind its end.

        What follows ends by itself when the server ends the watch.
        """
        self.stopped = True
        self._reason = reason

    def take_reason(self) -> str | None:
        """Return the reason of an interruption not yet put."""
        reason, self._reason = self._reason, None
        return reason

    @asynccontextmanager
    async def interruptible(self) -> AsyncIterator[None]:
        """Run the body until it ends or is interrupted."""
        scope: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout(None) as scope:
                self._scope = scope
                yield
        except TimeoutError:
            if scope is None or not scope.expired():
                raise
        finally:
            self._scope = None
