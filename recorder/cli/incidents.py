"""`recorder incidents`: what happened to any node, one line each."""

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
from recorder.cli.options import (
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import print_document, print_lines

if TYPE_CHECKING:
    from recorder.questions.incidents import Incidents

__all__ = ["incidents"]

TITLES = (
    "FROM",
    "NODES",
    "HAPPENED",
    "CAUSE",
    "CONFIDENCE",
    "WORKLOADS",
    "GPU-HOURS",
    "SUMMARY",
)
NODES_SHOWN = 3


@click.command()
@window_options
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def incidents(ctx: click.Context, /, **given: Any) -> int:
    r"""List incidents on all nodes, oldest first.

    An incident that affected several nodes at once, such as a rack or the
    whole cluster, is one line.

    \b
    Example:
      recorder incidents --since 24h
      recorder incidents --since 7d -o json
    """
    return wait_for(_incidents(ctx, given))


async def _incidents(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.documents.incidents import IncidentsDocument
    from recorder.knowledge import load
    from recorder.questions.incidents import IncidentsQuestion, ask_incidents

    present = now()
    question = IncidentsQuestion(
        window=given_window(given["since"], given["until"], present)
    )
    knowledge = load(ctx.obj.knowledge)
    async with open_reading(ctx) as reading:
        answer = await ask_incidents(reading, question, knowledge, now=present)
    if given["output"] == "table":
        _print(answer)
    else:
        print_document(IncidentsDocument.of(answer), given["output"])
    return judge(answer.coverage)


def _print(answer: "Incidents") -> None:
    from recorder.documents.incidents import IncidentDocument
    from recorder.model.moment import written
    from recorder.render.text import Columns

    if not answer.incidents:
        print_lines(["no incidents recorded"])
        return
    rows = []
    for incident in answer.incidents:
        shown = IncidentDocument.of(incident)
        nodes = shown.nodes
        more = len(nodes) - NODES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        rows.append(
            (
                written(shown.since),
                ",".join(nodes[:NODES_SHOWN]) + rest,
                shown.happened,
                shown.cause,
                shown.confidence,
                str(shown.workloads),
                f"{shown.gpu_hours_lost:.2f}",
                shown.sentence,
            )
        )
    columns = Columns(TITLES)
    print_lines([columns.header(rows), *columns.lines(rows)])
