"""What is known of one resource while it is followed.

Shared by the reflector that follows it and by the tasks that may interrupt it:
the rewind guard, the reconciler, and discovery. Everything happens on one
event loop; no field is read and written across an await.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recorder.sources.watch.place import Place
from recorder.sources.watch.target import Target


class Follower:
    """One resource and how far it was followed."""

    def __init__(self, target: Target, completed: str | None) -> None:
        self.target = target
        self.place = Place(completed)
        # Owned by the reflector.
        self.lost = True
        """Whether the connection was lost since the cluster's history was last
        confirmed. True at the start, since nothing was watched before."""
        self.opening = self.streaming = False
        """``opening``: a watch was requested, and its frames may arrive before
        it is confirmed that they belong to the same history. ``streaming``:
        that is confirmed, and the end of the watch was not put yet."""
        self.opened_at = 0.0
        """When that watch was opened; steady time, like all times here."""
        self.heard_at = 0.0
        """When data of the followed history last arrived."""
        self.proven = False
        """Whether the open watch proved that the server accepted our version.
        """
        self.followed = completed is not None
        """Whether it was ever listed, by this process or an earlier recorder.
        """
        self.live = False
        """Whether any watch proved so since the last loss."""
        self.marked = False
        """Whether the resource ever sent bookmarks."""
        self.lists = 0
        """How many complete lists have set its place."""
        self.head: str | None = None
        """The newest version after the last loss: older frames were written
        while we were disconnected. None once the place is beyond it."""
        self.clean_since = 0.0
        """When the last watch that ended cleanly was started."""
        # Owned by the reconciler; the reflector adds to it while it is set.
        self.touched: set[str] | None = None
        """The UIDs seen since the reconciler took its list."""
        # Owned by the task that interrupts.
        self.stopped = False
        """Whether it should not be followed any more."""
        self._reason: str | None = None
        self._scope: asyncio.Timeout | None = None

    def lose(self) -> None:
        """Note that the connection was lost, or could not be opened."""
        self.lost = True
        self.opening = self.streaming = self.live = False

    def confirmed(self, at: float) -> None:
        """Note that the history was confirmed to be the followed one."""
        self.lost = False
        self.heard_at = at

    def interrupt(self, reason: str | None) -> None:
        """Interrupt the reflector, which starts again with a list.

        The reason is put as the end of the stream; None if that was already
        put.
        """
        self._reason = reason or self._reason
        self.place.forget()
        self.opening = self.streaming = False
        self.proven = self.live = False
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(asyncio.get_running_loop().time())

    def finish(self, reason: str) -> None:
        """Make this watch the last; ``reason`` is put after its end.

        The reflector stops when the server ends the watch.
        """
        self.stopped = True
        self._reason = reason

    def take_reason(self) -> str | None:
        """Return the reason of an interruption that is not yet put."""
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
