"""Following one resource: list once, then watch, and resume after any end.

The loops are nested, one kind of ending each. `Reflector.run` ends only with
its resource; `_follow` lasts until its history ends, through every version
that expires; `_until_expired` retries every failed request; `_watch` is one
request. Everything that happens is reported by observations only.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from recorder.model.observation import EXPIRED, Observation
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import (
    ExpiredError,
    MissingError,
    RequestError,
    UnreachableError,
)
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.frames import Frame
from recorder.sources.watch.lateness import behind
from recorder.sources.watch.listing import list_pages
from recorder.sources.watch.outlet import EpochOverError, Outlet
from recorder.sources.watch.pacing import Pacing
from recorder.sources.watch.reach import BEGINNING, Reach
from recorder.sources.watch.recalling import Portion, with_recalled
from recorder.sources.watch.rewind import RewindGuard
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.stream import WatchStream, open_watch
from recorder.sources.watch.telling import Observer
from recorder.sources.watch.walks import Walks

CRD_PLURAL = "customresourcedefinitions"

FRAMES_AT_ONCE = 100
"""Recovered frames that are put at a time, so that the queue bounds them."""

_PUNCTUAL = 0.98
"""A stream that lasted this part of its requested time was ended by the
server's clock, and not by a server that shuts down or that dropped us as too
slow. Such a server may have held back frames, so its end proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the reflectors of one source have in common."""

    client: ClusterClient
    outlet: Outlet
    guard: RewindGuard
    lists: asyncio.Semaphore
    random: random.Random
    walks: Walks
    served_changed: Callable[[], None]
    """Called when what the cluster serves may have changed."""

    @property
    def settings(self) -> WatchSettings:
        """The settings of the client."""
        return self.client.settings

    @property
    def clock(self) -> Clock:
        """The clock of the client."""
        return self.client.clock


class Reflector:
    """Follows one resource."""

    def __init__(
        self, follower: Follower, shared: Shared, *, is_new: bool
    ) -> None:
        """Prepare to follow; ``is_new`` if the log has no list of it."""
        self._follower = follower
        self._place = follower.place
        self._target = follower.target
        self._shared = shared
        self._settings = shared.settings
        self._clock = shared.clock
        self._observer = Observer(follower.target, shared.clock)
        self._pacing = Pacing(
            follower, self._settings, self._clock, shared.random
        )
        self._epoch = 0
        shared.walks.follow(follower.target, follower.place.completed)
        self._reach = Reach(self._settings)
        if is_new:
            self._reach.begin(BEGINNING)
        # The last reported failure, so that an outage of a day is reported
        # once.
        self._reported: tuple[int, str] | None = None

    async def run(self, *, after: float = 0.0) -> None:
        """Follow the resource until it is stopped.

        ``after`` is how long to wait before a first list, in seconds.
        """
        if self._place.completed is not None:
            after = 0.0
        while not self._follower.stopped:
            async with self._follower.interruptible():
                await asyncio.sleep(after)
                after = 0.0
                await self._follow()
            if reason := self._follower.take_reason():
                await self._put(self._observer.closed(reason))

    async def _follow(self) -> None:
        """Follow one history of the cluster to its end."""
        if self._epoch != self._shared.outlet.epoch:
            # What the log holds belongs to a history that is over.
            self._reach.end()
        self._epoch = self._shared.outlet.epoch
        while not self._follower.stopped:
            try:
                await self._until_expired()
            except EpochOverError:
                return
            except ExpiredError as error:
                self._follower.lose()
                await self._put(self._observer.closed(EXPIRED))
                self._reach.begin(self._place.completed, error.oldest)
                self._place.forget()

    async def _until_expired(self) -> None:
        """Retry after failures until our version has expired."""
        while not self._follower.stopped:
            try:
                if self._place.completed is None:
                    await self._list()
                await self._watch(self._place.completed or "")
            except ExpiredError:
                if self._place.completed is not None:
                    raise
                await asyncio.sleep(self._pacing.backoff.delay())
            except RequestError as error:
                self._follower.opening = False
                if isinstance(error, UnreachableError):
                    self._reach.interrupted()
                await self._report_failure(error)
                await asyncio.sleep(self._pacing.delay(error))

    async def _list(self) -> None:
        """Find a place to watch from, by a list if necessary."""
        version, until, reach = "", await self._walk(), self._reach
        if until is None:
            return
        pages = list_pages(self._shared.client, self._target, version=until)
        async with reach.listing(), self._shared.lists, aclosing(pages):
            async for page in pages:
                heard_at = self._clock.monotonic()
                await self._confirm(new=not version)
                self._follower.heard_at = heard_at
                arrived = self._clock.shown_at(heard_at)
                await self._put_seen(self._observer.page(page, arrived))
                self._shared.walks.listed(self._target, page)
                version = page.version
        self._place.reached(version)
        self._follower.lists += 1
        self._follower.head = None
        self._follower.followed = True
        self._is_healthy()

    async def _walk(self) -> str | None:
        """Put what can still be read of the history that was missed.

        Returns the version at which to list, empty for any; None if the watch
        can continue because nothing is missing.
        """
        walks, reach = self._shared.walks, self._reach
        if reach.since is None:
            return ""
        seconds = walks.seconds(self._target, reach.since)
        now = self._clock.monotonic
        deadline = reach.deadline(now(), seconds)
        while now() < deadline:
            report = await walks.walk(self._target, reach, deadline)
            if report is None:
                break
            await self._confirm(new=True)
            for start in range(0, len(report.frames), FRAMES_AT_ONCE):
                portion = report.frames[start : start + FRAMES_AT_ONCE]
                await self._put_seen(portion)
            if report.walked is not None:
                await self._put_seen([report.walked])
            reach.put(report.outcome, report.until)
            if report.more:
                continue
            if report.walked is not None and report.walked.resumes:
                self._place.reached(report.until)
                return None
            return report.until
        return walks.listed_at(self._target, reach) if seconds else ""

    async def _watch(self, version: str) -> None:
        """Watch once, until the server ends the request."""
        seconds = self._pacing.duration()
        began = self._clock.monotonic()
        self._follower.opening = True
        async with open_watch(
            self._shared.client,
            self._target,
            version,
            seconds=seconds,
            idle=self._pacing.idle(seconds),
        ) as stream:
            await self._confirm(new=True)
            self._follower.streaming, self._follower.proven = True, False
            self._follower.opened_at = self._clock.monotonic()
            self._place.begin_again()
            await self._read(stream)
        self._follower.opening = False
        lasted = self._clock.monotonic() - began
        latest = seconds + self._settings.idle_grace
        if seconds * _PUNCTUAL <= lasted <= latest:
            await self._ended_cleanly(began)
        else:
            await self._ended_early()
        await asyncio.sleep(max(0.0, self._settings.watch_again - lasted))

    async def _read(self, stream: WatchStream) -> None:
        follower = self._follower
        async with aclosing(stream.portions()) as portions:
            async for came in portions:
                heard_at = self._clock.monotonic()
                marked, follower.head = behind(came, follower.head)
                portion = await self._recalled(marked)
                frames = [f for f in portion if isinstance(f, Frame)]
                resumed = self._resumed() if frames else []
                observed = [*resumed, *self._observer.portion(portion)]
                if follower.touched is not None:
                    # Before the sink has it, or the reconciler could see the
                    # effect and not the cause.
                    follower.touched.update(f.uid for f in frames)
                await self._put_seen(observed)
                for frame in frames:
                    self._move(frame)
                    self._shared.walks.saw(
                        self._target, frame.version, frame.object
                    )
                for frame in frames[-2:]:
                    self._shared.guard.remember(self._target.resource, frame)
                follower.heard_at = heard_at
                if self._target.resource.plural == CRD_PLURAL:
                    self._shared.served_changed()

    async def _recalled(self, portion: Portion) -> Portion:
        """Read the damaged frames of a portion again."""
        client, minute = self._shared.client, self._shared.walks.minute
        read = await with_recalled(client, self._target, portion, minute)
        if len(read) > len(portion):
            # A restored etcd may return another document of the same version.
            await self._confirm(new=True)
        return read

    def _move(self, frame: Frame) -> None:
        """Move the place; only what the sink has taken may count."""
        if frame.type == "BOOKMARK":
            self._follower.marked = True
            self._place.reached(frame.version)
        else:
            self._place.saw(frame.version)

    async def _ended_cleanly(self, began: float) -> None:
        self._follower.heard_at = self._clock.monotonic()
        resumed = self._resumed()
        await self._put_seen([*resumed, self._observer.closed("timeout")])
        self._follower.clean_since = began
        self._follower.streaming = False

    def _lose(self) -> None:
        self._follower.lose()
        self._shared.guard.note_loss()
        self._shared.walks.lost(self._target)

    async def _ended_early(self) -> None:
        proven = self._follower.proven
        self._lose()
        await self._put(self._observer.closed("ended early"))
        if not proven:
            await asyncio.sleep(self._pacing.backoff.delay())

    def _resumed(self) -> Sequence[Observation]:
        """Note, once for each watch, that the server accepted our version.

        The status of the response does not show it: an expired version is
        reported after it, in the first frame.
        """
        if self._follower.proven:
            return []
        self._follower.proven = self._follower.live = True
        self._reach.end()
        self._shared.walks.heard(self._target)
        self._is_healthy()
        return [self._observer.resumed()]

    def _is_healthy(self) -> None:
        self._pacing.healthy()
        self._reported = None

    async def _confirm(self, *, new: bool) -> None:
        """Make sure that the history is still the recorded one.

        Called after the server has responded and before its response is put: a
        rewind ends the connections of a server, so nothing can have been
        rewound between the response and what comes over it.

        ``new`` is whether this is another connection than before; for the
        pages of one list it is enough that none was lost.
        """
        guard, follower = self._shared.guard, self._follower
        if new:
            may_differ = not guard.stayed_connected(follower)
        else:
            may_differ = guard.lost_since(follower.heard_at)
        if may_differ:
            follower.lost = True
        if follower.lost:
            await guard.confirm(follower)

    async def _report_failure(self, error: RequestError) -> None:
        streaming = self._follower.streaming
        self._lose()
        if streaming:
            await self._put(self._observer.closed(str(error)))
            return
        self._pacing.failed(error)
        if isinstance(error, MissingError):
            # If it is true, discovery confirms it and ends this.
            self._shared.served_changed()
        failure = error.reported_status, str(error)
        if failure != self._reported and not self._pacing.is_patient(error):
            self._reported = failure
            await self._put(self._observer.failed(error))
            if isinstance(error, MissingError):
                # The log concludes that none of its objects exists any more.
                self._place.forget()

    async def _put(self, observation: Observation) -> None:
        """Put what is true in any epoch: that a connection ended."""
        await self._shared.outlet.put([observation])

    async def _put_seen(self, observations: Sequence[Observation]) -> None:
        """Put what belongs to the followed history."""
        await self._shared.outlet.put(observations, epoch=self._epoch)
