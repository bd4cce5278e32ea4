"""`recorder status`: what is recorded, and how far it is."""

from typing import TYPE_CHECKING

import click

from recorder.cli.asking import opened_logs, wait_for
from recorder.cli.given import given_log
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import print_document, print_lines

if TYPE_CHECKING:
    from recorder.questions.status import Status

__all__ = ["status"]


@click.command()
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def status(ctx: click.Context, output: str) -> int:
    r"""Show what is recorded, how current it is, and any problems.

    Prints one block per log: who writes it, how fast it grows, and the state
    of each source and resource. LAG is the time since a resource was last
    confirmed complete; quiet resources are confirmed once a minute.

    \b
    Example:
      recorder status
      recorder status -o json | jq '.clusters[].open_gaps'
    """
    wait_for(_status(ctx, output))
    return 0


async def _status(ctx: click.Context, output: str) -> None:

    async with opened_logs(ctx) as logs:
        answer = await logs.status(given_log(ctx))
    if output != "table":
        from recorder.documents.status import StatusDocument

        print_document(StatusDocument.of(answer), output)
        return
    print_lines(_text(answer))


def _text(answer: "Status") -> list[str]:
    from recorder.render.status import (
        COLUMNS,
        days_lines,
        status_rows,
        summary,
    )
    from recorder.render.text import Columns, human_bytes

    lines = []
    for log in answer.logs:
        columns = Columns(COLUMNS)
        rows = status_rows(log, answer.now)
        lines.extend(summary(log))
        lines.extend([columns.header(rows), *columns.lines(rows), ""])
    if not answer.logs:
        lines.append("nothing recorded yet: run `recorder up`")
    database = answer.database
    kind = "embedded" if database.embedded else "external"
    lines.append(
        f"PostgreSQL {database.version} ({kind}),"
        f" {human_bytes(database.bytes)}"
    )
    disk = database.disk
    if disk is not None:
        lines.append(
            f"disk of {disk.path}: {human_bytes(disk.free_bytes)} of"
            f" {human_bytes(disk.total_bytes)} free"
        )
    lines.extend(days_lines(answer))
    return lines
