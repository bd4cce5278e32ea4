"""`recorder postmortem`: a report to paste."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import read_command, read_question
from recorder.cli.asking import judge, open_reading, wait_for
from recorder.cli.options import output_option
from recorder.cli.output import announce, print_document, write

if TYPE_CHECKING:
    from recorder.answers.ports import Reading
    from recorder.model.reference import EntryName
    from recorder.wiring.reading import OpenedLog


@read_command(
    "postmortem",
    click.option(
        "--tape",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Read a tape instead of a log; needs no database or network.",
    ),
    click.option(
        "--page",
        metavar="ADDRESS",
        help="Link each entry to the page that is served at this address.",
    ),
    click.option(
        "--as-of",
        metavar="LOG/POSITION",
        help="Read the log only up to this entry.",
    ),
    output_option("md", "html", "json", "yaml"),
)
def postmortem(ctx: click.Context, /, **given: Any) -> int:
    r"""Write the report of an incident.

    Reports the impact, the phases from start to resolution, the cause, how it
    was detected and what could not be seen, and what to do, of a node, a
    rack, a workload, an incident by its ID from `recorder incidents`, or what
    ended a workload by its ID from `recorder why -o json`. A bare name is that
    of a node, or else of a workload. Without a time, reports the most recent
    incident, of a workload what ended it last. The report ends with the
    command that reproduces it byte for byte, whatever has been recorded since.

    \b
    Example:
      recorder postmortem node/gpu-002 > postmortem.md
      recorder postmortem node/gpu-002 --since 24h -o html > report.html
      recorder postmortem llm-70b
      recorder postmortem job/train/llm --page https://recorder.example.com
      recorder postmortem --rack r07 --since 24h
      recorder postmortem node/gpu-002 --tape incident.tape.jsonl.zst
    """
    return wait_for(_postmortem(ctx, given))


async def _postmortem(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.log_questions import entry_name
    from recorder.answers.postmortem import ask_postmortem
    from recorder.explain.knowledge import load

    question, present = read_question(ctx, given)
    address = _page_address(given["page"])
    knowledge = load(ctx.obj.knowledge)
    as_of = given["as_of"] and entry_name(given["as_of"])
    log = as_of.log if as_of else question.log
    opened = _opened(ctx, given["tape"], log)
    async with _reading(opened, as_of) as reading:
        answer = await ask_postmortem(
            reading, question, knowledge, now=present
        )
    form = given["output"]
    if form in {"md", "html"}:
        from recorder.answers.html import html
        from recorder.answers.markdown import markdown
        from recorder.answers.report import page_of

        page = address and page_of(answer, address)
        text = (html if form == "html" else markdown)(answer, page=page)
        write(text.encode())
    else:
        print_document(answer, form)
    return judge(answer.coverage)


def _page_address(text: str | None) -> str | None:
    if text is None or text.startswith(("http://", "https://")):
        return text
    msg = f'"{text}" is no address of a page: it begins with https://'
    raise click.UsageError(msg)


@asynccontextmanager
async def _reading(
    opened: AbstractAsyncContextManager["OpenedLog"],
    as_of: "EntryName | None",
) -> AsyncIterator["Reading"]:
    from recorder.answers.entry import ask_entry

    async with opened as reading:
        if as_of is None:
            yield reading
            return
        await ask_entry(reading, as_of)
        yield await reading.pinned(as_of.position)


def _opened(
    ctx: click.Context, tape: Path | None, log: int | None
) -> AbstractAsyncContextManager["OpenedLog"]:
    if tape is None:
        return open_reading(ctx, log)
    # It knows how to record, which takes half a second to import.
    from recorder.wiring.offline import open_tape

    return open_tape(tape, on_wait=announce)
