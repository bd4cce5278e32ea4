"""`recorder why`: what happened to a node, why, and who decided."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.asking import (
    given_window,
    judge,
    now,
    open_reading,
    wait_for,
)
from recorder.cli.completing import node_argument
from recorder.cli.options import (
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import print_document, print_lines

__all__ = ["why"]


@click.command()
@node_argument("node", metavar="node/NAME")
@click.option(
    "--at",
    metavar="TIME",
    help="Explain what was happening at this time, or last before it.",
)
@window_options
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show the records of each step one by one.",
)
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def why(ctx: click.Context, /, **given: Any) -> int:
    r"""Explain what happened to a node, why, and who decided it.

    Without a time, explains the most recent incident, in at most seven steps.
    Each names its entry, and how many more record it; show one with
    `recorder log ENTRY --raw`, all with -v. What was not recorded is reported
    as missing, never guessed.

    \b
    Example:
      recorder why node/gpu-002
      recorder why node/gpu-002 --at 2026-11-21T03:14:00Z
      recorder why node/gpu-002 --since 24h -o json
    """
    return wait_for(_why(ctx, given))


async def _why(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.documents.verdict import WhyDocument
    from recorder.knowledge import load
    from recorder.model.window import parse_time
    from recorder.questions.references import node_name
    from recorder.questions.why import WhyQuestion, ask_why
    from recorder.render.verdict import verdict_lines

    present = now()
    at = given["at"]
    question = WhyQuestion(
        node=node_name(given["node"]),
        window=given_window(given["since"], given["until"], present),
        at=at and parse_time(at, now=present, name="--at"),
    )
    knowledge = load(ctx.obj.knowledge)
    async with open_reading(ctx) as reading:
        answer = await ask_why(reading, question, knowledge, now=present)
    if given["output"] != "table":
        print_document(WhyDocument.of(answer), given["output"])
        return judge(answer.coverage)
    if not answer.verdicts:
        print_lines([f"no incidents recorded for {question.node}"])
    for place, verdict in enumerate(answer.verdicts):
        lines = verdict_lines(verdict, verbose=given["verbose"])
        print_lines([*([""] if place else []), *lines])
    return judge(answer.coverage)
