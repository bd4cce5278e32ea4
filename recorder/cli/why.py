"""`recorder why`: what happened to a node, or what ended a workload."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from recorder.cli.asking import (
    given_time,
    given_window,
    judge,
    now,
    open_reading,
    wait_for,
)
from recorder.cli.completing import object_argument
from recorder.cli.options import (
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import print_document, print_judged, print_lines

__all__ = ["why"]


@click.command()
@object_argument("asked", metavar="node/NAME|KIND/NAMESPACE/NAME")
@click.option(
    "-n", "--namespace", metavar="NAMESPACE", help="Namespace of a workload."
)
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
    help="Show the records of each step one by one, and of a workload every"
    " ending in full.",
)
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
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
    from recorder.questions.references import is_node

    if is_node(given["asked"]) and given["namespace"] is None:
        return wait_for(_why(ctx, given))
    return wait_for(_why_workload(ctx, given))


async def _why(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.documents.verdict import WhyDocument
    from recorder.knowledge import load
    from recorder.questions.references import node_name
    from recorder.questions.why import WhyQuestion, ask_why
    from recorder.render.verdict import verdict_lines

    present = now()
    question = WhyQuestion(
        node=node_name(given["asked"]), **_when(given, present)
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
        print_judged([*([""] if place else []), *lines])
    return judge(answer.coverage)


async def _why_workload(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.documents.why_workload import WhyWorkloadDocument
    from recorder.knowledge import load
    from recorder.questions.references import Reference
    from recorder.questions.why_workload import (
        WhyWorkloadQuestion,
        ask_why_workload,
    )
    from recorder.render.why_workload import why_workload_lines

    present = now()
    question = WhyWorkloadQuestion(
        object=Reference.parse(given["asked"], given["namespace"]),
        **_when(given, present),
    )
    knowledge = load(ctx.obj.knowledge)
    async with open_reading(ctx) as reading:
        answer = await ask_why_workload(
            reading, question, knowledge, now=present
        )
    if given["output"] == "table":
        print_judged(why_workload_lines(answer, verbose=given["verbose"]))
    else:
        print_document(WhyWorkloadDocument.of(answer), given["output"])
    return judge(answer.coverage)


def _when(given: Mapping[str, Any], present: datetime) -> dict[str, Any]:

    at = given["at"]
    return {
        "window": given_window(given["since"], given["until"], present),
        "at": at and given_time(at, present, "--at"),
    }
