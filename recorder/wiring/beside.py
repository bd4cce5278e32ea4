"""Processes beside the one that records, ending with it.

They are the commands `recorder serve` and `recorder notify`. Their standard
input is a pipe that nothing is written to: where this process ends, however
that is, the pipe closes and the others end too.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import fields, replace
from datetime import timedelta

from recorder.errors import RecorderError
from recorder.settings import PREFIX, Settings

__all__ = [
    "ServedEndedError",
    "environment_of",
    "notified_beside",
    "served_beside",
]

END = timedelta(seconds=10)
BEGIN = timedelta(seconds=30)
AGAIN = timedelta(seconds=30)


class ServedEndedError(RecorderError):
    """The process that serves ended by itself."""

    code = "served.ended"


class Beside:
    """The process that serves."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.failed: RecorderError | None = None
        """Why it ended, where nobody wanted it to."""

    async def address(self) -> str:
        """Wait for the address of the page.

        Raises:
            ServedEndedError: it ended instead, and said why.
        """
        out = self._process.stdout
        assert out is not None, "made with a pipe"
        try:
            async with asyncio.timeout(BEGIN.total_seconds()):
                line = await out.readline()
        except TimeoutError as exc:
            msg = f"the page was not served within {BEGIN.total_seconds():g} s"
            raise ServedEndedError(msg) from exc
        if not line:
            await self.ended()
        return line.decode().strip()

    async def ended(self) -> None:
        """Wait until it ends.

        Raises:
            ServedEndedError: always; nothing but an end here is expected.
        """
        status = await self._process.wait()
        msg = (
            f"the process that serves the page ended with status {status};"
            " `recorder record` records without it"
        )
        raise ServedEndedError(msg)


@asynccontextmanager
async def served_beside(settings: Settings) -> AsyncIterator[Beside]:
    """Serve in a process of its own while entered."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        "serve",
        "--beside",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment_of(settings),
    )
    try:
        yield Beside(process)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await _ended(process)


@asynccontextmanager
async def notified_beside(
    settings: Settings, *, with_api: bool, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Notify in a process of its own while entered, if there are rules.

    With a database of somebody else's only beside the API: where both halves
    are deployed apart, this is too.

    It never ends the recording: where it ends itself, that is said, and it
    is started again.
    """
    is_apart = settings.database_url is not None and not with_api
    if settings.notify_file is None or is_apart:
        yield
        return
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_notify_again_and_again(settings, say))
        try:
            yield
        finally:
            task.cancel()


async def _notify_again_and_again(
    settings: Settings, say: Callable[[str], None]
) -> None:
    while True:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "recorder",
            "notify",
            "--beside",
            stdin=asyncio.subprocess.PIPE,
            env=environment_of(settings),
        )
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await _ended(process)
        say(
            f"the process that notifies ended with status {status}; it is"
            f" started again in {AGAIN.total_seconds():g} s"
        )
        await asyncio.sleep(AGAIN.total_seconds())


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process that was asked to end."""
    try:
        async with asyncio.timeout(END.total_seconds()):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def environment_of(settings: Settings) -> Mapping[str, str]:
    """Return the settings to the other process as they are here."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
    # What is served beside a recorder is its own database.
    settings = replace(settings, clusters_file=None)
    given = {
        PREFIX + field.name.upper(): _written(getattr(settings, field.name))
        for field in fields(settings)
        if getattr(settings, field.name) not in (None, ())
    }
    return {**kept, **given}


def _written(value: object) -> str:
    match value:
        case tuple():
            return ",".join(value)
        case timedelta():
            return f"{value.total_seconds():g}s"
        case bool():
            return str(value).lower()
        case _:
            return str(value)
