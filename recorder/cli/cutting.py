"""`recorder tape cut`: a part of a log as a tape."""

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import given_window, judge, now, opened_logs
from recorder.cli.calling import to_type
from recorder.cli.given import given_log
from recorder.cli.options import reading_options, window_options
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped

if TYPE_CHECKING:
    from recorder.answers.ports import Reading
    from recorder.model.reference import EntryName
    from recorder.sources.tape.export import Cut, CutTape

BEFORE = timedelta(hours=2)
BEHIND = timedelta(minutes=15)
"""What is cut around an incident."""


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@window_options
@click.option(
    "--node",
    "nodes",
    metavar="NAME",
    multiple=True,
    help="Only what concerns this node; repeatable.",
)
@click.option(
    "--incident",
    metavar="ID",
    help="The nodes and the time of this incident, as `incidents -o wide`"
    " names it, instead of --since, --until and --node.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@reading_options
@click.pass_context
def cut(
    ctx: click.Context,
    /,
    *,
    file: Path,
    nodes: Sequence[str],
    incident: str | None,
    force: bool,
    **ends: str | None,
) -> int:
    r"""Cut a tape from the log to share part of it.

    The tape is self-contained: it begins with a list of all objects that
    existed, taken from the log, and holds every entry of the window. With
    --node it holds only what concerns these nodes: the Node and its Lease, the
    Pods bound to it and their owners, Events about these or from the node, and
    the namespaces. The file appears once it is complete.

    \b
    Example:
      recorder tape cut incident.tape.jsonl.zst --since 3h --until 2h
      recorder tape cut gpu-002.tape.jsonl.zst --since 1d --node gpu-002
      recorder tape cut incident.tape.jsonl.zst --incident 1/450
    """
    from recorder.sources.tape.export import Cut

    if incident is not None and (nodes or any(ends.values())):
        ctx.fail(
            "--incident names nodes and time: remove --since, --until and"
            " --node"
        )
    screen = Screen()

    def show(frames: int, part: float) -> None:
        screen.progress("cutting", f"{frames:,} frames  {part * 100:.0f} %")

    wanted = Cut(
        path=file,
        window=given_window(ends["since"], ends["until"], now()),
        nodes=tuple(dict.fromkeys(nodes)),
        overwrite=force,
        event_ttl=ctx.obj.event_ttl,
        on_progress=show,
    )
    done: list[CutTape] = []

    async def work(stop: asyncio.Event) -> None:
        try:
            done.append(await _cut(ctx, wanted, stop, incident))
        finally:
            screen.clear()

    run_until_stopped(work)
    (made,) = done
    played = to_type(f"tape play {shlex.quote(str(file))}")
    screen.say(
        f"{file}: {made.frames:,} frames with {made.entries:,} entries of log"
        f" {made.log}; play it with: {played}"
    )
    if made.without_frame:
        screen.say(
            f"{made.without_frame} jumps of the recorder's clock were left"
            " out: a tape cannot hold them"
        )
    return judge(made.coverage)


async def _cut(
    ctx: click.Context,
    wanted: "Cut",
    stop: asyncio.Event,
    incident: str | None,
) -> "CutTape":
    from recorder.answers.log_questions import entry_name
    from recorder.sources.tape.export import cut_tape

    name = None if incident is None else entry_name(incident)
    log = None if name is None else name.log
    async with opened_logs(ctx, log) as logs:
        reading = await logs.read(given_log(ctx) or log)
        if name is not None:
            wanted = await _around(ctx, reading, wanted, name)
        return await cut_tape(reading, wanted, stop, now=now())


async def _around(
    ctx: click.Context, reading: "Reading", wanted: "Cut", name: "EntryName"
) -> "Cut":
    """Return the cut of what is needed to explain an incident again."""
    from recorder.answers.incident import ask_incident
    from recorder.explain.knowledge import load
    from recorder.model.window import Window

    knowledge = load(ctx.obj.knowledge)
    found = await ask_incident(reading, name, knowledge, now=now())
    (one,) = found.incidents
    last = found.coverage.window.until or now()
    end = None if one.until is None else one.until + BEHIND
    began = [s.began_at for s in reading.streams if s.began_at is not None]
    since = one.since - BEFORE
    # What precedes the recording is not missing from it.
    is_whole = began and since <= min(began) and max(began) <= one.since
    window = Window.between(
        None if is_whole else since, end if end and end < last else None
    )
    return replace(wanted, window=window, nodes=tuple(one.nodes))
