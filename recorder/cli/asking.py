"""What every command that reads does: open the log, print, judge."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.options import given_log
from recorder.cli.output import announce, note

if TYPE_CHECKING:
    from recorder.coverage.coverage import Coverage
    from recorder.model.window import Window
    from recorder.store.read import LogReading

__all__ = [
    "INCOMPLETE",
    "given_window",
    "judge",
    "now",
    "open_reading",
    "wait_for",
]

INCOMPLETE = 4
"""Exit status of an answer that may be incomplete."""

Result = TypeVar("Result")


def now() -> datetime:
    """Return this machine's time."""
    return datetime.now(UTC)


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the one asynchronous piece of work of a command."""
    return asyncio.run(work)


@asynccontextmanager
async def open_reading(
    ctx: click.Context, log: int | None = None
) -> AsyncIterator["LogReading"]:
    """Open the log that the options mean, or else a question, as it stands."""
    from recorder.wiring.reading import open_logs

    async with open_logs(ctx.obj, on_wait=announce) as logs:
        yield await logs.read(given_log(ctx) or log)


def given_window(
    since: str | None, until: str | None, present: datetime
) -> "Window":
    """Return the window that the options mean.

    Raises:
        ConfigError: a time cannot be, or nothing lies between the two.
    """
    from recorder.model.window import Window, parse_time

    begin = parse_time(since, now=present, name="--since") if since else None
    end = parse_time(until, now=present, name="--until") if until else None
    return Window.between(begin, end, now=present)


def judge(coverage: "Coverage") -> int:
    """Say what may be missing; return the exit status."""
    from recorder.render.coverage import coverage_lines

    if coverage.complete:
        return 0
    for line in coverage_lines(coverage):
        note(line, colour="yellow")
    return INCOMPLETE
