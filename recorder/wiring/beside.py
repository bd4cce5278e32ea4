"""A process that serves beside the one that records, ending with it.

It is the command `recorder serve`. Its standard input is a pipe that nothing
is written to: where this process ends, however that is, the pipe closes and
the other one ends too.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import fields, replace
from datetime import timedelta

from recorder.errors import RecorderError
from recorder.settings import PREFIX, Settings

__all__ = ["ServedEndedError", "environment_of", "served_beside"]

END = timedelta(seconds=10)
BEGIN = timedelta(seconds=30)


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
