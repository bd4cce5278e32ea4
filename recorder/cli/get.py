"""`recorder get`: objects as they were, one line each."""

from typing import TYPE_CHECKING

import click

from recorder.cli.answering import Answered, answer_command
from recorder.cli.lazy import LazyGroup
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.output import note

if TYPE_CHECKING:
    from recorder.answers.nodes import Nodes

__all__ = ["get", "nodes"]


@click.group(
    cls=LazyGroup,
    places={"nodes": "recorder.cli.get:nodes"},
)
def get() -> None:
    """List objects as they were at a time."""


@answer_command("nodes", list_options())
def nodes(found: "Answered[Nodes]") -> None:
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
    from msgspec.structs import replace

    from recorder.answers.nodes import COLUMNS, node_cells
    from recorder.model.moment import written

    answer = found.answer
    as_of = answer.question.at
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(f"node/{one.name}", node_cells(one, as_of), one)
            for one in answer.nodes
        ],
        whole=lambda shown: replace(answer, nodes=shown),
        nothing="no nodes recorded at that time",
    )
    if found.output in TEXTS and found.asked.at is None and as_of is not None:
        note(f"as of {written(as_of)}, the end of the record")
    print_listing(listing, found.given, now=found.now)
