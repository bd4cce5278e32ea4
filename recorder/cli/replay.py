"""`recorder replay`: a node's history, fact by fact, with its state."""

import asyncio
import math
import sys
from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.answering import ask, read_command
from recorder.cli.asking import judge, wait_for
from recorder.cli.options import output_option
from recorder.cli.output import json_bytes, note, print_lines, write

PAUSE_SECONDS_MAX = 2.0
"""The longest wait for the next line, however slow the replay is."""


def _times(
    ctx: click.Context, param: click.Parameter, value: float | None
) -> float | None:
    if value is not None and math.isnan(value):
        msg = "give a multiple of real time: 1, 60 or 0.5"
        raise click.BadParameter(msg, ctx, param)
    return value


@read_command(
    "replay",
    click.option(
        "--speed",
        type=click.FloatRange(min=0, min_open=True),
        callback=_times,
        help="Playback speed, as a multiple of real time; only on a terminal.",
    ),
    output_option("table", "ndjson"),
)
def replay(ctx: click.Context, /, **given: Any) -> int:
    r"""Step through the history of a node, fact by fact.

    Each line shows a fact and the state of the node after it. On a terminal,
    --speed plays the lines at the pace of the incident; in a pipe all lines
    are printed at once.

    \b
    Example:
      recorder replay node/gpu-002 --since 2h
      recorder replay node/gpu-002 --since 2h --speed 60
    """
    return wait_for(_replay(ctx, given))


async def _replay(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.facts import listed_fact, replay_lines, shown_node

    found = await ask(ctx, given)
    answer = found.answer
    speed = given["speed"] if sys.stdout.isatty() else None
    before = None
    if not answer.steps:
        note(f"no facts of {found.asked.node} in this window")
    for step, line in replay_lines(answer):
        at = step.stored.observed_at
        if speed is not None and before is not None:
            pause = (at - before).total_seconds() / speed
            await asyncio.sleep(min(max(pause, 0), PAUSE_SECONDS_MAX))
        before = at
        if given["output"] == "ndjson":
            write(
                json_bytes(
                    listed_fact(step.stored, state=shown_node(step.state)),
                    on_one_line=True,
                )
                + b"\n"
            )
        else:
            print_lines([line])
    return judge(answer.coverage)
