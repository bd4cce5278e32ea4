"""`recorder log`: entries in log order."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import given_window, judge, now, opened_logs, wait_for
from recorder.cli.following import follow
from recorder.cli.given import given_log
from recorder.cli.listing import TEXTS, form_options
from recorder.cli.options import (
    limit_option,
    reading_options,
    window_options,
)
from recorder.cli.output import note
from recorder.cli.printing import printer_for
from recorder.cli.screen import Screen

if TYPE_CHECKING:
    from recorder.questions.entries import EntryQuestion

__all__ = ["log"]

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


@click.command()
@click.argument("entry", required=False, metavar="[LOG/POSITION]")
@click.option(
    "--node",
    metavar="NAME",
    help="Only entries about this node, and requests about Pods on it.",
)
@click.option(
    "--object",
    metavar="OBJECT",
    help="Only versions of this object and Events about it: pod/train/llm-0.",
)
@click.option(
    "-n", "--namespace", metavar="NAMESPACE", help="Namespace of the object."
)
@click.option("--source", metavar="SOURCE", help="watch, audit, recorder, ...")
@click.option("--reason", metavar="WORD", help="Only Events with this reason.")
@click.option(
    "--verb",
    metavar="VERB",
    help="Only audited requests of this kind: patch, create/eviction, ...",
)
@click.option(
    "--code",
    type=click.IntRange(400, 599),
    metavar="CODE",
    help="Only audited requests that were refused with this status: 403.",
)
@click.option(
    "--actor",
    metavar="NAME",
    help="Only Events reported by this component, and requests of this user.",
)
@window_options
@limit_option
@click.option("--raw", is_flag=True, help="Include each document as received.")
@click.option(
    "--facts", is_flag=True, help="Show the facts derived from the entries."
)
@click.option(
    "-f",
    "--follow",
    is_flag=True,
    help="Stream new entries as they are recorded.",
)
@form_options("table", "wide", "json", "yaml", "ndjson", "name")
@reading_options
@click.pass_context
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


def _told_by(screen: Screen) -> Callable[[datetime], None]:
    """Show on a terminal which day is being searched."""

    def show(day: datetime) -> None:
        screen.progress("searching", f"{day:%Y-%m-%d}")

    return show


def _question(given: Mapping[str, Any], present: datetime) -> "EntryQuestion":
    from recorder.model.observation import AUDIT
    from recorder.questions.entries import EntryQuestion, named_object
    from recorder.questions.entry import entry_name

    entry = given["entry"]
    audited = given["verb"] or given["code"]
    if audited and (given["reason"] or given["source"]):
        option = "--verb" if given["verb"] else "--code"
        msg = (
            f"{option} selects audited requests: remove --reason and --source"
        )
        raise click.UsageError(msg)
    return EntryQuestion(
        window=given_window(given["since"], given["until"], present),
        entry=entry and entry_name(entry),
        node=given["node"],
        object=named_object(given["object"], given["namespace"]),
        source=AUDIT if audited else given["source"],
        reason=given["verb"] or given["reason"],
        actor=given["actor"],
        code=given["code"],
        limit=given["limit"],
        documents=given["raw"],
        facts=given["facts"],
        words=given["output"] in TEXTS,
    )


async def _log(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.questions.entries import ask_entries

    present = now()
    question = _question(given, present)
    log = question.entry.log if question.entry else None
    async with opened_logs(ctx, log) as logs:
        reading = await logs.read(given_log(ctx) or log)
        screen = Screen()
        try:
            answer = await ask_entries(
                reading, question, now=present, on_day=_told_by(screen)
            )
        finally:
            screen.clear()
        for line in answer.notes:
            note(line)
        printer = printer_for(
            given, cluster=reading.log.cluster_name, now=present
        )
        if answer.more:
            what = "facts" if question.facts else "entries"
            note(
                f"only the newest {question.limit} {what}; for more use"
                " --limit N or --limit all"
            )
        async for page in answer.pages(reading):
            printer.page(page)
        printer.end(answer)
        status = judge(answer.coverage)
        if given["follow"]:
            async with logs.bell(reading) as bell:
                await follow(reading, answer, printer, bell)
    return status
