"""`recorder doctor`: what is missing, and how to fix it."""

import click

from recorder.cli.asking import wait_for
from recorder.cli.options import cluster_options, output_option
from recorder.cli.output import announce, paint, print_document, print_lines


@click.command()
@output_option("table", "json", "yaml")
@cluster_options
@click.pass_context
def doctor(ctx: click.Context, output: str) -> int:
    r"""Check everything that Recorder needs and report problems.

    Checks the data folder and its disk, the cluster and each permission, the
    clocks, kernel limits, the database with its roles, schema and guards, the
    lease, and the redaction key, in the order in which to fix them, each with
    a remedy. Checks skipped because of an earlier failure are marked with a
    dash. Changes nothing and takes at most two minutes. The exit status is 1
    if a check failed.

    \b
    Example:
      recorder doctor
      recorder doctor -o json | jq '.checks[] | select(.ok | not)'
    """
    return wait_for(_doctor(ctx, output))


async def _doctor(ctx: click.Context, output: str) -> int:
    import sys

    from recorder.doctor import check_lines, checks_document
    from recorder.doctor.checkup import checkup
    from recorder.wiring.checkup import probes

    checks = []
    async for check in checkup(ctx.obj, probes(ctx.obj, on_wait=announce)):
        checks.append(check)
        if output == "table":
            colour = None if check.ok else "red"
            print_lines(
                paint(line, colour, sys.stdout) for line in check_lines(check)
            )
    if output != "table":
        print_document(checks_document(checks), output)
    return 0 if all(check.ok for check in checks) else 1
