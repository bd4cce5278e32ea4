"""The commands that record: up and record."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli.calling import to_type
from recorder.cli.live import show_progress
from recorder.cli.options import cluster_options
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped
from recorder.model.settings import Settings

if TYPE_CHECKING:
    from recorder.sources.watch.client import ClusterClient
    from recorder.wiring.beside import Beside
    from recorder.wiring.database import Database
    from recorder.wiring.live import LiveRecording

CONNECT_SECONDS = 5
"""How long `up` waits for a cluster before it shows the demo instead."""

TAPE = click.option(
    "--tape",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also record to this tape, from the first observation.",
)

FULL_FIDELITY = click.option(
    "--full-fidelity",
    is_flag=True,
    help="Store heartbeats instead of only counting them.",
)


@click.command()
@TAPE
@FULL_FIDELITY
@cluster_options
@click.pass_obj
def up(settings: Settings, tape: Path | None, *, full_fidelity: bool) -> None:
    r"""Record the current cluster and serve the page.

    Records the cluster of the current kubeconfig context (or the Pod's service
    account) into the embedded PostgreSQL, or into the server set by
    RECORDER_DATABASE_URL, and serves the API and the page from a second
    process until you press Ctrl-C. If no cluster is configured, it plays the
    demo.

    \b
    Examples:
      recorder up
      recorder up --context prod
    """
    if full_fidelity:
        settings = replace(settings, full_fidelity=True)
    run_until_stopped(lambda stop: _up(settings, stop, tape), fast_loop=True)


@click.command()
@TAPE
@FULL_FIDELITY
@click.option(
    "--serve",
    is_flag=True,
    help="Also serve the API and the page, from a second process.",
)
@cluster_options
@click.pass_obj
def record(
    settings: Settings, tape: Path | None, *, full_fidelity: bool, serve: bool
) -> None:
    r"""Record the current cluster (for use in a Deployment).

    Waits for the cluster and the database for as long as necessary, and is on
    standby while another process records the same cluster.

    \b
    Example:
      RECORDER_DATABASE_URL=postgresql://recorder@db/recorder recorder record
    """
    if full_fidelity:
        settings = replace(settings, full_fidelity=True)
    run_until_stopped(
        lambda stop: _record(settings, stop, tape, serve=serve),
        fast_loop=True,
    )


async def _up(
    settings: Settings, stop: asyncio.Event, tape: Path | None
) -> None:
    from recorder.cli.playing import show_demo
    from recorder.model.errors import RecorderError
    from recorder.wiring.live import LiveRecording
    from recorder.wiring.recording import cluster_client

    screen = Screen()
    live = LiveRecording(stop=stop)
    client = None
    try:
        client = cluster_client(settings)
        async with asyncio.timeout(CONNECT_SECONDS):
            live.identity = await client.identity()
    except (RecorderError, TimeoutError) as exc:
        if client is not None:
            await client.close()
        why = str(exc) or f"no answer within {CONNECT_SECONDS} s"
        screen.say(f"no cluster answers ({why}); playing the demo instead")
        await show_demo(settings, stop, screen)
        return
    await _record_with(
        settings, live, client, tape=tape, screen=screen, serve=True
    )


async def _record(
    settings: Settings,
    stop: asyncio.Event,
    tape: Path | None,
    *,
    serve: bool,
) -> None:
    from recorder.wiring.live import LiveRecording
    from recorder.wiring.recording import cluster_client

    live = LiveRecording(stop=stop)
    client = cluster_client(settings)
    await _record_with(
        settings, live, client, tape=tape, screen=Screen(), serve=serve
    )


async def _record_with(
    settings: Settings,
    live: "LiveRecording",
    client: "ClusterClient",
    *,
    tape: Path | None,
    screen: Screen,
    serve: bool = False,
) -> None:
    from recorder.keeping.integrity import Checkpointing
    from recorder.wiring.beside import served_beside
    from recorder.wiring.control import control
    from recorder.wiring.receiving import senders_served
    from recorder.wiring.recording import (
        health,
        identify,
        only_recorder,
        record_cluster,
    )

    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        stack.enter_context(only_recorder(settings))
        address = await stack.enter_async_context(
            health(settings.health_listen, live.progress)
        )
        if not await identify(client, live, say=screen.say):
            return
        webhook = await stack.enter_async_context(
            senders_served(settings, live)
        )
        database = await _opened(settings, live, stack, screen)
        if database is None:
            return
        await stack.enter_async_context(control(settings, live))
        await stack.enter_async_context(
            _beside(settings, live, screen, serve=serve)
        )
        served = await stack.enter_async_context(
            served_beside(settings) if serve else nullcontext()
        )
        rows = _rows(live, database.says, (address, webhook))
        dsn = database.dsn("writer")
        checkpoints = Checkpointing(settings, dsn, live.progress)
        async with asyncio.TaskGroup() as group:
            beside = (
                group.create_task(_show(live, screen, served, rows)),
                group.create_task(checkpoints.run()),
            )
            try:
                await record_cluster(
                    settings, dsn, live, client=client, tape=tape
                )
            finally:
                for task in beside:
                    task.cancel()
        await checkpoints.now()
    _end(live, screen, served)


@asynccontextmanager
async def _beside(
    settings: Settings, live: "LiveRecording", screen: Screen, *, serve: bool
) -> AsyncIterator[None]:
    """Retain days, notify and measure, in processes of their own."""
    from recorder.wiring.beside import followed_beside, retained_beside

    async with (
        retained_beside(settings, live, say=screen.say),
        followed_beside(settings, with_api=serve, say=screen.say),
    ):
        yield


async def _opened(
    settings: Settings,
    live: "LiveRecording",
    stack: AsyncExitStack,
    screen: Screen,
) -> "Database | None":
    """Wait for the database; return None if a stop came first."""
    from recorder.wiring.database import open_database
    from recorder.wiring.waiting import opened

    return await opened(
        lambda: open_database(settings, on_wait=screen.say),
        stack,
        live.stop,
        settings=settings,
        waits=lambda exc: live.progress.wait_for(str(exc)),
        say=screen.say,
    )


def _end(
    live: "LiveRecording", screen: Screen, served: "Beside | None"
) -> None:
    screen.clear()
    screen.say(
        f"stopped; log {live.progress.log} is complete up to"
        f" entry {live.progress.log}/{live.progress.size}"
    )
    if served is not None and served.failed is not None:
        raise served.failed


def _rows(
    live: "LiveRecording", database: str, addresses: tuple[str, str]
) -> list[tuple[str, str]]:
    """Return what is recorded, and where health and audit records go."""
    identity = live.identity
    assert identity is not None, "the cluster has been asked"
    address, webhook = addresses
    rows = {
        "cluster": f"{identity.name}, Kubernetes {identity.server_version}",
        "writes to": database,
        "health": address and f"http://{address}/readyz and /metrics",
        "senders": webhook,
    }
    return [(name, value) for name, value in rows.items() if value]


async def _show(
    live: "LiveRecording",
    screen: Screen,
    served: "Beside | None",
    rows: list[tuple[str, str]],
) -> None:
    """Greet, show progress, and watch over the serving process.

    Its address comes when it answers, which takes seconds.
    """
    from recorder import __version__

    screen.say(f"Recorder {__version__}")
    screen.facts(rows)
    screen.say("try in another terminal:")
    for command in ("status", "incidents", "why node/NAME", "log --follow"):
        screen.say(f"  {to_type(command)}")
    async with asyncio.TaskGroup() as group:
        group.create_task(show_progress(live, screen))
        if served is not None:
            with _stopped_with(served, live):
                screen.facts([("page", await served.address())])
                await served.ended()


@contextmanager
def _stopped_with(served: "Beside", live: "LiveRecording") -> Iterator[None]:
    """Stop the recording if the process that serves ends."""
    from recorder.model.errors import RecorderError

    try:
        yield
    except RecorderError as exc:
        if not live.stop.is_set():
            served.failed = exc
            live.stop.set()
