"""`recorder status`: what is recorded, and how current it is."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import INCOMPLETE, opened_logs, wait_for
from recorder.cli.given import given_log, is_log_named
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import announce, note, print_document, print_lines

if TYPE_CHECKING:
    from recorder.answers.status import Status
    from recorder.wiring.reading import Logs
    from recorder.wiring.routing import RoutedLogs


@click.command()
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def status(ctx: click.Context, output: str) -> int:
    r"""Show what is recorded, how current it is, and any problems.

    Prints one block per log: who writes it, how fast it grows, and the state
    of each source and resource. PROVEN is when a resource was last confirmed
    complete; quiet resources are confirmed once a minute.

    With a registry of clusters and none named, these are the logs of all its
    databases. A cluster that is away is named, with exit status 4, and so
    are archived days that are not where the database says.

    \b
    Example:
      recorder status
      recorder status -o json | jq '.clusters[].open_gaps'
    """
    return wait_for(_status(ctx, output))


async def _status(ctx: click.Context, output: str) -> int:
    from recorder.keeping.registry import serves_registry
    from recorder.wiring.known import open_known

    opened: AbstractAsyncContextManager[Logs | RoutedLogs]
    if serves_registry(ctx.obj) and not is_log_named(ctx):
        opened = open_known(ctx.obj, on_wait=announce)
    else:
        opened = opened_logs(ctx)
    async with opened as logs:
        answer = await logs.status(given_log(ctx))
        missing = await _missing_days(logs)
    if output != "table":
        print_document(answer.shown(), output)
    else:
        print_lines(_text(answer))
    for one in answer.away:
        note(f'cluster "{one.cluster}" is away: {one.why}', colour="yellow")
    if missing is not None:
        note(f"archive: {missing}", colour="red")
    return INCOMPLETE if answer.away or missing is not None else 0


async def _missing_days(logs: "Logs | RoutedLogs") -> str | None:
    """Return the lines about archived days that are missing.

    Of several databases, each is asked by itself: ``--cluster`` names one.
    """
    from recorder.keeping.presence import missing_days
    from recorder.wiring.reading import Logs

    if not isinstance(logs, Logs):
        return None
    return (await missing_days(logs.dsn("reader"))).missing


def _text(answer: "Status") -> list[str]:
    from recorder.answers.status import (
        COLUMNS,
        days_lines,
        status_rows,
        summary,
    )
    from recorder.answers.text.lines import Columns, human_bytes

    lines = []
    for log in answer.logs:
        columns = Columns(COLUMNS)
        rows = status_rows(log, answer.now)
        lines.extend(summary(log))
        lines.extend([columns.header(rows), *columns.lines(rows), ""])
    database = answer.database
    if not database.version:
        return [*lines, "no database of the registry responds"]
    if not answer.logs:
        lines.append("nothing recorded yet: run `recorder up`")
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
