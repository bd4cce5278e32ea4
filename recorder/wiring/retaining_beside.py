"""Retention beside a recording: the command, run once an hour.

In a process of its own, since it computes for minutes and the recording must
not wait. Only with the embedded server: another's has a cron of its own.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial

from recorder.settings import Settings
from recorder.wiring.beside import environment_of
from recorder.wiring.live import LiveRecording
from recorder.wiring.policy import budget_of, policy_of

__all__ = ["retained_beside"]

FIRST = timedelta(minutes=2)
"""After the start, which is busy enough."""

EVERY = timedelta(hours=1)
SCARCE_EVERY = timedelta(minutes=10)
"""Where the size budget is used up, as it is by a disk that is nearly full."""

LOOK = timedelta(seconds=30)


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
        task = group.create_task(_again_and_again(settings, live, say))
        try:
            yield
        finally:
            task.cancel()


async def _again_and_again(
    settings: Settings, live: LiveRecording, say: Callable[[str], None]
) -> None:
    waited, pause = timedelta(), FIRST
    while True:
        await asyncio.sleep(LOOK.total_seconds())
        waited += LOOK
        scarce = _is_used_up(settings, live.progress.database_bytes)
        if waited < (min(pause, SCARCE_EVERY) if scarce else pause):
            continue
        waited, pause = timedelta(), EVERY
        try:
            said = await _run(settings)
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


async def _run(settings: Settings) -> str:
    """Run the command; return what it said where it failed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        "prune",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment_of(settings),
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        # It goes on where it was when it is run again.
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    return said.decode(errors="replace").strip() if process.returncode else ""
