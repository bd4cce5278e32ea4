"""Judges a log again as it grows, once for all who may read everything.

One task for each log judges its last day when facts come, for at most a third
of the time. The latest answer is kept, not queued: each subscriber compares it
with the one that it got last. A slow subscriber skips answers, and none takes
more memory than the answer itself.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from api.access import ForbiddenError, Principal
from api.errors import (
    BusyError,
    InternalError,
    StoppingError,
    unforeseen,
)
from api.ports import Logs
from api.resolvers.visible.logs import visible
from api.resolvers.workers import Workers
from recorder.answers.beginning import last_day
from recorder.answers.growing import attend
from recorder.answers.incidents import Incidents, ask_incidents
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.explain.knowledge import Knowledge
from recorder.model.errors import RecorderError
from recorder.model.window import Window

__all__ = ["Judging"]

SUBSCRIBERS_MAX = 500
"""Each holds its last answer: some kilobytes for an incident."""

Place = tuple[str | None, int | None]
Key = tuple[int, int | None]
"""A log, and the subscriber unless it may read everything."""


class _Watched:
    """One watched log, and its latest answer."""

    def __init__(self, number: int, who: Principal) -> None:
        self.number = number
        self.who = who
        self.listeners = 0
        self.task: asyncio.Task[None]
        self.found: Incidents | None = None
        self.failed: RecorderError | None = None
        self._next = asyncio.Event()

    @property
    def key(self) -> Key:
        """The key under which subscribers share it."""
        # Rights change: what a caller with rights could read a while ago, the
        # next subscription of the same caller may not.
        return self.number, None if self.who.rights is None else id(self)

    def publish(self, found: Incidents | RecorderError) -> None:
        """Publish an answer, or the error that ends the subscriptions."""
        if isinstance(found, RecorderError):
            self.failed = found
        else:
            self.found = found
        published, self._next = self._next, asyncio.Event()
        published.set()

    async def news(self) -> AsyncIterator[Incidents]:
        """Yield the latest answer whenever there is a new one."""
        last = None
        while True:
            coming = self._next
            if self.failed is not None:
                raise self.failed
            if self.found is not None and self.found is not last:
                last = self.found
                yield last
            else:
                await coming.wait()


class Judging:
    """All logs whose incidents are watched."""

    def __init__(
        self,
        logs: Logs,
        workers: Workers,
        knowledge: Knowledge,
        stop: asyncio.Event,
    ) -> None:
        self._logs = logs
        self._workers = workers
        self._knowledge = knowledge
        self._stop = stop
        self._group: asyncio.TaskGroup | None = None
        self._watched: dict[Key, _Watched] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Judge while entered."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            stopping = group.create_task(self._stopped())
            try:
                yield
            finally:
                self._stop.set()
                self._release()
                stopping.cancel()

    async def _stopped(self) -> None:
        await self._stop.wait()
        self._release()

    def _release(self) -> None:
        for watched in [*self._watched.values()]:
            watched.publish(_stopping())
            self._end(watched)

    def _end(self, watched: _Watched) -> None:
        """Stop judging a log; the next subscriber starts again."""
        if self._watched.get(watched.key) is watched:
            del self._watched[watched.key]
            if watched.task is not asyncio.current_task():
                watched.task.cancel()

    async def watch(
        self, place: Place, who: Principal
    ) -> AsyncGenerator[Incidents, None]:
        """Yield the incidents of the last day, again when facts come.

        Only those that the caller may see.

        Raises:
            NotFoundError: there is no such log.
            BusyError: there are too many subscriptions.
        """
        cluster, number = place
        logs = visible(self._logs, who)
        reading = await logs.read(number, cluster=cluster)
        if self._stop.is_set():
            raise _stopping()
        listening = sum(one.listeners for one in self._watched.values())
        if listening >= SUBSCRIBERS_MAX:
            msg = "too many subscriptions are open: try again later"
            raise BusyError(msg)
        watched = self._of(reading, who)
        watched.listeners += 1
        try:
            async for found in watched.news():
                yield found
        finally:
            watched.listeners -= 1
            if not watched.listeners:
                self._end(watched)

    def _of(self, reading: Reading, who: Principal) -> _Watched:
        watched = _Watched(reading.log.id, who)
        known = self._watched.setdefault(watched.key, watched)
        if known is watched:
            assert self._group is not None, "entered before it is asked"
            work = self._attend(watched, reading)
            watched.task = self._group.create_task(work)
        return known

    async def _attend(self, watched: _Watched, reading: Reading) -> None:
        """Judge when facts come, until cancelled."""

        async def judge(_: Reading) -> bool:
            watched.publish(await self._judged(watched))
            return True

        try:
            async with self._logs.bell(reading) as bell:
                await attend(reading, bell, judge, ends=(ForbiddenError,))
        except ForbiddenError as exc:
            watched.publish(exc)
        except Exception as exc:  # noqa: BLE001 - sent as a number
            watched.publish(InternalError(unforeseen(exc)))
        finally:
            self._end(watched)

    async def _judged(self, watched: _Watched) -> Incidents:
        async def ask(logs: Logs) -> Incidents:
            reading = await logs.read(watched.number)
            return await ask_incidents(
                reading,
                IncidentsQuestion(
                    window=Window(last_day(reading, None), None)
                ),
                self._knowledge,
                now=datetime.now(UTC),
            )

        return await self._workers.answer(watched.who, ask)


def _stopping() -> StoppingError:
    return StoppingError("the server is stopping: reconnect")
