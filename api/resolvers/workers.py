"""Worker threads that answer questions, each with an event loop.

Judging a day of a fleet takes seconds of computing. The loop that serves
clients does none of it, so that a slow question delays only its own client.
Each worker answers one question at a time over its own connections.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from threading import Thread
from typing import TypeVar

import uvloop

from api.access import Principal
from api.errors import BusyError, TooLateError
from api.ports import Logs
from api.resolvers.visible.logs import visible
from recorder.model.decoding import prepare_decoding

WORKERS = 4
CONNECTIONS = 3
"""Of each worker: fields of one query are resolved concurrently."""

WAITING_MAX = 200
"""Questions in the queue; with more, clients give up before the answer."""

WAIT = timedelta(seconds=10)
ANSWER_TIME_MAX = timedelta(seconds=30)
STATEMENT_TIME_MAX = timedelta(seconds=10)

Answer = TypeVar("Answer")


class Workers:
    """The worker threads, and the queue for them."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._waiting = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run them while entered."""
        prepare_decoding()
        async with AsyncExitStack() as stack:
            for number in range(WORKERS):
                worker = _Worker(number, self._logs)
                stack.push_async_callback(worker.stop)
                self._idle.put_nowait(worker)
            yield

    async def answer(
        self, who: Principal, ask: Callable[[Logs], Awaitable[Answer]]
    ) -> Answer:
        """Answer a question, of the logs that the caller may see.

        Raises:
            BusyError: too many questions wait, or no worker became free in
                time.
            TooLateError: the answer took too long; its work is cancelled as
                soon as it awaits something.
        """
        worker = await self._free()
        loop = asyncio.get_running_loop()

        def free() -> None:
            loop.call_soon_threadsafe(self._idle.put_nowait, worker)

        async def asked() -> Answer:
            try:
                return await ask(visible(worker.logs, who))
            finally:
                await worker.logs.rest()

        # Freed by the worker itself: after a timeout it may still be
        # computing, and must not get another question.
        begun = worker.begin(asked, free)
        try:
            async with asyncio.timeout(ANSWER_TIME_MAX.total_seconds()):
                return await asyncio.wrap_future(begun)
        except TimeoutError as exc:
            msg = (
                f"not answered within {ANSWER_TIME_MAX.total_seconds():g} s:"
                " ask for a shorter time, or for one node or object"
            )
            raise TooLateError(msg) from exc

    async def _free(self) -> "_Worker":
        if self._waiting >= WAITING_MAX:
            msg = "too many queries are waiting: try again"
            raise BusyError(msg)
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT.total_seconds()):
                return await self._idle.get()
        except TimeoutError as exc:
            msg = (
                "too many queries are running, and none finished"
                f" within {WAIT.total_seconds():g} s: try again"
            )
            raise BusyError(msg) from exc
        finally:
            self._waiting -= 1


class _Worker:
    """One thread, its loop, and its connections."""

    def __init__(self, number: int, logs: Logs) -> None:
        self._loop = uvloop.new_event_loop()
        self.logs = logs.beside(
            connections=CONNECTIONS, statement_timeout=STATEMENT_TIME_MAX
        )
        self._thread = Thread(
            target=self._run, name=f"answers-{number}", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def begin(
        self,
        work: Callable[[], Awaitable[Answer]],
        then: Callable[[], None],
    ) -> "Future[Answer]":
        """Start work; call `then` when it ends or is cancelled.

        Cancelling the returned future cancels the work.
        """
        answer: Future[Answer] = Future()

        def start() -> None:
            task = self._loop.create_task(_settled(work, answer))
            task.add_done_callback(lambda _: then())
            answer.add_done_callback(
                lambda _: self._loop.call_soon_threadsafe(task.cancel)
            )

        self._loop.call_soon_threadsafe(start)
        return answer

    async def stop(self) -> None:
        # Work that still computes ends with the process.
        closing = self.begin(self.logs.close, lambda: None)
        try:
            async with asyncio.timeout(1):
                await asyncio.wrap_future(closing)
        except TimeoutError:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join, 1)


async def _settled(
    work: Callable[[], Awaitable[Answer]], answer: "Future[Answer]"
) -> None:
    """Await the work, and set the answer unless it was cancelled."""
    try:
        found = await work()
    except BaseException as exc:  # noqa: BLE001 - sent to the caller
        with suppress(InvalidStateError):
            answer.set_exception(exc)
    else:
        with suppress(InvalidStateError):
            answer.set_result(found)
