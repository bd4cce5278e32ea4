"""`recorder rederive`: derive the facts of a log again."""

import asyncio
import time
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import opened_logs
from recorder.cli.given import given_log
from recorder.cli.options import reading_options
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped

if TYPE_CHECKING:
    from recorder.keeping.rederiving import Rederived


@click.command()
@click.option(
    "--again",
    is_flag=True,
    help="Rebuild even if all facts are up to date.",
)
@reading_options
@click.pass_context
def rederive(ctx: click.Context, *, again: bool) -> None:
    r"""Rebuild the facts of a log with the rules of this release.

    Needed when facts end before the log does: after an upgrade that changed
    the rules, or for entries recorded before facts existed. Recording can
    continue meanwhile. Answers switch to the new facts in one step at the end.
    An interrupted run resumes where it stopped.

    The facts of archived days are rebuilt too, in folders beside the archived
    ones. Nothing in the archive is replaced.

    \b
    Example:
      recorder rederive
      recorder rederive --log 3
    """
    run_until_stopped(lambda stop: _rederive(ctx, stop, again=again))


async def _rederive(
    ctx: click.Context, stop: asyncio.Event, *, again: bool
) -> None:
    from recorder.keeping.rederiving import (
        Rederiving,
        rederive,
        rederive_archive,
    )

    screen = Screen()
    began = time.monotonic()
    first: int | None = None

    def show(done: int, size: int) -> None:
        nonlocal first
        first = done if first is None else first
        rate = (done - first) / max(time.monotonic() - began, 1)
        screen.progress(
            "deriving", f"{done:,} of {size:,} entries  {rate:,.0f}/s"
        )

    def show_days(done: int, total: int) -> None:
        screen.progress(
            "deriving the archive", f"{done:,} of {total:,} entries"
        )

    async with opened_logs(ctx) as logs:
        log = (await logs.read(given_log(ctx))).log
        name = f'log {log.id} of "{log.cluster_name}"'
        how = Rederiving(again=again, on_progress=show)
        done = await rederive(logs.writer_dsn, log.id, how, stop)
        screen.clear()
        _say(screen, name, done, time.monotonic() - began)
        if done.stopped:
            return
        days = await rederive_archive(logs.writer_dsn, log.id, stop, show_days)
    screen.clear()
    if days.stopped:
        screen.say(
            f"{name}: stopped in the archive, after {days.days} days; the next"
            " `recorder rederive` resumes there"
        )
    elif days.days:
        screen.say(
            f"{name}: rebuilt the facts of {days.days} archived days with"
            f" {days.entries:,} entries, beside those archived"
        )


def _say(screen: Screen, name: str, done: "Rederived", seconds: float) -> None:
    if done.stopped:
        screen.say(
            f"{name}: stopped at {done.entries:,} entries; the next"
            " `recorder rederive` resumes there"
        )
    elif done.derivation is None:
        screen.say(
            f"{name}: nothing to do, all facts are up to date with the rules"
            " of this release"
        )
    else:
        screen.say(
            f"{name}: rebuilt the facts of {done.entries:,} entries in"
            f" {seconds:.0f} s"
        )
