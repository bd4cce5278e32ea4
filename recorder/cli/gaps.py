"""`recorder gaps`: spans that the log cannot vouch for."""

from typing import TYPE_CHECKING

import click

from recorder.cli.asking import (
    INCOMPLETE,
    given_window,
    judge,
    now,
    open_reading,
    wait_for,
)
from recorder.cli.options import (
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import (
    json_bytes,
    note,
    print_document,
    print_lines,
)

if TYPE_CHECKING:
    from recorder.questions.gaps import GapAnswer

__all__ = ["gaps"]


@click.command()
@window_options
@output_option("table", "json", "yaml", "ndjson")
@reading_options
@click.pass_context
def gaps(
    ctx: click.Context, since: str | None, until: str | None, output: str
) -> int:
    r"""List the time spans in which the log may be incomplete.

    A gap begins at the last proof that nothing was missed and ends with the
    first complete list after it. PROVED is what that list showed. A gap is
    healed if its watch could be resumed after all: nothing is missing.

    The exit status is 4 if anything in the window may be missing, so a script
    can check whether last night was recorded completely.

    \b
    Example:
      recorder gaps --since 12h
      recorder gaps --since 2026-11-21T03:00:00Z --until 2026-11-21T04:00:00Z
    """
    return wait_for(_gaps(ctx, since, until, output))


async def _gaps(
    ctx: click.Context, since: str | None, until: str | None, output: str
) -> int:
    from recorder.documents.coverage import GapsDocument, HoleDocument
    from recorder.questions.gaps import ask_gaps

    at = now()
    window = given_window(since, until, at)
    async with open_reading(ctx) as reading:
        answer = await ask_gaps(reading, window, now=at)
    if answer.more:
        note(f"{answer.more} older gaps not shown: use --since")
    if output == "table":
        print_lines(_text(answer))
        return 0 if answer.coverage.complete else INCOMPLETE
    if output == "ndjson":
        print_lines(
            json_bytes(HoleDocument.of_gap(gap), on_one_line=True).decode()
            for gap in answer.gaps
        )
    else:
        print_document(GapsDocument.of(answer), output)
    return judge(answer.coverage)


def _text(answer: "GapAnswer") -> list[str]:
    from recorder.render.coverage import (
        GAP_COLUMNS,
        coverage_lines,
        detail_lines,
        gap_rows,
    )
    from recorder.render.text import Columns

    rows = gap_rows(answer)
    if not rows:
        return [f"no gaps: {line}" for line in coverage_lines(answer.coverage)]
    columns = Columns(GAP_COLUMNS)
    lines = [columns.header(rows), *columns.lines(rows)]
    for gap in answer.gaps:
        lines.extend(detail_lines(gap))
    return lines
