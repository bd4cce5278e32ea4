"""How far one resource must reach back before it is live again.

Owned by its reflector. A walk that is interrupted goes on from what is noted
here; whatever was read and put moves the version behind which to go on.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recorder.sources.watch.errors import RequestError, UnreachableError
from recorder.sources.watch.past import Memo
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.span import Walked

__all__ = ["BEGINNING", "Reach"]

BEGINNING = ""
"""Since when to walk where nothing was recorded before."""


class Reach:
    """What a resource has still to read of its past, and for how long."""

    def __init__(self, settings: WatchSettings) -> None:
        """Have nothing to read yet."""
        self._settings = settings
        self.since: str | None = None
        """Behind which version to read; None for nothing."""
        self.first = BEGINNING
        """Behind which version what was read may leave something out."""
        self.goal: str | None = None
        """The version from which the server said that it can watch."""
        self.flaws: Walked | None = None
        """What stages left out that were put since the first version."""
        self.memo = Memo(settings.walk_bytes)
        self._deadline: float | None = None
        self._restarts = 0

    def begin(self, since: str | None, goal: str | None = None) -> None:
        """Have to read what happened behind a version."""
        if since != self.since:
            self.memo.clear()
        self.since, self.goal, self.flaws = since, goal, None
        self.first = since or BEGINNING

    def end(self) -> None:
        """Have nothing to read any more: the resource is live, or listed."""
        self.begin(None)
        self._deadline, self._restarts = None, 0

    def interrupted(self) -> None:
        """Count the time anew: the server was away."""
        again = self._restarts < self._settings.walk_restarts
        if again and self._deadline is not None:
            self._restarts += 1
            self._deadline = None

    def deadline(self, now: float, seconds: float) -> float:
        """Return until when to read, which is counted from the first call."""
        if self._deadline is None:
            self._deadline = now + seconds
        return self._deadline

    def put(self, walked: Walked, until: str) -> None:
        """Note that what came of a walk to a version was put."""
        self.since = until or self.since
        if walked.healed:
            self.first, self.flaws = until, None
        else:
            self.flaws = walked
        self.memo.clear()

    @asynccontextmanager
    async def listing(self) -> AsyncIterator[None]:
        """Read no more after a list, nor if the server refuses it.

        A connection that is lost is tried again, with the walk before it.
        """
        try:
            yield
        except UnreachableError:
            raise
        except RequestError:
            self.begin(None)
            raise
        self.end()
