"""`recorder audit`: the audit logs of API servers."""

import asyncio
from pathlib import Path

import click

from recorder.cli.asking import opened_logs
from recorder.cli.given import given_log
from recorder.cli.lazy import LazyGroup
from recorder.cli.options import reading_options
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped

__all__ = ["audit", "import_files"]


COMMANDS = {
    "import": "recorder.cli.audit:import_files",
    "coverage": "recorder.cli.audit_coverage:coverage",
}


@click.group(cls=LazyGroup, places=COMMANDS)
def audit() -> None:
    """Add the audit logs of API servers to the log.

    To follow the log of an API server while it is written, set audit_logs.
    """


@click.command(name="import")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@reading_options
@click.pass_context
def import_files(ctx: click.Context, files: tuple[Path, ...]) -> None:
    r"""Import audit log files, compressed or not.

    Each line must be an audit.k8s.io/v1 Event in JSON, as the API server
    writes it; lines that are not become refused entries. Exports of managed
    clouds are read as well, as lines or as one document: of CloudWatch (EKS),
    of Cloud Logging (GKE), and of Azure Monitor (AKS). A file that was
    imported or followed before adds only what is new in it. No recorder may
    be writing the log meanwhile.

    \b
    Example:
      recorder audit import /var/log/kubernetes/audit-*.log.gz
    """
    run_until_stopped(lambda stop: _import(ctx, files, stop))


async def _import(
    ctx: click.Context, files: tuple[Path, ...], stop: asyncio.Event
) -> None:
    from recorder.wiring.importing import import_audit

    screen = Screen()

    def show(path: Path, records: int) -> None:
        screen.progress("importing", f"{path.name}  {records:,} records")

    async with opened_logs(ctx) as logs:
        log = (await logs.read(given_log(ctx))).log
        progress = await import_audit(
            files, log, ctx.obj, logs.writer_dsn, on_progress=show, stop=stop
        )
    screen.clear()
    said = f"{progress.entries:,} records added"
    if not progress.entries:
        said = "nothing added: these files were read before"
    refused = f", {progress.refused:,} lines refused" * bool(progress.refused)
    screen.say(f'log {log.id} of "{log.cluster_name}": {said}{refused}')
