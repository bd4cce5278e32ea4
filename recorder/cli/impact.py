"""`recorder impact`: which workloads a failure hit, and what it cost."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from recorder.questions.impact import Impact

__all__ = ["impact"]

TITLES = (
    "HIT AT",
    "WORKLOAD",
    "HIT BY",
    "FIRST NODE",
    "PODS",
    "GANG",
    "GPUS",
    "OUTCOME",
    "RUNNING AGAIN",
    "GPU-HOURS",
)


@click.command()
@node_argument("nodes", metavar="[node/NAME]...", nargs=-1)
@click.option(
    "--rack",
    metavar="RACK",
    help="Nodes that had this rack label at the time.",
)
@click.option(
    "-l",
    "--label",
    metavar="LABEL=VALUE",
    multiple=True,
    help="Nodes that had this label at the time; repeatable.",
)
@window_options
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def impact(ctx: click.Context, /, **given: Any) -> int:
    r"""Show which workloads node failures affected, and the cost.

    Each workload is listed once, with all its Pods on any node. GPU-hours are
    a lower bound: work lost since the last checkpoint is not known.

    \b
    Example:
      recorder impact node/gpu-002
      recorder impact --rack r17 --since 24h
      recorder impact -l topology.kubernetes.io/zone=eu-1a --since 2h -o json
    """
    return wait_for(_impact(ctx, given))


async def _impact(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.documents.impact import ImpactDocument
    from recorder.knowledge import load
    from recorder.questions.impact import ImpactQuestion, ask_impact

    present = now()
    question = ImpactQuestion.selecting(
        given["nodes"],
        rack=given["rack"],
        labels=given["label"],
        window=given_window(given["since"], given["until"], present),
    )
    knowledge = load(ctx.obj.knowledge)
    async with open_reading(ctx) as reading:
        answer = await ask_impact(reading, question, knowledge, now=present)
    if given["output"] == "table":
        _print(answer)
    else:
        print_document(ImpactDocument.of(answer), given["output"])
    return judge(answer.coverage)


def _print(answer: "Impact") -> None:
    from recorder.documents.sentences import lasting
    from recorder.model.moment import optional_time
    from recorder.render.impact import cost, failure_lines
    from recorder.render.text import Columns

    print_lines(failure_lines(answer.failures))
    if not answer.workloads:
        print_lines(["no affected workloads recorded"])
        return
    rows = [
        (
            optional_time(hit.hit_at) or "",
            str(hit.workload),
            hit.hit_by,
            hit.first_node,
            str(len(hit.pods_hit)),
            str(hit.gang_size),
            str(hit.gpus),
            hit.outcome,
            optional_time(hit.running_again_at) or "-",
            f"{hit.gpu_hours_lost:.2f}",
        )
        for hit in answer.workloads
    ]
    columns = Columns(TITLES)
    print_lines([columns.header(rows), *columns.lines(rows)])
    print_lines(["", cost(answer.workloads)])
    still = lasting(answer.workloads, answer.coverage.counted_until)
    if still is not None:
        print_lines([still])
