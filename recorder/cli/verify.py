"""`recorder verify`: nothing was altered, or what was."""

import asyncio
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import INCOMPLETE, given_window, now, opened_logs
from recorder.cli.given import given_log, is_log_named
from recorder.cli.options import output_option, reading_options, window_options
from recorder.cli.output import note, paint, print_document, print_lines
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped

if TYPE_CHECKING:
    from recorder.integrity.verified import FactsMode, Verification

FAILED = 3
"""Exit status of a verification that found something."""

SEEDS = 1 << 31

STATUSES = (
    "Exit status: 0 nothing was altered, 1 failed, 2 usage error, 3 something"
    " was altered, 4 something could not be compared, 5 no such cluster or"
    " log."
)


@click.command(epilog=STATUSES)
@click.option(
    "--proof",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check a file written by `recorder prove`; needs no log.",
)
@click.option(
    "--archive",
    metavar="PLACE",
    help="Verify this archive instead, without any database.",
)
@click.option(
    "--archived",
    is_flag=True,
    help="Verify the archive too, in each place that the database names.",
)
@click.option(
    "--part",
    type=click.IntRange(1),
    metavar="N",
    help="Of an archive, read the newest day and one in N of the others,"
    " chosen by --seed. Of the rest, check only that the files are there.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Start over instead of resuming an interrupted run.",
)
@click.option(
    "--facts",
    type=click.Choice(["all", "sample", "none"]),
    help="Entries whose facts are derived again. Default: all, or a sample of"
    " a million if there are more.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="Number that chooses the sample. Default: a random one.",
)
@window_options
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def verify(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    proof: Path | None,
    archive: str | None,
    archived: bool,
    part: int | None,
    since: str | None,
    until: str | None,
    output: str,
    facts: "FactsMode | None",
    seed: int | None,
    again: bool,
) -> int:
    r"""Prove that nothing in the log was altered, or say what was.

    Computes the hash of every entry anew, from its columns and its document,
    and compares the hashes of batches and of the whole log with those that
    were stored, and with the checkpoints in all places (checkpoint_places)
    that are signed by a trusted key. Tables, views, functions, triggers,
    policies and grants of the database are compared with those that this
    release makes. Recording can continue meanwhile. An
    interrupted run resumes where it stopped. With --since or --until, only
    the entries of that time are read; the batches are followed from the
    first in any case.

    Facts, which answers are made from, are derived again from the entries and
    compared (--facts). Facts that the rules of another release derived are
    not compared: `recorder rederive` rebuilds them.

    An archive is read whole, or with --part a sample of its days, whose facts
    are not derived: the output names the seed, which chooses the same days
    again.

    Logs that an older release recorded without hashes get them on the first
    run: they are proven from then on.

    \b
    Example:
      recorder verify
      recorder verify --since 7d -o json | jq '.logs[].problems'
      recorder verify --since 2d --archived --part 30
      recorder verify --archive /var/lib/recorder/archive
      recorder verify --proof entry.proof.json
    """
    if proof is not None:
        return _check_proof(ctx, proof)
    window = (since, until)
    from recorder.integrity.verified import Verification

    found = Verification()
    _check_options(ctx, archive, archived=archived, part=part)
    chosen = facts, secrets.randbelow(SEEDS) if seed is None else seed

    async def run(stop: asyncio.Event) -> None:
        if archive is not None:
            places: Sequence[str] = [archive]
        else:
            there: Sequence[str] = ()
            with _explained(found):
                there = await _verify(
                    ctx, window, chosen, found, stop, again=again
                )
            places = there if archived else ()
        for place in places:
            await _verify_archive(ctx, place, (chosen, part), found, stop)

    run_until_stopped(run)
    found.judge()
    _print(found, output)
    if found.is_altered:
        return FAILED
    if any(one.stopped for one in found.logs):
        return 1
    return INCOMPLETE if found.is_open else 0


@contextmanager
def _explained(found: "Verification") -> Iterator[None]:
    """Report problems of the database instead of a failure to read it."""
    from recorder.model.errors import RecorderError

    try:
        yield
    except RecorderError as exc:
        if found.database is None or not found.database.problems:
            raise
        note(str(exc), colour="red")


def _check_options(
    ctx: click.Context,
    archive: str | None,
    *,
    archived: bool,
    part: int | None,
) -> None:
    if archived and archive is not None:
        ctx.fail(
            "--archived and --archive exclude each other: remove one of them"
        )
    if part is not None and archive is None and not archived:
        ctx.fail(
            "--part applies to an archive: add --archived, or --archive PLACE"
        )


def _print(found: "Verification", output: str) -> None:
    if output == "table":
        import sys

        from recorder.answers.verification import lines_of

        for lines, is_fine in lines_of(found):
            colour = None if is_fine else "red"
            print_lines(paint(line, colour, sys.stdout) for line in lines)
    else:
        print_document(found, output)


async def _verify(
    ctx: click.Context,
    window: tuple[str | None, str | None],
    chosen: "tuple[FactsMode | None, int]",
    found: "Verification",
    stop: asyncio.Event,
    *,
    again: bool,
) -> Sequence[str]:
    """Verify the database; return the places that it archived days in."""
    from recorder.keeping.integrity import (
        missing_logs,
        resume_file,
        verified,
        verified_database,
    )
    from recorder.keeping.presence import archive_places
    from recorder.keeping.verifying import Proving, Verifying

    mode, seed = chosen
    screen = Screen()
    span = given_window(*window, now())
    async with opened_logs(ctx) as logs:
        found.database = await verified_database(logs.dsn("reader"))
        if not is_log_named(ctx):
            missing = await missing_logs(ctx.obj, logs.dsn("reader"))
            found.logs.extend(missing)
        for log in await logs.meant(given_log(ctx)):
            resume = resume_file(ctx.obj, log.id, again=again)
            how = Verifying(
                since=span.since,
                until=span.until if window[1] else None,
                sealing_dsn=logs.writer_dsn,
                resume=resume,
                facts=Proving(
                    mode=mode,
                    seed=seed,
                    on_progress=_Rate(screen, log.id, "facts of log").show,
                ),
                on_progress=_Rate(screen, log.id).show,
            )
            done = await verified(ctx.obj, logs.dsn("reader"), log, how, stop)
            screen.clear()
            found.logs.append(done)
            if done.stopped:
                then = (
                    "starts over: this machine has no signing key"
                    if resume is None
                    else "resumes there"
                )
                screen.say(
                    f"log {log.id}: stopped at {done.checked_entries:,}"
                    f" entries; the next `recorder verify` {then}"
                )
                return ()
        return await archive_places(logs.dsn("reader"))


async def _verify_archive(
    ctx: click.Context,
    archive: str,
    how: "tuple[tuple[FactsMode | None, int], int | None]",
    found: "Verification",
    stop: asyncio.Event,
) -> None:
    from recorder.keeping.integrity import (
        archived_logs,
        unreadable_archive,
        verified_archive,
    )
    from recorder.keeping.verifying import Proving, Sample, Verifying
    from recorder.model.errors import RecorderError

    (mode, seed), part = how
    screen = Screen()
    try:
        archived = await asyncio.to_thread(archived_logs, archive)
    except RecorderError as exc:
        if found.database is None:
            raise
        # What the database says is found as well; it is not to be lost.
        found.logs.append(unreadable_archive(archive, exc))
        return
    for log in archived:
        name = log.log.cluster_name
        verifying = Verifying(
            facts=Proving(
                mode=mode,
                seed=seed,
                on_progress=_Rate(screen, name, "facts of log").show,
            ),
            sample=None if part is None else Sample(part, seed),
            on_progress=_Rate(screen, name).show,
        )
        done = await verified_archive(ctx.obj, log, verifying, stop)
        screen.clear()
        found.logs.append(done)
        if done.stopped:
            return


class _Rate:
    """The progress of a log, and its speed."""

    def __init__(self, screen: Screen, log: object, what: str = "log") -> None:
        self._screen = screen
        self._doing = f"verifying {what} {log}"
        self._began = time.monotonic()
        self._first: int | None = None

    def show(self, done: int, total: int) -> None:
        if self._first is None:
            self._first = done
        seconds = max(time.monotonic() - self._began, 1)
        rate = (done - self._first) / seconds
        self._screen.progress(
            self._doing,
            f"{done:,} of {total:,} entries  {rate:,.0f}/s",
        )


def _check_proof(ctx: click.Context, file: Path) -> int:
    from recorder.integrity.notes import SignedNote
    from recorder.integrity.proof import check_proof
    from recorder.integrity.tree import ProofError
    from recorder.keeping.signing_key import trusted_keys

    keys = [key.public for key in trusted_keys(ctx.obj)]
    try:
        proof = check_proof(file.read_bytes(), keys)
    except ProofError as exc:
        click.echo(f"{file}: NOT proven: {exc}", err=True)
        return FAILED
    origin, batches, *_ = SignedNote.parse(proof.checkpoint).text.split("\n")
    # Not what it calls itself, which nothing proves.
    line = (
        f"{file}: entry {proof.leaf['position']} of {origin} is proven by the"
        f" checkpoint of {batches} batches"
    )
    print_lines([line])
    return 0
