"""`recorder info`: the span, size, gaps and last proof of each log."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.asking import now, opened_logs, wait_for
from recorder.cli.given import given_log
from recorder.cli.listing import list_options, print_listing
from recorder.cli.options import reading_options


@click.command()
@list_options()
@reading_options
@click.pass_context
def info(ctx: click.Context, /, **given: Any) -> int:
    r"""List the span, size, outages and last proof of each log.

    FROM is the first entry that is in the database; older days may be in the
    archive. OUTAGES is how many spans may be incomplete; `recorder gaps` lists
    them. PROVEN is when the newest checkpoint was signed.

    \b
    Example:
      recorder info
      recorder info --cluster prod -o json
    """
    return wait_for(_info(ctx, given))


async def _info(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from msgspec.structs import replace

    from recorder.answers.extents import COLUMNS, extent_cells
    from recorder.answers.text.lines import human_bytes
    from recorder.answers.text.shown import Item, Listing

    async with opened_logs(ctx) as logs:
        answer = await logs.extents(given_log(ctx), now=now())
    size = f"database: {human_bytes(answer.bytes)}"
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(str(one.log), extent_cells(one), one) for one in answer.logs
        ],
        whole=lambda shown: replace(answer, logs=shown),
        nothing="nothing recorded yet: run `recorder up`",
        after=[size],
    )
    print_listing(listing, given, now=now())
    return 0
