"""The commands of retention that cron runs: archive and prune."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from recorder.cli.given import place_options
from recorder.cli.lazy import LazyGroup
from recorder.cli.output import announce
from recorder.cli.screen import Screen

if TYPE_CHECKING:
    from recorder.keeping.retaining import Retained
    from recorder.model.settings import Settings

DRY = click.option(
    "--dry-run",
    is_flag=True,
    help="Print what would be dropped, and change nothing.",
)


@click.group(
    cls=LazyGroup,
    places={"attach": "recorder.cli.attaching:attach"},
    invoke_without_command=True,
)
@place_options(hidden=True)
@click.pass_context
def archive(ctx: click.Context) -> None:
    r"""Archive the days that are over, and drop nothing.

    Each day is compared with its recorded hashes, written as Parquet files
    into the place of the archive, and read again. Safe to run at any time,
    twice at once, and to kill: the next run goes on.

    \b
    Example:
      recorder archive
      recorder archive attach /mnt/recorder-archive
    """
    if ctx.invoked_subcommand is None:
        asyncio.run(_run(ctx.obj, drop=False))


@click.command()
@DRY
@place_options(hidden=True)
@click.pass_obj
def prune(settings: "Settings", *, dry_run: bool) -> None:
    r"""Archive the days that are over, and drop old ones.

    Made for cron: one line at the end, and exit status 0 also where another
    run is under way. What is alive, and open gaps, stay in the database; a
    hold keeps days, see recorder hold.

    \b
    Examples:
      recorder prune --dry-run
      recorder prune
    """
    asyncio.run(_run(settings, drop=True, dry=dry_run))


async def _run(settings: "Settings", *, drop: bool, dry: bool = False) -> None:
    from recorder.wiring.retaining import retain_now

    screen = Screen()

    def show(doing: str, done: int, total: int) -> None:
        detail = f"{done:,} of {total:,} entries" if done else ""
        screen.progress(doing, detail)

    done = await retain_now(
        settings, drop=drop, dry=dry, on_progress=show, on_wait=announce
    )
    screen.clear()
    if dry:
        for line in _planned(done):
            click.echo(line)
    else:
        click.echo(_summary(done), err=True)
    if done.stopped_by is not None:
        click.echo(done.stopped_by, err=True)
    if done.listed is not None and done.listed.failure is not None:
        # Everything else is done; the exit status reports the failure.
        raise SystemExit(1)


def _planned(done: "Retained") -> Iterator[str]:
    """Yield the lines of what a run would do."""
    if not done.dropped:
        yield "nothing to drop"
    for one in done.dropped:
        yield f"would drop {_date(one.name)} ({one.why})"


def _date(partition: str) -> str:
    """Return the day of a partition, as people write it."""
    digits = partition.rpartition("_")[2]
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"


def _summary(done: "Retained") -> str:
    from recorder.answers.sentences import counted
    from recorder.answers.text.lines import human_bytes

    if done.busy:
        return "nothing done: another run of retention is under way"
    archived = (
        f"archived {counted(len(done.archived), 'day')}"
        f" ({done.entries:,} entries, {human_bytes(done.bytes)})"
    )
    said = [archived]
    if done.dropped:
        said.append(
            f"dropped {counted(len(done.dropped), 'day')}"
            f" ({_date(done.dropped[0].name)} to"
            f" {_date(done.dropped[-1].name)}),"
            f" {done.batches:,} batches and {done.names:,} names; the log was"
            f" locked for {done.lock_seconds * 1000:.0f} ms at most"
        )
    else:
        said.append("dropped nothing")
    if done.listed is not None:
        days = counted(done.listed.days, "day")
        said.append(f"added {days} to Iceberg tables")
        if done.listed.failure is not None:
            said.append(f"not all of them: {done.listed.failure}")
    return "; ".join(said)
