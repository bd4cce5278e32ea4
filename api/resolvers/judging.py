"""Judges a log again as it grows, once for all who may read everything.

One task for each log judges its last day when facts come, for at most a third
of the time. The latest answer is kept, not queued: each subscriber compares it
with the one that it got last. A slow subscriber skips answers, and none takes
more memory than the answer itself.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
)
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

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
from recorder.answers.job_questions import JobsQuestion
from recorder.answers.jobs import Disruptions, ask_disruptions
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.explain.knowledge import Knowledge
from recorder.model.errors import RecorderError
from recorder.model.window import Window

SUBSCRIBERS_MAX = 500
"""Each holds its last answer: some kilobytes for an incident."""

Place = tuple[str | None, int | None]
Answer = TypeVar("Answer")
Ask = Callable[[Reading, Knowledge, datetime], Awaitable[Answer]]
"""Judges a log, as of now."""

Key = tuple[int, int | None, Ask[Any]]
"""A log, the subscriber unless it may read everything, and the question."""


async def incidents_of_last_day(
    reading: Reading, knowledge: Knowledge, now: datetime
) -> Incidents:
    """Return the incidents of the last day of a log."""
    window = Window(last_day(reading, None), None)
    asked = IncidentsQuestion(window=window)
    return await ask_incidents(reading, asked, knowledge, now=now)


async def disruptions_of_last_day(
    reading: Reading, knowledge: Knowledge, now: datetime
) -> Disruptions:
    """Return what ended workloads on the last day of a log."""
    window = Window(last_day(reading, None), None)
    asked = JobsQuestion(window=window)
    return await ask_disruptions(reading, asked, knowledge, now=now)


class _Watched(Generic[Answer]):
    """One watched log, and its latest answer."""

    def __init__(self, number: int, who: Principal, ask: Ask[Answer]) -> None:
        self.number = number
        self.who = who
        self.ask = ask
        self.listeners = 0
        self.task: asyncio.Task[None]
        self.found: Answer | None = None
        self.failed: RecorderError | None = None
        self._next = asyncio.Event()

    @property
    def key(self) -> Key:
        """The key under which subscribers share it."""
        # Rights change: what a caller with rights could read a while ago, the
        # next subscription of the same caller may not.
        own = None if self.who.rights is None else id(self)
        return self.number, own, self.ask

    def publish(self, found: Answer | RecorderError) -> None:
        """Publish an answer, or the error that ends the subscriptions."""
        if isinstance(found, RecorderError):
            self.failed = found
        else:
            self.found = found
        published, self._next = self._next, asyncio.Event()
        published.set()

    async def news(self) -> AsyncIterator[Answer]:
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
    """All logs that are watched, each once for each question."""

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
        self._watched: dict[Key, _Watched[Any]] = {}

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

    def _end(self, watched: _Watched[Any]) -> None:
        """Stop judging a log; the next subscriber starts again."""
        if self._watched.get(watched.key) is watched:
            del self._watched[watched.key]
            if watched.task is not asyncio.current_task():
                watched.task.cancel()

    async def watch(
        self, place: Place, who: Principal, ask: Ask[Answer]
    ) -> AsyncGenerator[Answer, None]:
        """Yield the answer to a question, again when facts come.

        Of what the caller may see.

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
        watched = self._of(reading, who, ask)
        watched.listeners += 1
        try:
            async for found in watched.news():
                yield found
        finally:
            watched.listeners -= 1
            if not watched.listeners:
                self._end(watched)

    def _of(
        self, reading: Reading, who: Principal, ask: Ask[Answer]
    ) -> _Watched[Answer]:
        watched = _Watched(reading.log.id, who, ask)
        known = cast(
            "_Watched[Answer]",
            self._watched.setdefault(watched.key, watched),
        )
        if known is watched:
            assert self._group is not None, "entered before it is asked"
            work = self._attend(watched, reading)
            watched.task = self._group.create_task(work)
        return known

    async def _attend(self, watched: _Watched[Any], reading: Reading) -> None:
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

    async def _judged(self, watched: _Watched[Answer]) -> Answer:
        async def ask(logs: Logs) -> Answer:
            reading = await logs.read(watched.number)
            return await watched.ask(
                reading, self._knowledge, datetime.now(UTC)
            )

        return await self._workers.answer(watched.who, ask)


def _stopping() -> StoppingError:
    return StoppingError("the server is stopping: reconnect")
