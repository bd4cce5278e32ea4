"""The commands about tapes that write: tape play, tape record, demo."""

import asyncio
import shlex
import sys
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import now
from recorder.cli.calling import to_type
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped
from recorder.model.settings import Settings

if TYPE_CHECKING:
    from recorder.intake.progress import Progress
    from recorder.sources.tape import TapeProgress

DEMO = "demo.tape.jsonl.zst"
REPAIRED, CRASHED = "gpu-002", "gpu-007"
"""On the tape, one node is repaired and another crashes."""


class _Speed(click.ParamType[float | None]):
    """``max``, or how many times faster than it happened."""

    name = "speed"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float | None:
        if value == "max" or value is None:
            return None
        try:
            speed = float(str(value))
        except ValueError:
            speed = 0
        if not speed > 0:  # which holds of NaN too
            self.fail(
                f'"{value}" is not a valid speed: use 1, 100 or max',
                param,
                ctx,
            )
        return speed


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--cluster", "name", help="Name of the log. Default: the name on the tape."
)
@click.option(
    "--speed",
    type=_Speed(),
    default="max",
    show_default=True,
    help="1 for real time, 100 for a hundred times as fast, or max.",
)
@click.pass_obj
def play(
    settings: Settings, file: Path, name: str | None, speed: float | None
) -> None:
    r"""Play a tape into a log of its own.

    A partly played tape resumes where it stopped. Playing a complete tape
    again adds nothing.

    \b
    Example:
      recorder tape play incident.tape.jsonl.zst
      recorder log --cluster demo
    """

    async def play_and_name(stop: asyncio.Event) -> None:
        log = await _play(settings, file, name=name, speed=speed, stop=stop)
        await _name(settings, log)

    run_until_stopped(play_and_name, fast_loop=True)


async def _name(settings: Settings, number: int) -> None:
    """Say how to ask a log that shares the name of its cluster."""
    from recorder.wiring.reading import open_logs

    async with open_logs(_unregistered(settings)) as logs:
        every = await logs.every()
    names = {log.id: log.cluster_name for log in every}
    own = names.pop(number)
    if own in names.values():
        Screen().say(
            f'another log is of "{own}" too: ask this one with'
            f" --log {number}, or play with --cluster to name it"
        )


def _unregistered(settings: Settings) -> Settings:
    """Return the settings of where tapes are played, a registry or not."""
    return replace(settings, clusters_file=None)


@click.command(name="record")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def record_tape(settings: Settings, file: Path) -> None:
    r"""Record what the running recorder observes, until Ctrl-C.

    The tape begins with a list of all current objects, taken from the log. The
    recorder must be running on this machine with the same data folder.

    \b
    Example:
      recorder tape record incident.tape.jsonl.zst
    """
    run_until_stopped(
        lambda stop: _record_tape(settings, file.absolute(), stop)
    )


@click.command()
@click.option(
    "--no-serve",
    is_flag=True,
    help="Exit after playing the tape, without serving the page.",
)
@click.pass_obj
def demo(settings: Settings, *, no_serve: bool) -> None:
    r"""Play the tape of the package, and serve its page.

    It shows ten GPU nodes. A GPU of one fails under a training job, and a
    controller drains and reboots the node; another node crashes without a
    trace. On a terminal, the page is served until you press Ctrl-C.

    \b
    Example:
      recorder demo
    """
    run_until_stopped(
        lambda stop: show_demo(settings, stop, Screen(), serve=not no_serve)
    )


async def show_demo(
    settings: Settings,
    stop: asyncio.Event,
    screen: Screen,
    *,
    serve: bool = True,
) -> None:
    """Play the demo tape, print what happened and what to try next."""
    from recorder.answers.page_address import view

    with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
        log = await _play(settings, tape, name="demo", speed=None, stop=stop)
    if stop.is_set():
        return
    lines, verdict = await _happened(settings, log)
    for line in lines:
        screen.say(line)
    screen.say("try next:")
    for command in (
        f"why --log {log} node/{REPAIRED}",
        f"why --log {log} node/{CRASHED}",
        f"impact --log {log} node/{REPAIRED}",
        f"replay --log {log} node/{REPAIRED}",
        f"log --log {log} --node {REPAIRED}",
        f"incidents --log {log}",
        "status",
    ):
        screen.say(f"  {to_type(command)}")
    path = view(REPAIRED, log=str(log), verdict=verdict)
    await _show_page(settings, stop, screen, path, serve=serve)


async def _show_page(
    settings: Settings,
    stop: asyncio.Event,
    screen: Screen,
    path: str,
    *,
    serve: bool,
) -> None:
    """Serve the page on a terminal; else print how to see it."""
    from recorder.wiring.addresses import Server, find_page
    from recorder.wiring.serving import serving

    if not (serve and sys.stderr.isatty()):
        page = find_page(settings)
        if page.server is Server.ANOTHER and settings.database_url is None:
            screen.say("for the page, run:")
            screen.say(f"  {to_type('serve --listen 127.0.0.1:0')}")
            return
        if page.server is Server.OURS:
            screen.say("the page:")
        else:
            screen.say("the page, while `recorder serve` is running:")
        screen.say(f"  {page.address}{path}")
        return
    async with serving(settings, stop, any_port=True) as address:
        screen.say("the page, until you press Ctrl-C:")
        screen.say(f"  {address}{path}")
        await stop.wait()


async def _happened(
    settings: Settings, log: int
) -> tuple[list[str], str | None]:
    """Return what happened in the demo and what it cost; the verdict's id."""
    from recorder.answers.impact import ask_impact, cost
    from recorder.answers.node_questions import ImpactQuestion
    from recorder.answers.text.lines import plain
    from recorder.explain.knowledge import load
    from recorder.model.window import Window
    from recorder.wiring.reading import open_logs

    lines: list[str] = []
    verdicts: list[str] = []
    async with open_logs(_unregistered(settings)) as logs:
        reading = await logs.read(log)
        for node in (REPAIRED, CRASHED):
            question = ImpactQuestion(
                nodes=(node,), rack=None, labels=(), window=Window()
            )
            answer = await ask_impact(
                reading, question, load(settings.knowledge), now=now()
            )
            lines += [plain(failure.sentence) for failure in answer.failures]
            if answer.workloads:
                lines.append(cost(answer.totals, answer.workloads))
            verdicts += [str(failure.verdict) for failure in answer.failures]
    return lines, next(iter(verdicts), None)


async def _play(
    settings: Settings,
    file: Path,
    *,
    name: str | None,
    speed: float | None,
    stop: asyncio.Event,
) -> int:
    """Play a tape; return the number of its log."""
    from recorder.keeping.playing import Playing, play_tape, see_tape
    from recorder.wiring.database import open_database

    screen = Screen()
    see_tape(file)
    screen.say(f"playing {file.name}")

    def show(progress: "TapeProgress") -> None:
        done = progress.bytes_read / max(progress.bytes_total, 1) * 100
        if progress.frame:
            screen.progress("playing", f"{done:.0f} %")

    async with open_database(settings, on_wait=screen.say) as database:
        playing = Playing(
            path=file, cluster=name, speed=speed, on_progress=show
        )
        played = await play_tape(
            playing, settings, database.dsn("writer"), stop
        )
    screen.clear()
    screen.say(_outcome(played.progress, played.cluster))
    return played.progress.log


def _outcome(progress: "Progress", cluster: str) -> str:
    added = f"{progress.entries:,} entries added"
    if not progress.entries:
        added = "nothing added: already played"
    return (
        f'log {progress.log} of "{cluster}": {added},'
        f" {progress.size:,} in all, {sum(progress.gaps.values())} gaps opened"
    )


async def _record_tape(
    settings: Settings, file: Path, stop: asyncio.Event
) -> None:
    from recorder.wiring.control import ask_for_tape

    screen = Screen()
    async for frames in ask_for_tape(settings, file, stop):
        screen.state("recording", f"{frames:,} frames to {file}")
    screen.clear()
    inspect = to_type(f"tape info {shlex.quote(str(file))}")
    screen.say(f"closed {file}; inspect it with: {inspect}")
