"""`recorder get`: objects as they were, one line each."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.asking import (
    given_time,
    judge,
    now,
    open_reading,
    wait_for,
)
from recorder.cli.completing import labels, node_argument, racks
from recorder.cli.lazy import LazyGroup
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.options import reading_options
from recorder.cli.output import note

__all__ = ["get", "nodes"]


@click.group(
    cls=LazyGroup,
    places={"nodes": "recorder.cli.get:nodes"},
)
def get() -> None:
    """List objects as they were at a time."""


@click.command()
@node_argument("names", metavar="[node/NAME]...", nargs=-1)
@click.option(
    "--at",
    metavar="TIME",
    help="As of this time: 2026-11-21T03:18:00Z, or an age: 2h."
    " Default: the end of the record.",
)
@click.option(
    "--rack",
    metavar="RACK",
    shell_complete=racks,
    help="Only nodes of this rack, or behind this switch.",
)
@click.option(
    "-l",
    "--label",
    metavar="LABEL=VALUE",
    multiple=True,
    shell_complete=labels,
    help="Only nodes with this label; repeatable.",
)
@list_options()
@reading_options
@click.pass_context
def nodes(ctx: click.Context, /, **given: Any) -> int:
    r"""List the nodes as they were at a time, also those that are gone.

    The columns are those of kubectl, with taints, GPUs and racks; ages are as
    of that time. If the log does not vouch for the time, a note on stderr says
    so and the exit status is 4.

    \b
    Example:
      recorder get nodes --at 2026-11-21T03:14:00Z
      recorder get nodes --at 2h --rack r17 -o wide
      recorder get nodes -o json | jq '.nodes[] | select(.ready != "True")'
    """
    return wait_for(_nodes(ctx, given))


async def _nodes(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from msgspec.structs import replace

    from recorder.documents.nodes import NodesDocument
    from recorder.model.moment import written
    from recorder.questions.impact import Labels
    from recorder.questions.nodes import NodesQuestion, ask_nodes
    from recorder.questions.references import node_name
    from recorder.render.nodes import COLUMNS, node_cells

    present, at = now(), given["at"]
    question = NodesQuestion(
        names=[node_name(text) for text in given["names"]],
        labels=Labels.of(given["rack"], given["label"]),
        at=given_time(at, present, "--at") if at else None,
    )
    async with open_reading(ctx) as reading:
        answer = await ask_nodes(reading, question, now=present)
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(f"node/{one.name}", node_cells(one, answer.at), one)
            for one in answer.nodes
        ],
        whole=lambda shown: replace(NodesDocument.of(answer), nodes=shown),
        nothing="no nodes recorded at that time",
    )
    if given["output"] in TEXTS and at is None and answer.at is not None:
        note(f"as of {written(answer.at)}, the end of the record")
    print_listing(listing, given, now=present)
    return judge(answer.coverage)
