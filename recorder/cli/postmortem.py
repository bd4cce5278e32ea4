"""`recorder postmortem`: a report to paste."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import (
    given_window,
    judge,
    now,
    open_reading,
    wait_for,
)
from recorder.cli.completing import node_argument
from recorder.cli.options import (
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import announce, print_document, write

if TYPE_CHECKING:
    from recorder.store.read import LogReading

__all__ = ["postmortem"]


@click.command()
@node_argument("subject", metavar="node/NAME|INCIDENT")
@window_options
@click.option(
    "--tape",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Ask a tape instead of a log; needs no database and no network.",
)
@output_option("md", "html", "json", "yaml")
@reading_options
@click.pass_context
def postmortem(ctx: click.Context, /, **given: Any) -> int:
    r"""Write the report of an incident: what, why, what it cost, how sure.

    Without a time it is about what happened to the node last; INCIDENT is an
    id of `recorder incidents`. The same log gives the same bytes.

    \b
    Example:
      recorder postmortem node/gpu-002 > postmortem.md
      recorder postmortem node/gpu-002 --since 24h -o html > report.html
      recorder postmortem node/gpu-002 --tape incident.tape.jsonl.zst
    """
    return wait_for(_postmortem(ctx, given))


async def _postmortem(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.knowledge import load
    from recorder.report.postmortem import (
        PostmortemQuestion,
        ask_postmortem,
    )

    present = now()
    question = PostmortemQuestion.about(
        given["subject"], given_window(given["since"], given["until"], present)
    )
    knowledge = load(ctx.obj.knowledge)
    async with _reading(ctx, given["tape"]) as reading:
        answer = await ask_postmortem(
            reading, question, knowledge, now=present
        )
    match given["output"]:
        case "md":
            from recorder.report.markdown import markdown

            write(markdown(answer).encode())
        case "html":
            from recorder.report.html import html

            write(html(answer).encode())
        case form:
            print_document(answer.document(), form)
    return judge(answer.coverage)


@asynccontextmanager
async def _reading(
    ctx: click.Context, tape: Path | None
) -> AsyncIterator["LogReading"]:
    if tape is None:
        async with open_reading(ctx) as reading:
            yield reading
        return
    from recorder.wiring.offline import open_tape

    async with open_tape(tape, on_wait=announce) as reading:
        yield reading
