"""How far back one resource must be read before it is live again.

Owned by its reflector. A walk that is interrupted continues from this state;
what was read and put moves the version from which to continue.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recorder.sources.watch.errors import RequestError, UnreachableError
from recorder.sources.watch.past import Memo
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.span import Walked

BEGINNING = ""
"""Where to walk from if nothing was recorded before."""


class Reach:
    """The unread part of a resource's past, and the deadline."""

    def __init__(self, settings: WatchSettings) -> None:
        """Start with nothing to read."""
        self._settings = settings
        self.since: str | None = None
        """The version after which to read; None if there is nothing to read.
        """
        self.first = BEGINNING
        """The version after which the log may be incomplete."""
        self.goal: str | None = None
        """The version from which the server said that it can watch."""
        self.flaws: Walked | None = None
        """What the stages put since ``first`` left out."""
        self.memo = Memo(settings.walk_bytes)
        self._deadline: float | None = None
        self._restarts = 0

    def begin(self, since: str | None, goal: str | None = None) -> None:
        """Require reading what happened after a version."""
        if since != self.since:
            self.memo.clear()
        self.since, self.goal, self.flaws = since, goal, None
        self.first = since or BEGINNING

    def end(self) -> None:
        """Require nothing more: the resource is live, or was listed."""
        self.begin(None)
        self._deadline, self._restarts = None, 0

    def interrupted(self) -> None:
        """Restart the deadline: the server was unreachable."""
        again = self._restarts < self._settings.walk_restarts
        if again and self._deadline is not None:
            self._restarts += 1
            self._deadline = None

    def deadline(self, now: float, seconds: float) -> float:
        """Return the deadline, counted from the first call."""
        if self._deadline is None:
            self._deadline = now + seconds
        return self._deadline

    def put(self, walked: Walked, until: str) -> None:
        """Note that the result of a walk to a version was put."""
        self.since = until or self.since
        if walked.healed:
            self.first, self.flaws = until, None
        else:
            self.flaws = walked
        self.memo.clear()

    @asynccontextmanager
    async def listing(self) -> AsyncIterator[None]:
        """Require nothing more after a list, nor if the server rejects it.

        After a lost connection the list is retried, with the walk before it.
        """
        try:
            yield
        except UnreachableError:
            raise
        except RequestError:
            self.begin(None)
            raise
        self.end()
