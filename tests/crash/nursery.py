"""Where children come from: a process that has imported everything.

It reads a job from a line, forks, and reports on lines of its own which
process took the job and how that ended. A fork takes milliseconds; a new
interpreter would take a second, most of it to import what all of them need.
"""

import asyncio
import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.crash.child import Job, record

__all__ = ["Nursery", "nursery"]

_PR_SET_PDEATHSIG = 1

ROOT = Path(__file__).parents[2]


class Nursery:
    """A running one; it raises one child at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def start(self, job: Job) -> int:
        """Start a child; return its number."""
        assert self._process.stdin is not None
        self._process.stdin.write(job.written().encode() + b"\n")
        return int(await self._line())

    async def ended(self) -> tuple[int, str]:
        """Wait for the child; return its status, negative if killed, and what
        it said of that."""
        status, said = json.loads(await self._line())
        return status, said

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        assert line, "the nursery lives"
        return line


@asynccontextmanager
async def nursery() -> AsyncIterator[Nursery]:
    """Keep one, with no child left behind."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        process_group=0,
    )
    try:
        yield Nursery(process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _die_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _raise_children() -> None:
    _die_with_the_parent()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _live(Job.parse(line), writing)
        os.close(writing)
        print(child, flush=True)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        print(json.dumps([ended, said]), flush=True)


def _live(job: Job, errors: int) -> None:
    _die_with_the_parent()
    status = 1
    try:
        record(job)
        status = 0
    except BaseException:  # noqa: BLE001 - a child ends here, whatever it is
        os.write(errors, traceback.format_exc().encode()[-8000:])
    finally:
        os._exit(status)


if __name__ == "__main__":
    _raise_children()
