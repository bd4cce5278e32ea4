"""`recorder incidents --watch`: a list that goes on as the log grows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import ask_reading, print_answer, read_question
from recorder.cli.asking import opened_logs
from recorder.cli.given import given_log
from recorder.cli.listing import TEXTS, print_listing

if TYPE_CHECKING:
    from recorder.answers.ports import Reading

INTERVAL = 60.0
"""Seconds after which incidents are judged even without new facts."""

watch_option = click.option(
    "-w",
    "--watch",
    is_flag=True,
    help="Then wait, and print each incident that is new, or that has another"
    " cause, confidence or node, until Ctrl-C.",
)


async def watch_incidents(
    ctx: click.Context, given: Mapping[str, Any]
) -> None:
    """Print incidents, then each that is new or other, until cancelled."""
    from recorder.answers.growing import attend
    from recorder.answers.incidents import shown

    if given["output"] not in TEXTS:
        ctx.fail("--watch prints a table: remove -o, or use -o wide")
    if given["all_clusters"]:
        ctx.fail("--watch follows one log: instead of -A name a --cluster")
    printed: dict[str, object] | None = None

    async def judge(reading: "Reading") -> bool:
        nonlocal printed
        read = read_question(ctx, given)
        found = await ask_reading(ctx, given, reading, read)
        verbose = given["verbose"]
        listing = shown(found.answer, found.asked, verbose=verbose)
        known = printed
        printed = {
            # A loss that grows is no news.
            one.id: (one.happened, one.cause, one.confidence, one.nodes)
            for one in found.answer.incidents
        }
        if known is None:
            print_answer(listing, found)
            return True
        news = [
            one
            for one in listing.items
            if known.get(one.name) != printed[one.name]
        ]
        if news:
            lines = replace(listing, items=news)
            bare = {**given, "no_headers": True}
            print_listing(lines, bare, now=found.now)
        return True

    async with opened_logs(ctx) as logs:
        reading = await logs.read(given_log(ctx))
        async with logs.bell(reading) as bell:
            await attend(reading, bell, judge, interval=INTERVAL)
