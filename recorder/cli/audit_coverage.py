"""`recorder audit coverage`: which versions have an author."""

import click

from recorder.cli.asking import (
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
from recorder.cli.output import note, print_document, print_lines

__all__ = ["coverage"]


@click.command()
@window_options
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def coverage(
    ctx: click.Context, *, since: str | None, until: str | None, output: str
) -> int:
    r"""Count the versions of objects that an audit record made.

    A version without an author shows what the audit policy leaves out, or
    that records were lost. The whole window is read: give one.

    \b
    Example:
      recorder audit coverage --since 1h
    """
    return wait_for(_coverage(ctx, since, until, output))


async def _coverage(
    ctx: click.Context, since: str | None, until: str | None, output: str
) -> int:
    from recorder.documents.audit_coverage import AuditCoverageDocument
    from recorder.questions.audit_coverage import ask_audit_coverage
    from recorder.render.audit_coverage import (
        audit_coverage_lines,
        audit_coverage_notes,
    )

    present = now()
    window = given_window(since, until, present)
    async with open_reading(ctx) as reading:
        found = await ask_audit_coverage(reading, window, now=present)
    if output == "table":
        print_lines(audit_coverage_lines(found))
    else:
        print_document(AuditCoverageDocument.of(found), output)
    for line in audit_coverage_notes(found):
        note(line)
    return judge(found.coverage)
