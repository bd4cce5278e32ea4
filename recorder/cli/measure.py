"""`recorder measure`: keeps metrics around incidents."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import wait_for
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
    help="Only check the store: which metrics it has, of how many Nodes.",
)
@click.option(
    "--once",
    is_flag=True,
    help="Keep what is due, and exit.",
)
@click.option(
    "--beside",
    is_flag=True,
    hidden=True,
    help="Exit when standard input closes.",
)
@reading_options
@click.pass_context
def measure(ctx: click.Context, /, **given: Any) -> int:
    r"""Keep metrics around incidents (for use in a Deployment).

    Asks the metrics store that the setting metrics_file describes for what
    GPUs, links and nodes did around each incident, once, and posts it to the
    recorder of the settings send_url and send_token_file, whose token may post
    events of type metrics.range from recorder/metrics. Answers, the page and
    postmortems show them as long as the log is kept.

    \b
    Examples:
      recorder measure --check
      recorder measure
      recorder measure --once
    """
    settings: Settings = ctx.obj
    if given["check"]:
        return _checked(settings)
    run_until_stopped(
        lambda stop: _measure(
            settings,
            stop,
            log=given_log(ctx),
            once=given["once"],
            beside=given["beside"],
        )
    )
    return 0


async def _measure(
    settings: "Settings",
    stop: asyncio.Event,
    *,
    log: int | None,
    once: bool,
    beside: bool,
) -> None:
    from recorder.wiring.measuring import measure as measure_until

    if beside:
        stop_at_end_of_input(stop)
        settings = replace(settings, notify_listen="")
    await measure_until(
        settings,
        stop,
        log_id=log,
        once=once,
        say=labelled("measure") if beside else note,
    )


def _checked(settings: "Settings") -> int:
    """Print a line for each metric; return the exit status."""
    from recorder.answers.text.lines import Columns
    from recorder.wiring.measuring import checked

    rows = wait_for(checked(settings))
    columns = Columns(("METRIC", "SERIES", "NODES", "RESULT"))
    cells = [
        (one.metric, str(one.series), str(one.nodes), one.trouble or "fine")
        for one in rows
    ]
    print_lines([columns.header(cells), *columns.lines(cells)])
    return int(any(one.trouble for one in rows))
