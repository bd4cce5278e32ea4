"""`recorder notifications`: what was posted, failed, and is waiting."""

from collections.abc import Mapping
from typing import Any

import click

from recorder.cli.asking import now, wait_for
from recorder.cli.given import place_options
from recorder.cli.listing import list_options, print_listing
from recorder.cli.options import limit_option
from recorder.cli.output import note

STATES = ("waiting", "posted", "failed")


@click.command()
@click.option(
    "--state",
    type=click.Choice(STATES),
    multiple=True,
    help="Only these: waiting, posted or failed. Repeatable.",
)
@click.option("--rule", metavar="NAME", help="Only those of this rule.")
@click.option(
    "--in-log",
    type=click.IntRange(min=1),
    metavar="ID",
    help="Only those about this log.",
)
@click.option(
    "--retry",
    type=click.IntRange(min=1),
    metavar="ID",
    help="Have one that failed posted again, for a day.",
)
@limit_option
@list_options()
@place_options(hidden=True)
@click.pass_context
def notifications(ctx: click.Context, /, **given: Any) -> int:
    r"""List what `recorder notify` posted, and what failed.

    Newest first. An incident has a message for each of its verdicts.

    \b
    Examples:
      recorder notifications
      recorder notifications --state failed -o wide
      recorder notifications --retry 17
    """
    return wait_for(_notifications(ctx, given))


async def _notifications(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from msgspec.structs import replace

    from recorder.answers.text.shown import Item, Listing
    from recorder.model.errors import NotFoundError
    from recorder.notification.listing import (
        COLUMNS,
        Notifications,
        notification_cells,
    )
    from recorder.notification.ports import State
    from recorder.wiring.notifying import listed, posted_again

    retried = given["retry"]
    if retried is not None:
        if not await posted_again(ctx.obj, retried):
            msg = f"there is no notification {retried} that failed"
            advice = "`recorder notifications --state failed` lists them"
            raise NotFoundError(msg, advice=advice)
        note(f"notification {retried} is posted again by `recorder notify`")
        return 0
    found = await listed(
        ctx.obj,
        states=[State(word) for word in given["state"]],
        rule=given["rule"],
        log_id=given["in_log"],
        limit=given["limit"],
    )
    empty = Notifications(notifications=())
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(str(one.id), notification_cells(one), one) for one in found
        ],
        whole=lambda shown: replace(empty, notifications=shown),
        nothing="no notifications",
    )
    print_listing(listing, given, now=now())
    return 0
