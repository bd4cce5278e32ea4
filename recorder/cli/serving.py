"""The commands about the served API: serve and open."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import open_reading, wait_for
from recorder.cli.completing import objects
from recorder.cli.given import given_log, place_options
from recorder.cli.options import reading_options
from recorder.cli.output import note, print_lines
from recorder.cli.stopping import run_until_stopped, stop_at_end_of_input
from recorder.model.errors import RecorderError

if TYPE_CHECKING:
    from recorder.answers.naming import Reference
    from recorder.model.settings import Settings


LISTEN = click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Address of the API and the page [RECORDER_SERVE_LISTEN]."
    " Port 0 picks a free port.",
)


@click.command()
@LISTEN
@click.option(
    "--beside",
    is_flag=True,
    hidden=True,
    help="Exit when standard input closes; if the port is in use, use"
    " another.",
)
@place_options(hidden=True)
@click.pass_obj
def serve(settings: "Settings", listen: str | None, *, beside: bool) -> None:
    r"""Serve the API and the page (for use in a Deployment).

    Waits for the database for as long as necessary, prints the address of the
    page and serves until you press Ctrl-C. Access is read-only. On any address
    other than loopback, clients need a token: see `recorder token`.

    \b
    Examples:
      recorder serve
      recorder serve --listen 127.0.0.1:0
    """
    run_until_stopped(
        lambda stop: _serve(settings, stop, listen, beside=beside),
        fast_loop=True,
    )


async def _serve(
    settings: "Settings",
    stop: asyncio.Event,
    listen: str | None,
    *,
    beside: bool,
) -> None:
    from recorder.wiring.serving import serving

    if beside:
        stop_at_end_of_input(stop)
    async with serving(
        settings, stop, listen=listen, any_port=beside, say=note
    ) as address:
        if not stop.is_set():
            print_lines([address])
        await stop.wait()


@click.command(name="open")
@click.argument(
    "name", metavar="[OBJECT]", required=False, shell_complete=objects
)
@click.option(
    "--print",
    "only_print",
    is_flag=True,
    help="Only print the address.",
)
@reading_options
@click.pass_context
def open_page(
    ctx: click.Context, name: str | None, *, only_print: bool
) -> None:
    r"""Open the page in a browser, or print its address.

    OBJECT is written as for kubectl, as in node/gpu-002 or pod/train/llm-0; a
    bare name is that of a node. The page is served by `recorder up` or
    `recorder serve`. Fails if the address is held by a server that was started
    from another data folder, or if the log has no such cluster or object.

    \b
    Examples:
      recorder open
      recorder open node/gpu-002
      recorder open --cluster demo jobset/train/llm-pretrain
    """
    from recorder.wiring.addresses import Server, find_page

    settings: Settings = ctx.obj
    page = find_page(settings)
    if page.server is Server.ANOTHER and settings.database_url is None:
        msg = (
            f"nothing serves this log: what answers at {page.address} was"
            " started from another data folder"
        )
        advice = "start `recorder serve --listen 127.0.0.1:0`"
        raise RecorderError(msg, advice=advice, code="served.another")
    address = page.address + _view(ctx, name)
    print_lines([address])
    if page.server is Server.ANOTHER:
        note("its server was started elsewhere: it may serve another database")
    elif page.server is Server.NONE:
        note("nothing answers there: start `recorder up` or `recorder serve`")
        return
    if only_print or not sys.stdout.isatty():
        return
    import webbrowser

    if not webbrowser.open(address):
        note("no browser found: open the address manually")


def _view(ctx: click.Context, name: str | None) -> str:
    """Return the path of what is asked for, once the log is known to have it.

    A server may be of a database that only it knows; then nothing is checked.
    """
    from recorder.answers.naming import NODE_WORDS, Reference
    from recorder.answers.page_address import view, view_of_object
    from recorder.wiring.reading import is_used

    settings: Settings = ctx.obj
    log, cluster = given_log(ctx), settings.cluster
    named = None if name is None else Reference.bare(name)
    if (named or log or cluster) and is_used(settings):
        cluster = wait_for(_found(ctx, named))
    number = None if log is None else str(log)
    cluster = cluster if number is None else None
    if named is None or not named.word or named.word.lower() in NODE_WORDS:
        node = None if named is None else named.name
        return view(node, cluster=cluster, log=number)
    return view_of_object(named, cluster=cluster, log=number)


async def _found(ctx: click.Context, named: "Reference | None") -> str:
    """Check that the log has an object; return the name of its cluster."""
    from recorder.answers.references import find_node, find_objects

    async with open_reading(ctx) as reading:
        if named is not None and not named.word:
            await find_node(reading, named.name)
        elif named is not None:
            await find_objects(reading, named)
        return reading.log.cluster_name
