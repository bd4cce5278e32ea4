"""Comparing what was watched with a list, because even servers miss deletes.

The objects of a resource are listed with their versions, its stream is given
time to reach the version of the list, and then the log must know every listed
object, at no lower version, and hold none alive that is missing. A difference
ends the stream as a mismatch, and a list follows.

A suspect is a resource that lacks a known object after a loss. If its stream,
resumed at the version before the loss, does not report the delete either, then
it continues another history than the recorded one: a rewind that later writes
have hidden.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta

from recorder.intake.ports import HeldVersion, Known
from recorder.model.errors import Transient
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.listing import list_versions, list_young
from recorder.sources.watch.rewind import RewindGuard
from recorder.sources.watch.versions import is_lower, reaches

MISMATCH = "reconcile-mismatch"

_Versions = Mapping[str, HeldVersion]

_POLL = 0.02
"""How often to check whether a stream is far enough, as a part of the longest
time to wait; at most every second."""


class Reconciler:
    """Reconciles each resource at intervals, and suspects soon."""

    def __init__(
        self,
        client: ClusterClient,
        known: Known,
        guard: RewindGuard,
        *,
        followers: Callable[[], Collection[Follower]],
        jitter: random.Random,
    ) -> None:
        self._client = client
        self._known = known
        self._guard = guard
        self._followers = followers
        self._jitter = jitter
        self._due: dict[Resource, float] = {}
        # One list at a time; streams are waited for in parallel.
        self._listing = asyncio.Lock()

    async def run(self) -> None:
        """Reconcile for ever."""
        async with asyncio.TaskGroup() as group:
            while True:
                await asyncio.sleep(self._poll())
                for follower, suspect in self._due_now():
                    group.create_task(self._reconcile(follower, suspect))

    async def _reconcile(self, follower: Follower, suspect: str) -> None:
        follower.touched = set()
        try:
            if _is_expiring(follower.target.resource):
                differs = await self._lacks(follower)
            else:
                differs = await self._differs(follower, suspect)
        except (RequestError, Transient):
            # The cluster or the log is unreachable, which is reported
            # elsewhere; the comparison is made another time.
            return
        finally:
            follower.touched = None
        if differs:
            follower.interrupt(MISMATCH)

    async def _differs(self, follower: Follower, suspect: str) -> bool:
        """Return whether the log lacks objects, or holds deleted ones."""
        assert follower.touched is not None, "it is being reconciled"
        lists, target = follower.lists, follower.target
        async with self._listing:
            version, listed = await list_versions(self._client, target)
        if not await self._is_comparable(follower, version):
            return False
        held = await self._known.versions(target.resource)
        if _is_anew(follower, lists):
            return False
        missing = _missing(listed, held, version) - follower.touched
        if suspect in missing:
            self._guard.report(
                f"{target.resource} lacks the object with UID"
                f" {suspect}, and no delete was delivered"
            )
            return False
        return bool(missing or _unknown(listed, held) - follower.touched)

    async def _lacks(self, follower: Follower) -> bool:
        """Return whether the log lacks versions of Events.

        No watch reports that Events expire, so surplus ones cannot be known.
        """
        lists, target = follower.lists, follower.target
        async with self._listing:
            version, listed = await list_young(
                self._client, target, created_since=self._youngest()
            )
        if not await self._is_comparable(follower, version):
            return False
        lacking = await self._known.lacking(target.resource, listed)
        return bool(lacking) and not _is_anew(follower, lists)

    async def _is_comparable(self, follower: Follower, version: str) -> bool:
        """Wait until a stream has reached the version of a list."""
        if is_lower(version, follower.place.completed or ""):
            # Only a rewind explains a list that is behind its stream;
            # confirming the history compares it with the stream again.
            follower.lost = True
            await self._guard.confirm(follower)
            return False
        return await self._reached(follower, version)

    async def _reached(self, follower: Follower, version: str) -> bool:
        """Wait until the stream has shown everything up to a version.

        Where no bookmarks come, a watch that began after the list and ended
        cleanly shows the same.
        """
        clock, settings = self._client.clock, self._client.settings
        listed_at = clock.monotonic()
        while clock.monotonic() < listed_at + settings.reconcile_wait:
            completed = follower.place.completed
            if completed is None or follower.stopped:
                return False
            if reaches(completed, version):
                return True
            if follower.clean_since > listed_at:
                return True
            await asyncio.sleep(self._poll())
        return False

    def _due_now(self) -> list[tuple[Follower, str]]:
        """Choose the live resources that are due; suspects come first.

        Each with the suspected UID, empty if there is none.
        """
        now = self._client.clock.monotonic()
        every = self._client.settings.reconcile_every
        chosen = []
        for follower in self._followers():
            resource = follower.target.resource
            first = now + every * self._jitter.uniform(0.5, 1.0)
            due = self._due.setdefault(resource, first)
            if not follower.live or follower.touched is not None:
                continue
            suspect = self._guard.suspects.pop(resource, "")
            if suspect or now >= due:
                self._due[resource] = now + every
                chosen.append((follower, suspect))
        return chosen

    def _youngest(self) -> str:
        age = timedelta(seconds=self._client.settings.event_age)
        since = self._client.clock.now() - age
        return since.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _poll(self) -> float:
        return min(1.0, self._client.settings.reconcile_wait * _POLL)


def _is_expiring(resource: Resource) -> bool:
    return (resource.group, resource.plural) == ("", "events")


def _is_anew(follower: Follower, lists: int) -> bool:
    """Return whether it was listed since, or is about to be.

    The stream did not report what changed before that list.
    """
    return follower.place.completed is None or follower.lists != lists


def _unknown(listed: _Versions, held: _Versions) -> set[str]:
    """Return what was listed and is not held, or only at a lower version."""
    return {
        uid
        for uid, of in listed.items()
        if uid not in held
        or is_lower(held[uid].resource_version, of.resource_version)
    }


def _missing(listed: _Versions, held: _Versions, version: str) -> set[str]:
    """Return what is held alive at the list's version, and not listed."""
    return {
        uid
        for uid, of in held.items()
        if uid not in listed and reaches(version, of.resource_version)
    }
