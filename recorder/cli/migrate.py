"""`recorder migrate`: the schema of the log."""

import click

from recorder.cli.asking import wait_for
from recorder.cli.options import place_options
from recorder.cli.output import announce, print_lines

__all__ = ["migrate"]


@click.command()
@click.option(
    "--check",
    is_flag=True,
    help="Only check; fail if the schema does not match this release.",
)
@click.option(
    "--sql",
    is_flag=True,
    help="Print the SQL for an empty database, roles first, and run nothing.",
)
@place_options(hidden=True)
@click.pass_context
def migrate(ctx: click.Context, *, check: bool, sql: bool) -> int:
    r"""Migrate the database schema to the one this release needs.

    Run deploy/sql/roles.sql once beforehand, and connect as a member of
    recorder_owner. The embedded PostgreSQL needs neither: `recorder up`
    migrates it.

    \b
    Example:
      recorder migrate --database-url postgresql://admin@db/recorder
      recorder migrate --check
    """
    if sql:
        from recorder.wiring.database import schema_sql

        print_lines([schema_sql(roles=True)])
        return 0
    wait_for(_migrate(ctx, check=check))
    return 0


async def _migrate(ctx: click.Context, *, check: bool) -> None:
    from recorder.wiring.database import bring_schema

    before, after = await bring_schema(ctx.obj, check=check, on_wait=announce)
    if before == after:
        print_lines([f'the schema is up to date: "{after}"'])
    else:
        print_lines(
            [f'migrated the schema from "{before or "nothing"}" to "{after}"']
        )
