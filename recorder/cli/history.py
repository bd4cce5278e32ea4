"""`recorder history`: every version of an object, and what changed in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import read_command, read_question
from recorder.cli.asking import judge, open_reading, wait_for
from recorder.cli.options import output_option
from recorder.cli.output import note, wrapped
from recorder.cli.printing import Pages, Printer

if TYPE_CHECKING:
    from recorder.answers.history import ShownVersion


@read_command("history", output_option("table", "json", "yaml", "ndjson"))
def history(ctx: click.Context, /, **given: Any) -> int:
    r"""List every version of an object and what changed.

    Each version is compared with the previous one. The writers are the field
    managers whose managedFields entry changed between the two; if none did, no
    writer is shown. The syntax of field paths is described in the reference.

    \b
    Example:
      recorder history node/gpu-002 --since 2h
      recorder history pod/train/llm-0 -o ndjson | jq -c '.changed[].path'
    """
    return wait_for(_history(ctx, given))


async def _history(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.history import ask_history
    from recorder.answers.versions import heartbeat_notes

    question, present = read_question(ctx, given)
    async with open_reading(ctx) as reading:
        answer = await ask_history(reading, question, now=present)
        if answer.more:
            note(
                f"only the newest versions, at most {question.limit}; for"
                " more use --limit N or --limit all"
            )
        pages = Pages(
            name="versions",
            document=_itself,
            rows=_rows,
            nothing="no versions in this window",
            before={"object": answer.object},
        )
        printer = Printer(given["output"], pages)
        async for page in answer.pages(reading):
            printer.page(page)
        printer.end(answer)
    for line in heartbeat_notes(answer.heartbeats):
        note(line)
    return judge(answer.coverage)


def _itself(version: "ShownVersion") -> "ShownVersion":
    return version


def _rows(
    versions: "Sequence[ShownVersion]",
    is_first: bool,  # noqa: FBT001 - of the pages
) -> Iterator[bytes]:
    """Yield versions as blocks of lines, with an empty line between them."""
    from recorder.answers.versions import version_lines

    for place, version in enumerate(versions):
        if place or not is_first:
            yield b""
        lines = wrapped(version_lines(version))
        yield from (line.encode() for line in lines)
