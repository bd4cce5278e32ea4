"""`recorder impact`: which workloads a failure hit, and what it cost."""

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
from recorder.cli.completing import labels, node_argument, racks
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.options import (
    reading_options,
    window_options,
)
from recorder.cli.output import print_lines

__all__ = ["impact"]


@click.command()
@node_argument("nodes", metavar="[node/NAME]...", nargs=-1)
@click.option(
    "--rack",
    metavar="RACK",
    shell_complete=racks,
    help="Nodes of this rack, or behind this switch, at the time.",
)
@click.option(
    "-l",
    "--label",
    metavar="LABEL=VALUE",
    shell_complete=labels,
    multiple=True,
    help="Nodes that had this label at the time; repeatable.",
)
@window_options
@list_options()
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
    from msgspec.structs import replace

    from recorder.documents.impact import ImpactDocument
    from recorder.knowledge import load
    from recorder.questions.impact import ImpactQuestion, ask_impact
    from recorder.questions.references import named
    from recorder.questions.sentences import lasting
    from recorder.render.impact import COLUMNS, cells, cost, failure_lines

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
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(
                named(hit.kind.lower(), hit.namespace, hit.name),
                cells(hit),
                hit,
            )
            for hit in answer.workloads
        ],
        whole=lambda workloads: replace(
            ImpactDocument.of(answer), workloads=workloads
        ),
        nothing="no affected workloads recorded",
    )
    is_text = given["output"] in TEXTS
    if is_text:
        print_lines(failure_lines(answer.failures))
    print_listing(listing, given, now=present)
    if is_text and answer.workloads:
        print_lines(["", cost(answer.totals)])
        still = lasting(answer.workloads, answer.coverage.counted_until)
        print_lines([] if still is None else [still])
    return judge(answer.coverage)
