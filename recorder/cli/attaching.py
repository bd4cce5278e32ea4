"""`recorder archive attach`: an archive from elsewhere, to be read here."""

import click

from recorder.cli.asking import wait_for
from recorder.cli.given import place_options
from recorder.cli.output import announce, print_lines


@click.command()
@click.argument("place")
@place_options(hidden=True)
@click.pass_context
def attach(ctx: click.Context, place: str) -> None:
    r"""Attach an archive of another machine, to ask it here.

    PLACE is a folder or s3://BUCKET/PREFIX. Its logs become logs of this
    database, with every day in the archive: nothing is copied, and nothing is
    recorded into them. Manifests, sizes, and that the days are
    those of one log are checked. Run it again when days were added.

    \b
    Example:
      recorder archive attach /mnt/recorder-archive
      recorder why node/gpu-002 --log 2 --since 30d
    """
    wait_for(_attach(ctx, place))


async def _attach(ctx: click.Context, place: str) -> None:
    from recorder.keeping.attaching import attach
    from recorder.wiring.database import open_database

    async with open_database(ctx.obj, on_wait=announce) as database:
        print_lines(
            f"log {one.log}: cluster {one.cluster}, days {one.first} to"
            f" {one.last}, {one.entries:,} entries"
            for one in await attach(database.dsn("retention"), place)
        )
