"""The commands that record: up and record."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli.options import cluster_options
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped
from recorder.settings import Settings

if TYPE_CHECKING:
    from recorder.intake.progress import Progress
    from recorder.sources.watch.client import ClusterClient
    from recorder.wiring.beside import Beside
    from recorder.wiring.live import LiveRecording

__all__ = ["record", "up"]

CONNECT_SECONDS = 5
"""How long `up` waits for a cluster before it shows the demo instead."""

TICK_SECONDS = 1
MEASURE_TICKS = 60
"""Interval between checks of the database size."""

STEADY_TICKS = 3
"""A large cluster is found bit by bit: what is watched is said when no more
came for longer than proofs take to be committed."""

NAMES_SHOWN = 16

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
@cluster_options
@click.pass_obj
def record(
    settings: Settings, tape: Path | None, *, full_fidelity: bool
) -> None:
    r"""Record the current cluster (for use in a Deployment).

    Waits for the cluster and the database for as long as necessary, and stands
    by while another process records the same cluster.

    \b
    Example:
      RECORDER_DATABASE_URL=postgresql://recorder@db/recorder recorder record
    """
    if full_fidelity:
        settings = replace(settings, full_fidelity=True)
    run_until_stopped(
        lambda stop: _record(settings, stop, tape), fast_loop=True
    )


async def _up(
    settings: Settings, stop: asyncio.Event, tape: Path | None
) -> None:
    from recorder.cli.playing import show_demo
    from recorder.errors import RecorderError
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
    settings: Settings, stop: asyncio.Event, tape: Path | None
) -> None:
    from recorder.wiring.live import LiveRecording
    from recorder.wiring.recording import cluster_client, identify

    screen = Screen()
    live = LiveRecording(stop=stop)
    client = cluster_client(settings)
    await identify(client, live, say=screen.say)
    if live.identity is None:
        await client.close()
        return
    await _record_with(settings, live, client, tape=tape, screen=screen)


async def _record_with(
    settings: Settings,
    live: "LiveRecording",
    client: "ClusterClient",
    *,
    tape: Path | None,
    screen: Screen,
    serve: bool = False,
) -> None:
    from recorder.wiring.beside import served_beside
    from recorder.wiring.control import control
    from recorder.wiring.recording import (
        health,
        only_recorder,
        opened,
        record_cluster,
    )

    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        stack.enter_context(only_recorder(settings))
        address = await stack.enter_async_context(
            health(settings.health_listen, live.progress)
        )
        database = await opened(settings, live, stack, say=screen.say)
        if database is None:
            return
        await stack.enter_async_context(control(settings, live))
        _greet(settings, live, screen, database.says, address)
        served = None
        if serve:
            served = await stack.enter_async_context(served_beside(settings))
        async with asyncio.TaskGroup() as group:
            showing = group.create_task(_show(live, screen, served))
            try:
                await record_cluster(
                    settings,
                    database.dsn("writer"),
                    live,
                    client=client,
                    tape=tape,
                )
            finally:
                showing.cancel()
    screen.clear()
    screen.say(
        f"stopped; log {live.progress.log} is complete up to"
        f" entry {live.progress.log}/{live.progress.size}"
    )
    if served is not None and served.failed is not None:
        raise served.failed


def _greet(
    settings: Settings,
    live: "LiveRecording",
    screen: Screen,
    database: str,
    address: str,
) -> None:
    from recorder import __version__

    identity = live.identity
    assert identity is not None, "the cluster has been asked"
    screen.say(f"Recorder {__version__}")
    rows = [
        ("cluster", f"{identity.name}, Kubernetes {identity.server_version}"),
        ("writes to", database),
    ]
    if address:
        rows.append(("health", f"http://{address}/readyz and /metrics"))
    screen.facts(rows)
    prefix = ""
    if settings.database_url is None:
        prefix = "  (the same folder is found by every command)"
    screen.say(f"try in another terminal:{prefix}")
    for command in ("status", "log --follow", "gaps", "show node/NAME"):
        screen.say(f"  recorder {command}")


async def _show(
    live: "LiveRecording", screen: Screen, served: "Beside | None"
) -> None:
    """Show progress, and watch over the serving process."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_progress(live, screen))
        if served is not None:
            await _attend(served, live, screen)


async def _attend(
    served: "Beside", live: "LiveRecording", screen: Screen
) -> None:
    """Print the address of the page; stop when its process ends."""
    from recorder.errors import RecorderError

    try:
        screen.say(f"the page is at {await served.address()}")
        await served.ended()
    except RecorderError as exc:
        if not live.stop.is_set():
            served.failed = exc
            live.stop.set()


async def _progress(live: "LiveRecording", screen: Screen) -> None:
    before = live.progress.entries
    names: Sequence[str] = ()
    steady = 0
    for tick in count():
        await asyncio.sleep(TICK_SECONDS)
        progress = live.progress
        if tick % MEASURE_TICKS == 0:
            await live.measure()
        found = _listed(progress)
        steady = steady + 1 if found == names else 0
        names = found
        if names and steady == STEADY_TICKS:
            screen.say(f"watching {_named(names)}")
        rate = (progress.entries - before) / TICK_SECONDS
        before = progress.entries
        screen.state(_state(progress), _numbers(progress, rate))


def _listed(progress: "Progress") -> Sequence[str]:
    """Print which resources are watched, once all have been listed."""
    points = {r: p for (s, r), p in progress.streams.items() if s == "watch"}
    if not points or not all(p.began_at for p in points.values()):
        return ()
    return sorted(resource.rpartition("/")[2] for resource in points)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"{len(names)} resources: {shown}{rest}"


def _state(progress: "Progress") -> str:
    if progress.waiting_for:
        return f"{progress.state}: {progress.waiting_for}"
    return progress.state


def _numbers(progress: "Progress", rate: float) -> str:
    gaps = sum(point.gap is not None for point in progress.streams.values())
    return (
        f"{progress.size:,} entries  {rate:,.0f}/s"
        f"  {_proven(progress)}  {gaps} open gaps"
    )


def _proven(progress: "Progress") -> str:
    """Say how long ago every live stream was last known to be complete."""
    now = datetime.now(UTC)
    proofs = [
        point.vouched_until
        for point in progress.streams.values()
        if point.vouched_until is not None and point.state == "live"
    ]
    if not proofs or progress.state != "recording":
        return "nothing confirmed yet"
    lag = max((now - at).total_seconds() for at in proofs)
    return f"complete as of {lag:.0f} s ago"
