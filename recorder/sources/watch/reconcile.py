"""Comparing what was watched with a list, because even servers miss deletes.

One resource at a time: its objects are listed with their versions, its stream
is given time to reach the version of the list, and then the log must know
every object listed, at no lower version, and hold none alive that is missing.
Whatever differs ends the stream as a mismatch, and a list follows.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Mapping

from recorder.intake.ports import Known
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.listing import list_versions
from recorder.sources.watch.versions import is_lower, reaches

__all__ = ["MISMATCH", "Reconciler"]

MISMATCH = "reconcile-mismatch"

_POLL = 0.05
"""How often it is looked whether a stream is far enough, as a part of the
longest time to wait, and at most a second."""


class Reconciler:
    """Reconciles every resource in turn, and suspects first."""

    def __init__(
        self,
        client: ClusterClient,
        known: Known,
        *,
        followers: Callable[[], Collection[Follower]],
        suspects: set[Resource],
        jitter: random.Random,
    ) -> None:
        self._client = client
        self._known = known
        self._followers = followers
        self._suspects = suspects
        self._jitter = jitter
        self._due: dict[Resource, float] = {}

    async def run(self) -> None:
        """Reconcile for ever."""
        poll = self._poll()
        while True:
            await asyncio.sleep(poll)
            follower = self._next()
            if follower is not None:
                try:
                    await self.reconcile(follower)
                except RequestError:
                    # The reflector meets the same failure and tells it; the
                    # comparison is made another time.
                    continue

    async def reconcile(self, follower: Follower) -> None:
        """Compare one resource, and interrupt it if it differs."""
        follower.touched = set()
        began = self._client.clock.monotonic()
        try:
            version, listed = await list_versions(
                self._client, follower.target
            )
            if not await self._reached(follower, version, began=began):
                return
            resource = follower.target.resource
            held = await self._known.versions(resource)
            touched = follower.touched
        finally:
            follower.touched = None
        if follower.place.completed is not None and _differs(
            listed,
            held,
            version=version,
            touched=touched,
            expiring=resource.plural == "events",
        ):
            follower.interrupt(MISMATCH)

    async def _reached(
        self, follower: Follower, version: str, *, began: float
    ) -> bool:
        """Wait until the stream has shown everything up to a version.

        Where no bookmarks come, a watch that began after the list and ended
        cleanly shows the same.
        """
        clock, settings = self._client.clock, self._client.settings
        listed_at = clock.monotonic()
        while clock.monotonic() < began + settings.reconcile_wait:
            completed = follower.place.completed
            if completed is None or follower.stopped:
                return False
            if reaches(completed, version):
                return True
            if follower.clean_since > listed_at:
                return True
            await asyncio.sleep(self._poll())
        return False

    def _next(self) -> Follower | None:
        """Choose a suspect that is live again, or whatever is due."""
        now = self._client.clock.monotonic()
        every = self._client.settings.reconcile_every
        for follower in self._followers():
            resource = follower.target.resource
            if not follower.proven:
                continue
            first = now + every * self._jitter.uniform(0.5, 1.0)
            due = self._due.setdefault(resource, first)
            if resource in self._suspects or now >= due:
                self._suspects.discard(resource)
                self._due[resource] = now + every
                return follower
        return None

    def _poll(self) -> float:
        return min(1.0, self._client.settings.reconcile_wait * _POLL)


def _differs(
    listed: Mapping[str, str],
    held: Mapping[str, str],
    *,
    version: str,
    touched: set[str],
    expiring: bool,
) -> bool:
    """Tell whether the log's objects cannot be those of the list.

    What was touched while we compared is left out. Objects that expire by
    themselves may be missing from a list for no reason but their age.
    """
    for uid, at in listed.items():
        if uid not in touched and (uid not in held or is_lower(held[uid], at)):
            return True
    return not expiring and any(
        uid not in listed and uid not in touched and reaches(version, at)
        for uid, at in held.items()
    )
