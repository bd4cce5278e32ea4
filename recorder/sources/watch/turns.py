"""The order in which resources read the past: the most important first.

Each turn is waited for until a deadline, so that no resource waits for others
longer than it may be away. All are read up to a version before any of them
examines unaccounted versions, because the walk of one resource accounts for
versions of the others.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from recorder.sources.watch.past import WalkEndedError
from recorder.sources.watch.target import Target

FIRST = ("nodes", "pods", "jobs")
"""The most important plurals, in their order; remediation and workloads of
operators come with them."""

WORKLOADS = frozenset({"apps", "batch"})
"""Groups of Kubernetes itself whose resources come next."""

LATER = 100
"""Ranks after all resources that are still to be walked."""


def rank(target: Target) -> int:
    """Return the place of a resource in the queue; the lowest is first."""
    resource = target.resource
    if resource.plural in FIRST:
        return FIRST.index(resource.plural)
    if resource.group in WORKLOADS or "." in resource.group:
        return len(FIRST)
    return len(FIRST) + 1


class Turns:
    """A few turns at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._asked = 0
        self._taken = 0
        self._waiting: list[tuple[int, int, asyncio.Event]] = []

    @asynccontextmanager
    async def turn(self, place: int, seconds: float) -> AsyncIterator[None]:
        """Wait for a turn, at most so many seconds; lower places come first.

        Raises:
            WalkEndedError: the turn did not come in time.
        """
        if self._taken < self._most:
            self._taken += 1
        else:
            await self._wait(place, seconds)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, place: int, seconds: float) -> None:
        self._asked += 1
        mine = asyncio.Event()
        waiting = place, self._asked, mine
        heapq.heappush(self._waiting, waiting)
        try:
            async with asyncio.timeout(seconds):
                await mine.wait()
        except BaseException as exc:
            if mine.is_set():
                self._pass_on()
            else:
                self._waiting.remove(waiting)
                heapq.heapify(self._waiting)
            if isinstance(exc, TimeoutError):
                msg = "its time was over before its turn came"
                raise WalkEndedError(msg) from exc
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            heapq.heappop(self._waiting)[2].set()
        else:
            self._taken -= 1


class Advance:
    """Up to which version each resource that is being walked was read."""

    def __init__(self) -> None:
        self._read: dict[Target, int] = {}
        self._moved = asyncio.Event()

    def reached(self, target: Target, version: int) -> None:
        """Note that a resource was read up to a version, and continues."""
        self._read[target] = version
        self._moved.set()

    def left(self, target: Target) -> None:
        """Note that the walk of a resource is over."""
        if self._read.pop(target, None) is not None:
            self._moved.set()

    async def others(self, target: Target, version: int, wait: float) -> None:
        """Wait until all others were read up to a version, or for a time.

        The one that is furthest behind waits for no other.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                while any(
                    read < version
                    for other, read in self._read.items()
                    if other != target
                ):
                    self._moved.clear()
                    await self._moved.wait()
