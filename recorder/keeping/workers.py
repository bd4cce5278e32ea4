"""Processes that work on parts of a log, one for each core.

They end with the process that started them: each reports after every piece
of its work, and ends when nothing reads its reports.
"""

import asyncio
import multiprocessing
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from recorder.keeping.collector import calm_collector
from recorder.model.errors import LogError, RecorderError

LISTEN_SECONDS = 0.2
"""How often to read what workers have reported."""

Report = Callable[[Any], None]
Work = Callable[..., Coroutine[Any, Any, None]]


async def in_processes(
    work: Work,
    jobs: Sequence[tuple[Any, ...]],
    stop: asyncio.Event,
    *,
    most: int,
) -> AsyncGenerator[tuple[int, Any], None]:
    """Do each job in a process; yield its number with each report.

    Args:
        work: what is done; it also gets ``report``, which takes any value.
        jobs: the other arguments of each.
        stop: ends all processes; what they have not committed is lost.
        most: processes that run at the same time.

    Raises:
        LogError: a process failed, or ended without being done.
    """
    waiting = list(enumerate(jobs))
    running: dict[int, _Worker] = {}
    try:
        while (waiting or running) and not stop.is_set():
            while waiting and len(running) < most:
                number, arguments = waiting.pop(0)
                running[number] = _Worker(work, arguments)
            await asyncio.sleep(LISTEN_SECONDS)
            for number, worker in list(running.items()):
                for report in worker.reports():
                    yield number, report
                if worker.is_done:
                    del running[number]
    finally:
        for worker in running.values():
            worker.end()


class _Failed(str):
    """Why a worker ended, in words."""

    __slots__ = ()


class _Worker:
    """A process that does one job."""

    def __init__(self, work: Work, arguments: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_do, args=(work, arguments, theirs), daemon=True
        )
        self._process.start()
        theirs.close()
        self.is_done = False

    def reports(self) -> list[Any]:
        """Return what it has reported since the last call.

        Raises:
            LogError: it failed, or ended without being done.
        """
        found: list[Any] = []
        try:
            while not self.is_done and self._pipe.poll():
                one = self._pipe.recv()
                if isinstance(one, _Failed):
                    raise LogError(one, code="log.worker_failed")
                if one is None:
                    self._process.join()
                    self.is_done = True
                else:
                    found.append(one)
        except EOFError as exc:
            msg = (
                "a worker process ended early: run the same command again,"
                " it resumes where it stopped"
            )
            raise LogError(msg, code="log.worker_failed") from exc
        return found

    def end(self) -> None:
        """End it; what it has not committed is lost."""
        self._process.terminate()
        self._process.join()


def _do(work: Work, arguments: tuple[Any, ...], pipe: Connection) -> None:
    # Ctrl-C reaches the process that started this one, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calm_collector()
    try:
        asyncio.run(work(*arguments, report=pipe.send))
        pipe.send(None)
    except (BrokenPipeError, ConnectionResetError):
        return
    except RecorderError as exc:
        pipe.send(_Failed(str(exc)))
