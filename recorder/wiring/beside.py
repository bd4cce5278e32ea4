"""Processes beside the one that records, ending with it.

`recorder serve`, `notify` and `measure` run all the time. Their standard input
is a pipe that nothing is written to: when this process ends, however that is,
the pipe closes and they end too. `recorder prune` runs once an hour, because
retention computes for minutes and the recording must not wait; only with the
embedded server, since another server has a cron of its own.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from recorder.keeping.budget import budget_of, policy_of
from recorder.model.errors import RecorderError
from recorder.model.settings import PREFIX, Settings
from recorder.wiring.live import LiveRecording

END = timedelta(seconds=10)
BEGIN = timedelta(seconds=30)
AGAIN = timedelta(seconds=30)

RETAIN_FIRST = timedelta(minutes=2)
"""After the start, which is busy."""

RETAIN_EVERY = timedelta(hours=1)
SCARCE_EVERY = timedelta(minutes=10)
"""While the size budget is used up, for example by a nearly full disk."""

CHECK = timedelta(seconds=30)


class ServedEndedError(RecorderError):
    """The process that serves ended by itself."""

    code = "served.ended"


class Beside:
    """The process that serves."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.failed: RecorderError | None = None
        """Why it ended, if no stop was requested."""

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
        env=_environment(settings),
    )
    try:
        yield Beside(process)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await _ended(process)


@asynccontextmanager
async def followed_beside(
    settings: Settings, *, with_api: bool, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Notify and measure in processes of their own while entered, if set up.

    With an external database only beside the API: where recorder and API are
    deployed separately, so are these.

    Their end never ends the recording: it is reported, and the process is
    started again.
    """
    wanted = {
        "notify": settings.notify_file is not None,
        "measure": None not in {settings.metrics_file, settings.send_url},
    }
    if settings.database_url is not None and not with_api:
        wanted = {}
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_follow_again_and_again(command, settings, say))
            for command, is_wanted in wanted.items()
            if is_wanted
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _follow_again_and_again(
    command: str, settings: Settings, say: Callable[[str], None]
) -> None:
    while True:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "recorder",
            command,
            "--beside",
            stdin=asyncio.subprocess.PIPE,
            env=_environment(settings),
        )
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await _ended(process)
        say(
            f"the process of `recorder {command}` ended with status {status};"
            f" it is started again in {AGAIN.total_seconds():g} s"
        )
        await asyncio.sleep(AGAIN.total_seconds())


@asynccontextmanager
async def retained_beside(
    settings: Settings, live: LiveRecording, *, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Archive and drop days while entered.

    Raises:
        PolicyError: the policy of the settings contradicts itself.
    """
    policy_of(settings)
    live.budget = partial(budget_of, settings)
    if settings.database_url is not None or not settings.retention_enabled:
        yield
        return
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_retain_again_and_again(settings, live, say))
        try:
            yield
        finally:
            task.cancel()


async def _retain_again_and_again(
    settings: Settings, live: LiveRecording, say: Callable[[str], None]
) -> None:
    waited, pause = timedelta(), RETAIN_FIRST
    while True:
        await asyncio.sleep(CHECK.total_seconds())
        waited += CHECK
        scarce = _is_used_up(settings, live.progress.database_bytes)
        if waited < (min(pause, SCARCE_EVERY) if scarce else pause):
            continue
        waited, pause = timedelta(), RETAIN_EVERY
        try:
            said = await _pruned(settings)
            if not said:
                live.progress.retained_at = datetime.now(UTC)
        except OSError as exc:
            said = f"cannot run retention: {exc}"
        if said:
            say(said)


def _is_used_up(settings: Settings, size: int | None) -> bool:
    """Return whether a database of a size, if known, fills its budget."""
    try:
        budget = budget_of(settings, size or 0)
    except OSError:
        return False
    return budget is not None and (size or 0) >= budget


async def _pruned(settings: Settings) -> str:
    """Run the command; return its error output if it failed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        "prune",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(settings),
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        # The next run continues where this one ended.
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    return said.decode(errors="replace").strip() if process.returncode else ""


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process that was asked to end."""
    try:
        async with asyncio.timeout(END.total_seconds()):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _environment(settings: Settings) -> Mapping[str, str]:
    """Return the environment that gives another process these settings."""
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
