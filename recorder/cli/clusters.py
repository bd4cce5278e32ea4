"""`recorder clusters`: the logs that can be read from here."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.asking import INCOMPLETE, now, wait_for
from recorder.cli.given import place_options
from recorder.cli.listing import list_options, print_listing
from recorder.cli.output import note


@click.command()
@list_options()
@place_options(hidden=True)
@click.pass_context
def clusters(ctx: click.Context, /, **given: Any) -> int:
    r"""List the clusters and tapes that have a log.

    With the setting clusters_file these are the clusters of the registry, each
    in its database. A database that does not answer is listed as away, and the
    exit status is 4.

    \b
    Example:
      recorder clusters
      recorder clusters -o json | jq '.clusters[] | select(.state == "away")'
    """
    return wait_for(_clusters(ctx, given))


async def _clusters(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from msgspec.structs import replace

    from recorder.answers.clusters import COLUMNS, cluster_cells
    from recorder.answers.text.shown import Item, Listing
    from recorder.wiring.known import known_clusters

    answer = await known_clusters(ctx.obj)
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(one.name or "", cluster_cells(one), one)
            for one in answer.clusters
        ],
        whole=lambda shown: replace(answer, clusters=shown),
        nothing="nothing recorded yet: run `recorder up`",
    )
    print_listing(listing, given, now=now())
    for one in answer.clusters:
        if one.why is not None:
            note(f'cluster "{one.name}" is away: {one.why}')
    return 0 if answer.complete else INCOMPLETE
