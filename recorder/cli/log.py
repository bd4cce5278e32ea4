"""`recorder log`: entries in log order."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import read_command, read_question
from recorder.cli.asking import judge, opened_logs, wait_for
from recorder.cli.following import follow
from recorder.cli.given import given_log
from recorder.cli.listing import TEXTS, form_options
from recorder.cli.output import note
from recorder.cli.printing import Printer, pages_of_log
from recorder.cli.screen import Screen

if TYPE_CHECKING:
    from recorder.answers.log_questions import EntryQuestion

CHOOSING = (
    "node",
    "object",
    "source",
    "reason",
    "verb",
    "code",
    "actor",
    "since",
    "until",
)
"""Options that filter entries."""

CONTINUOUS = frozenset({"table", "wide", "ndjson", "name"})
"""Formats that can be streamed."""


@read_command(
    "entries",
    click.option(
        "-f",
        "--follow",
        is_flag=True,
        help="Stream new entries as they are recorded.",
    ),
    form_options("table", "wide", "json", "yaml", "ndjson", "name"),
)
def log(ctx: click.Context, /, **given: Any) -> int:
    r"""List entries in log order, oldest first.

    Filters are combined with AND. Times are compared with the time of
    observation. Each entry has a permanent name, LOG/POSITION; give it to show
    that entry alone. If something may be missing, a note on stderr says so and
    the exit status is 4.

    \b
    Example:
      recorder log --node gpu-002 --since 2h
      recorder log --object pod/train/llm-0 --limit all -o ndjson --raw
      recorder log --node gpu-002 --since 2h --facts
      recorder log --reason Rebooted --follow
      recorder log --code 403 --actor alice@example.com
      recorder log 1/48213 --raw
    """
    if given["follow"] and given["entry"]:
        ctx.fail("--follow streams new entries: do not name an entry")
    beside = next((word for word in CHOOSING if given[word]), None)
    if given["entry"] and beside:
        ctx.fail(f"{given['entry']} is a single entry: remove --{beside}")
    if given["follow"] and given["output"] not in CONTINUOUS:
        ctx.fail("--follow has no end: use -o table or -o ndjson")
    if given["follow"] and given["until"]:
        ctx.fail("--follow streams new entries: remove --until")
    return wait_for(_log(ctx, given))


def _shown_on(screen: Screen) -> Callable[[datetime], None]:
    """Show on a terminal which day is being searched."""

    def show(day: datetime) -> None:
        screen.progress("searching", f"{day:%Y-%m-%d}")

    return show


def _question(
    ctx: click.Context, given: Mapping[str, Any]
) -> tuple["EntryQuestion", datetime]:
    from recorder.model.observation import AUDIT

    fixed: dict[str, Any] = {"words": given["output"] in TEXTS}
    if given["verb"] or given["code"]:
        if given["reason"] or given["source"]:
            option = "--verb" if given["verb"] else "--code"
            msg = (
                f"{option} selects audited requests: remove --reason and"
                " --source"
            )
            raise click.UsageError(msg)
        fixed["source"] = AUDIT
    return read_question(ctx, given, **fixed)


async def _log(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.entries import ask_entries
    from recorder.explain.knowledge import load

    question, present = _question(ctx, given)
    log = question.log
    async with opened_logs(ctx, log) as logs:
        reading = await logs.read(given_log(ctx) or log)
        screen = Screen()
        try:
            answer = await ask_entries(
                reading, question, now=present, on_day=_shown_on(screen)
            )
        finally:
            screen.clear()
        for line in answer.notes:
            note(line)
        pages = pages_of_log(
            given,
            cluster=reading.log.cluster_name,
            types=load(ctx.obj.knowledge).types if question.facts else (),
            now=present,
        )
        printer = Printer(given["output"], pages)
        if answer.more:
            what = "facts" if question.facts else "entries"
            note(
                f"only the newest {what}, at most {question.limit}; for more"
                " use --limit N or --limit all"
            )
        async for page in answer.pages(reading):
            printer.page(page)
        printer.end({"more": answer.more, "coverage": answer.coverage})
        status = judge(answer.coverage)
        if given["follow"]:
            async with logs.bell(reading) as bell:
                await follow(reading, answer, printer, bell)
    return status
