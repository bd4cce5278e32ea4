"""Who follows what: one reflector for each resource that is served.

Discovers what the cluster serves, at the start, when a CRD changes and every
few minutes, and starts and stops reflectors accordingly. A resource is taken
for removed only when discovery does not list it and the collection itself
returns 404: a server that has just started does not know all of its CRDs yet.
A kind that returns after its definition was deleted continues from a version
at which none of its objects existed.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from recorder.intake.ports import Known
from recorder.model.observation import ABSENT
from recorder.model.reference import Resource
from recorder.sources.watch.backoff import Backoff
from recorder.sources.watch.definitions import undefined_at
from recorder.sources.watch.discovery import Discovered, discover
from recorder.sources.watch.errors import MissingError, RequestError
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.listing import list_head
from recorder.sources.watch.outlet import EpochOverError
from recorder.sources.watch.reflector import Reflector, Shared
from recorder.sources.watch.selection import Selection
from recorder.sources.watch.target import Target
from recorder.sources.watch.telling import Observer


class Roster:
    """Starts and stops reflectors as the served resources change."""

    def __init__(self, selection: Selection, known: Known) -> None:
        self._selection = selection
        self._known = known
        self._resume: Mapping[Resource, str] = {
            Resource.parse(name): version
            for name, version in known.resume_points().items()
        }
        self._followers: dict[Resource, Follower] = {}
        self._tasks: dict[Resource, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        # Where a removed kind may continue: the epoch, and a version of it.
        self._gone: dict[Resource, tuple[int, str]] = {}

    def followers(self) -> Collection[Follower]:
        """Return everything that is being followed."""
        return list(self._followers.values())

    def served_changed(self) -> None:
        """Note that what the cluster serves may have changed."""
        self._changed.set()

    async def run(self, group: asyncio.TaskGroup, shared: Shared) -> None:
        """Keep the reflectors in step with the cluster, forever."""
        await self._apply(await self._first(shared), group, shared)
        settings = shared.settings
        pauses: Sequence[float] = ()
        while True:
            await self._wait(
                pauses[0] if pauses else settings.rediscover_every
            )
            pauses = pauses[1:]
            if self._changed.is_set():
                self._changed.clear()
                pauses = settings.rediscover_after
                continue
            try:
                discovered = await discover(shared.client)
            except RequestError:
                # Each reflector reports what it cannot reach by itself.
                continue
            await self._apply(discovered, group, shared)

    async def _wait(self, longest: float) -> None:
        """Wait for a change, at most for a time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._changed.wait()

    async def _first(self, shared: Shared) -> Discovered:
        """Discover for the first time; report a failure for each resource."""
        settings = shared.settings
        backoff = Backoff(
            settings.backoff_first,
            settings.backoff_longest,
            jitter=shared.random,
        )
        reported = ""
        while True:
            try:
                return await discover(shared.client)
            except RequestError as error:
                if str(error) != reported:
                    reported = str(error)
                    await self._report(error, shared)
            await asyncio.sleep(backoff.delay())

    async def _report(self, error: RequestError, shared: Shared) -> None:
        observers = [
            self._observer(resource, shared) for resource in self._resume
        ]
        await shared.outlet.put(
            [observer.failed(error) for observer in observers]
        )

    async def _apply(
        self, found: Discovered, group: asyncio.TaskGroup, shared: Shared
    ) -> None:
        targets = self._selection.choose(
            found.served, prefer=[*self._resume, *self._followers]
        )
        for resource in [*self._followers, *self._resume]:
            if resource not in targets and resource.group not in found.broken:
                await self._drop(resource, shared)
        new = [t for r, t in targets.items() if r not in self._followers]
        spread = shared.settings.start_spread / max(1, len(new))
        for rank, target in enumerate(new):
            follower = Follower(target, self._place(target, shared))
            self._followers[target.resource] = follower
            after = spread * (rank + shared.random.random())
            self._tasks[target.resource] = group.create_task(
                Reflector(
                    follower,
                    shared,
                    is_new=self._known.is_new(target.resource),
                ).run(after=after),
                name=f"follow {target.resource}",
            )
        # Resources that start later start with a list, except those in groups
        # that discovery could not read yet.
        self._resume = {
            resource: version
            for resource, version in self._resume.items()
            if resource.group in found.broken
            and resource not in self._followers
        }

    def _place(self, target: Target, shared: Shared) -> str | None:
        """Return where to continue; None if a list must come first."""
        epoch, version = self._gone.pop(target.resource, (-1, None))
        if epoch != shared.outlet.epoch:
            version = None
        return self._resume.get(target.resource, version)

    async def _drop(self, resource: Resource, shared: Shared) -> None:
        follower = self._followers.get(resource)
        if follower is None:
            target = Target(resource=resource, kind="")
            if await self._is_gone(target, shared):
                closed = self._observer(resource, shared).closed(ABSENT)
                await shared.outlet.put([closed])
        elif await self._is_gone(follower.target, shared):
            del self._followers[resource]
            task = self._tasks.pop(resource)
            follower.finish(ABSENT)
            if follower.opening or follower.streaming:
                # The server ends the watch after its last frames, which may
                # still be on their way: the deletion of every object.
                await asyncio.wait([task], timeout=shared.settings.last_frames)
            epoch, place = shared.outlet.epoch, follower.place
            version = await undefined_at(
                shared.client, follower.target, place.completed or place.former
            )
            # Its remaining observations must come before any of a successor of
            # the same name.
            follower.interrupt(ABSENT)
            await asyncio.wait([task])
            if version is not None:
                await self._begin_at(follower, epoch, version, shared)

    async def _begin_at(
        self, follower: Follower, epoch: int, version: str, shared: Shared
    ) -> None:
        """Let a removed kind continue from where none of its objects existed.

        Unless history was rewound since then.
        """
        resource = follower.target.resource
        nothing = self._observer(resource, shared).nothing_at(version)
        with suppress(RequestError, EpochOverError):
            await shared.guard.confirm(follower)
            await shared.outlet.put([nothing], epoch=epoch)
            self._gone[resource] = epoch, version

    def _observer(self, resource: Resource, shared: Shared) -> Observer:
        return Observer(Target(resource=resource, kind=""), shared.clock)

    async def _is_gone(self, target: Target, shared: Shared) -> bool:
        try:
            await list_head(shared.client, target)
        except MissingError:
            return True
        except RequestError:
            return False
        return False
