"""Processes that work at parts of a log, one for each core.

They end with the one that began them: each tells something after every piece
of its work, and ends when nobody listens.
"""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from recorder.collector import calm_collector
from recorder.errors import LogError, RecorderError

__all__ = ["LISTEN_SECONDS", "Tell", "Worker", "WorkerFailedError"]

LISTEN_SECONDS = 0.2
"""How often to ask what workers have told."""

Tell = Callable[[Any], None]


class WorkerFailedError(LogError):
    """A process that worked at a part of a log failed."""

    code = "log.worker_failed"


class _Failed(str):
    """In words, why a worker ended."""

    __slots__ = ()


class Worker:
    """A process that does one piece of work."""

    def __init__(
        self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any
    ) -> None:
        """Start it; ``work`` also gets ``tell``, which takes any value."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_do, args=(work, arguments, theirs), daemon=True
        )
        self._process.start()
        theirs.close()
        self.is_done = False

    def heard(self) -> list[Any]:
        """Return what it told since.

        Raises:
            WorkerFailedError: it failed, or ended without being done.
        """
        told: list[Any] = []
        try:
            while not self.is_done and self._pipe.poll():
                one = self._pipe.recv()
                if isinstance(one, _Failed):
                    raise WorkerFailedError(one)
                if one is None:
                    self._process.join()
                    self.is_done = True
                else:
                    told.append(one)
        except EOFError as exc:
            msg = (
                "a worker process ended early: run the same command again,"
                " it resumes where it stopped"
            )
            raise WorkerFailedError(msg) from exc
        return told

    def end(self) -> None:
        """End it; what it has not committed did not happen."""
        self._process.terminate()
        self._process.join()


def _do(
    work: Callable[..., Coroutine[Any, Any, None]],
    arguments: tuple[Any, ...],
    pipe: Connection,
) -> None:
    # Ctrl-C is for who waits; that one ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calm_collector()
    try:
        asyncio.run(work(*arguments, tell=pipe.send))
        pipe.send(None)
    except (BrokenPipeError, ConnectionResetError):
        return
    except RecorderError as exc:
        pipe.send(_Failed(str(exc)))
