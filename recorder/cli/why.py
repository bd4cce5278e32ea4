"""`recorder why`: what happened to a node, or what ended a workload."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.answering import ask, read_command
from recorder.cli.asking import judge, wait_for
from recorder.cli.options import output_option
from recorder.cli.output import print_document, print_judged, print_lines

__all__ = ["why"]


@read_command(
    "why_workload",
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Show the records of each step one by one, and of a workload"
        " every ending in full.",
    ),
    output_option("table", "json", "yaml"),
)
def why(ctx: click.Context, /, **given: Any) -> int:
    r"""Explain what happened to a node, or what ended a workload or a Pod.

    Of a node, without a time, explains the most recent incident, in at most
    seven steps: what happened, why, and who decided it. Each names its entry,
    and how many more record it; show one with `recorder log ENTRY --raw`, all
    with -v.

    Of a workload or a Pod, explains what ended it: the node, a drain, a
    preemption, its own container, whoever deleted it; or says that it runs.
    What happened to the node is shown with it. What was not recorded is
    reported as missing, never guessed.

    \b
    Example:
      recorder why node/gpu-002
      recorder why node/gpu-002 --since 24h -o json
      recorder why job/train/llm-7
      recorder why -n train pod/llm-7-0-x2x8k --at 2026-11-21T03:14:00Z
    """
    from recorder.answers.naming import is_node

    if is_node(given["object"]) and given["namespace"] is None:
        return wait_for(_why(ctx, given))
    return wait_for(_why_workload(ctx, given))


async def _why(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.registry import QUESTIONS
    from recorder.answers.why import verdict_lines

    given = {**given, "node": given["object"]}
    found = await ask(ctx, given, asks=QUESTIONS["why"])
    answer = found.answer
    if found.output != "table":
        print_document(answer, found.output)
        return judge(answer.coverage)
    if not answer.verdicts:
        print_lines([f"no incidents recorded for {found.asked.node}"])
    for place, verdict in enumerate(answer.verdicts):
        lines = verdict_lines(verdict, verbose=given["verbose"])
        print_judged([*([""] if place else []), *lines])
    return judge(answer.coverage)


async def _why_workload(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.why_workload import why_workload_lines

    found = await ask(ctx, given)
    answer = found.answer
    if found.output == "table":
        print_judged(why_workload_lines(answer, verbose=given["verbose"]))
    else:
        print_document(answer, found.output)
    return judge(answer.coverage)
