"""`recorder notify`: posts incidents and gaps to webhooks."""

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import given_time, now, wait_for
from recorder.cli.given import given_log
from recorder.cli.options import reading_options
from recorder.cli.output import labelled, note, print_lines
from recorder.cli.stopping import run_until_stopped, stop_at_end_of_input

if TYPE_CHECKING:
    from recorder.model.settings import Settings


@click.command()
@click.option(
    "--check",
    is_flag=True,
    help="Only check the rules and the files that they name.",
)
@click.option(
    "--test",
    is_flag=True,
    help="Check the rules, and post a message marked as a test with each.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="For new rules: also post what was over before now, from this time"
    " on.",
)
@click.option(
    "--once",
    is_flag=True,
    help="Judge once, try once to post what is due, and exit.",
)
@click.option(
    "--beside",
    is_flag=True,
    hidden=True,
    help="Exit when standard input closes.",
)
@reading_options
@click.pass_context
def notify(ctx: click.Context, /, **given: Any) -> int:
    r"""Post incidents and gaps to webhooks (for a Deployment).

    The rules are in the file that the setting notify_file names. Each incident
    is posted once, and again when its verdict changes; what is not taken is
    posted again. The log is only read, and recording never waits. Incidents
    that were over before a rule was first used are not posted. Without
    --cluster or --log, it is about every cluster of the database.

    \b
    Examples:
      recorder notify --check
      recorder notify --test
      recorder notify
      recorder notify --once --since 24h
    """
    settings = ctx.obj
    if given["check"] or given["test"]:
        return _checked(settings, test=given["test"])
    since = given["since"] and given_time(given["since"], now(), "--since")
    run_until_stopped(
        lambda stop: _notify(
            settings,
            stop,
            log=given_log(ctx),
            since=since,
            once=given["once"],
            beside=given["beside"],
        )
    )
    return 0


async def _notify(
    settings: "Settings",
    stop: asyncio.Event,
    *,
    log: int | None,
    since: datetime | None,
    once: bool,
    beside: bool,
) -> None:
    from recorder.wiring.notifying import NotifyOptions
    from recorder.wiring.notifying import notify as notify_until

    if beside:
        stop_at_end_of_input(stop)
    options = NotifyOptions(log=log, since=since, once=once)
    await notify_until(
        settings, stop, options, say=labelled("notify") if beside else note
    )


def _checked(settings: "Settings", *, test: bool) -> int:
    """Check the rules; print a line for each; return the exit status."""
    from recorder.answers.text.lines import Columns
    from recorder.notification.loading import (
        NotifyError,
        address_of,
        token_of,
    )
    from recorder.wiring.notifying import rules_of, tested

    rules = rules_of(settings)
    wrong = {}
    for name, rule in rules.items():
        try:
            address_of(rule.post)
            token_of(rule.post)
        except NotifyError as exc:
            wrong[name] = str(exc)
    if test:
        usable = {k: v for k, v in rules.items() if k not in wrong}
        tried = wait_for(tested(usable))
        wrong |= {one.rule: one.why for one in tried if one.why}
    fine = "posted a test" if test else "can be used"
    columns = Columns(("RULE", "ABOUT", "SHAPE", "RESULT"))
    rows = [
        (
            name,
            rule.when.about,
            rule.post.shape.value,
            wrong.get(name, fine),
        )
        for name, rule in rules.items()
    ]
    print_lines([columns.header(rows), *columns.lines(rows)])
    return 1 if wrong else 0
