"""What every command that reads does: open the log, print, judge."""

import shlex
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    suppress,
)
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.given import given_log, is_log_named
from recorder.cli.output import announce, note
from recorder.model.errors import NotFoundError, RecorderError

if TYPE_CHECKING:
    from recorder.answers.clusters import Away
    from recorder.facts.coverage.coverage import Coverage
    from recorder.model.window import Window
    from recorder.wiring.reading import Logs, OpenedLog

INCOMPLETE = 4
"""Exit status of an answer that may be incomplete."""

ELSEWHERE_MAX = 50
"""Other logs that are asked for a node that a log does not have."""

Result = TypeVar("Result")


class Readings(list["OpenedLog"]):
    """Logs to be asked, and the clusters whose logs cannot be read now."""

    def __init__(
        self, readings: Iterable["OpenedLog"], away: Sequence["Away"] = ()
    ) -> None:
        super().__init__(readings)
        self.away = away


def now() -> datetime:
    """Return this machine's time."""
    return datetime.now(UTC)


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the one asynchronous piece of work of a command."""
    import asyncio  # takes a while, which help does not have

    return asyncio.run(work)


@asynccontextmanager
async def open_reading(
    ctx: click.Context, log: int | None = None
) -> AsyncIterator["OpenedLog"]:
    """Open the log that the options name, or else the question, as it is."""
    async with opened_logs(ctx, log) as logs:
        reading = await logs.read(given_log(ctx) or log)
        try:
            yield reading
        except NotFoundError as exc:
            if exc.node and not (is_log_named(ctx) or log):
                # A registry may not have the name, or for another database.
                by_name = ctx.obj.clusters_file is None
                elsewhere = await _elsewhere(
                    logs, reading, exc.node, by_name=by_name
                )
                exc.advice = "; ".join(filter(None, (exc.advice, elsewhere)))
            raise


async def _elsewhere(
    logs: "Logs", reading: "OpenedLog", node: str, *, by_name: bool
) -> str:
    """Return which other logs have a node, of those that can be asked."""
    from recorder.answers.queries import NodeNames

    every = await logs.every()
    names = [one.cluster_name for one in every]
    found = []
    for one in every[:ELSEWHERE_MAX]:
        if one.id == reading.log.id:
            continue
        with suppress(RecorderError):
            other = await logs.read(one.id)
            if await other.names(NodeNames((node,))):
                is_only = by_name and names.count(one.cluster_name) == 1
                found.append(
                    f"--cluster {shlex.quote(one.cluster_name)}"
                    if is_only
                    else f"--log {one.id}"
                )
    return f"another log has it: add {' or '.join(found)}" if found else ""


def opened_logs(
    ctx: click.Context, log: int | None = None
) -> AbstractAsyncContextManager["Logs"]:
    """Open the database that has the log of the options, or of a question."""
    from recorder.wiring.reading import open_logs

    return open_logs(ctx.obj, log=given_log(ctx) or log, on_wait=announce)


@asynccontextmanager
async def open_readings(ctx: click.Context) -> AsyncIterator[Readings]:
    """Open every log as it is now.

    With a registry: the logs of all its databases that respond.

    Raises:
        UsageError: one is named.
    """
    from recorder.wiring.known import open_known

    if is_log_named(ctx):
        ctx.fail("-A asks every log: remove --cluster and --log")
    async with open_known(ctx.obj, on_wait=announce) as logs:
        known = await logs.known()
        yield Readings(
            [await logs.read(log.id) for log in known.logs], known.away
        )


def given_time(text: str, present: datetime, name: str) -> datetime:
    """Return the time of an option; note where UTC was assumed.

    Raises:
        ConfigError: it is no time.
    """
    from recorder.model.window import parse_time

    return parse_time(text, now=present, name=name, assumed=note)


def given_window(
    since: str | None, until: str | None, present: datetime
) -> "Window":
    """Return the window of the options.

    Raises:
        ConfigError: a time cannot be, or nothing lies between the two.
    """
    from recorder.model.window import Window

    begin = given_time(since, present, "--since") if since else None
    end = given_time(until, present, "--until") if until else None
    return Window.between(begin, end, now=present)


def judge(coverage: "Coverage", cluster: str | None = None) -> int:
    """Print what may be missing; return the exit status."""
    from recorder.answers.coverage import archive_lines, coverage_lines

    head = f"{cluster}: " if cluster else ""
    if coverage.complete:
        for line in archive_lines(coverage):
            note(f"{head}{line}")
        return 0
    for line in coverage_lines(coverage):
        note(f"{head}{line}", colour="yellow")
    return INCOMPLETE


def judge_all(readings: Readings, coverages: Sequence["Coverage"]) -> int:
    """Print what may be missing from each answer; return the exit status."""
    for one in readings.away:
        note(f'cluster "{one.cluster}" is away: {one.why}', colour="yellow")
    if len(readings) == 1 and not readings.away:
        return judge(coverages[0])
    return max(
        (
            judge(coverage, reading.log.cluster_name)
            for reading, coverage in zip(readings, coverages, strict=True)
        ),
        default=0,
    ) or (INCOMPLETE if readings.away else 0)
