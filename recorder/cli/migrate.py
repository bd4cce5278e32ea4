"""`recorder migrate`: the schema of the log."""

import asyncio
import time

import click

from recorder.cli.asking import wait_for
from recorder.cli.given import place_options
from recorder.cli.output import announce, note, print_lines
from recorder.model.errors import LogUnavailableError
from recorder.model.setting_values import parse_duration

AGAIN_SECONDS = 2


@click.command()
@click.option(
    "--check",
    is_flag=True,
    help="Only check; fail if the schema does not match this release.",
)
@click.option(
    "--sql",
    is_flag=True,
    help="Print the SQL and run nothing: of the upgrade of the database of"
    " --database-url, or else for an empty one, roles first.",
)
@click.option(
    "--wait",
    metavar="DURATION",
    default="0s",
    show_default=True,
    help="For how long to try again while the database is away or a recorder"
    " is in the way.",
)
@place_options(hidden=True)
@click.pass_context
def migrate(ctx: click.Context, *, check: bool, sql: bool, wait: str) -> int:
    r"""Migrate the database schema to the one this release needs.

    Run deploy/sql/roles.sql once beforehand, and connect as a member of
    recorder_owner. The embedded PostgreSQL needs neither: `recorder up`
    migrates it.

    \b
    Example:
      recorder migrate --database-url postgresql://admin@db/recorder
      recorder migrate --check
      recorder migrate --wait 30m
    """
    if sql:
        from recorder.wiring.database import schema_sql

        text = wait_for(schema_sql(ctx.obj))
        if text:
            print_lines([text])
        else:
            note("the schema is up to date: nothing to run")
        return 0
    wait_for(_migrate(ctx, check=check, wait=_duration(wait)))
    return 0


def _duration(text: str) -> float:
    try:
        return parse_duration(text).total_seconds()
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--wait") from exc


async def _migrate(ctx: click.Context, *, check: bool, wait: float) -> None:
    before, after = await _brought(ctx, check=check, wait=wait)
    if before == after:
        print_lines([f'the schema is up to date: "{after}"'])
    else:
        print_lines(
            [f'migrated the schema from "{before or "nothing"}" to "{after}"']
        )


async def _brought(
    ctx: click.Context, *, check: bool, wait: float
) -> tuple[str | None, str]:
    """Bring the schema, trying again for as long as the wait."""
    from recorder.wiring.database import bring_schema

    last = time.monotonic() + wait
    said = ""
    while True:
        try:
            return await bring_schema(ctx.obj, check=check, on_wait=announce)
        except LogUnavailableError as exc:
            if time.monotonic() + AGAIN_SECONDS > last:
                raise
            if str(exc) != said:
                said = str(exc)
                note(f"{exc}; trying again")
        await asyncio.sleep(AGAIN_SECONDS)
