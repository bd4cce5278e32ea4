"""`recorder audit`: the audit logs of API servers."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import INCOMPLETE, opened_logs
from recorder.cli.given import given_log
from recorder.cli.lazy import LazyGroup
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import print_document, print_lines
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped
from recorder.model.errors import InputError

if TYPE_CHECKING:
    from recorder.facts.coverage.ports import Log
    from recorder.keeping.importing import Imported
    from recorder.sources.audit import ImportedFile

__all__ = ["audit", "import_files"]


COMMANDS = {
    "import": "recorder.cli.audit:import_files",
    "coverage": "recorder.cli.answers:coverage",
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
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what would be added and refused; write nothing.",
)
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def import_files(
    ctx: click.Context,
    files: tuple[Path, ...],
    output: str,
    *,
    dry_run: bool,
) -> int:
    r"""Import audit records from files.

    Takes what API servers write (audit.k8s.io v1, v1beta1, v1alpha1), one
    record a line or in any other arrangement, and what clouds and log
    collectors export of it; compressed (gzip, bzip2, xz, zstd), packed (zip,
    tar) or in UTF-16. Records that are in the log already are not added
    again. Lines that are not audit records are reported, and become one gap
    of the log. A file without any record changes nothing. --log names a log
    of a cluster or of a tape. No recorder may be writing the log meanwhile.

    The exit status is 4 if lines were refused or cut off, and 1 if no file
    has an audit record.

    \b
    Example:
      recorder audit import /var/log/kubernetes/audit-*.log.gz
    """
    log, imported = run_until_stopped(
        lambda stop: _import(ctx, files, stop, dry_run=dry_run)
    )
    if output == "table":
        print_lines(_text(log, imported, dry_run=dry_run))
    else:
        print_document(_document(log, imported, dry_run=dry_run), output)
    taken = [f for f in imported.files if f.records and not f.trouble]
    if not taken and not all(file.read_before for file in imported.files):
        none = [f for f in imported.files if not f.read_before]
        names = ", ".join(Path(file.path).name for file in none[:3])
        msg = f"no audit record was found in {names}" + (
            f" and {len(none) - 3} more files" if len(none) > 3 else ""  # noqa: PLR2004
        )
        advice = (
            "docs/operations.md lists the exports that are read; Events and"
            " dumps are for `recorder import`"
        )
        raise NoRecordError(msg, advice=advice)
    is_whole = all(file.is_whole for file in imported.files)
    return 0 if is_whole and not imported.refused else INCOMPLETE


class NoRecordError(InputError):
    """No file of the import has an audit record."""

    code = "input.no_record"


async def _import(
    ctx: click.Context,
    files: tuple[Path, ...],
    stop: asyncio.Event,
    *,
    dry_run: bool,
) -> "tuple[Log, Imported]":
    from recorder.keeping.importing import import_audit

    screen = Screen()

    def show(file: "ImportedFile") -> None:
        refused = file.refused + file.cut
        screen.progress(
            "importing",
            f"{Path(file.path).name}  {file.records:,} records"
            + f", {refused:,} refused" * bool(refused),
        )

    async with opened_logs(ctx) as logs:
        log = (await logs.read(given_log(ctx))).log
        imported = await import_audit(
            files,
            log,
            ctx.obj,
            logs.writer_dsn,
            dry_run=dry_run,
            on_progress=show,
            stop=stop,
        )
    screen.clear()
    return log, imported


def _text(log: "Log", imported: "Imported", *, dry_run: bool) -> list[str]:
    would = "would be " * dry_run
    lines = []
    for file in imported.files:
        counts = [
            f"{count:,} {word}"
            for count, word in (
                (file.records, _plural(file.records, "record")),
                (file.undated, "of them without a time"),
                (file.refused, "refused"),
                (file.cut, "cut off"),
                (file.other, _plural(file.other, "line") + " of other logs"),
            )
            if count
        ]
        said = ", ".join(counts) or "nothing"
        if file.read_before:
            said = "read before"
        lines.append(f"{file.path}: {said}")
        if file.trouble:
            lines.append(f"  not imported: {file.trouble}")
        lines += [f"  {one}" for one in file.says()]
    records = _plural(imported.added, "record")
    total = f"{imported.added:,} {records} {would}added"
    if imported.repeated:
        total += f", {imported.repeated:,} were in the log already"
    if imported.refused:
        total += f", {imported.refused:,} could not be decoded"
    return [*lines, f'log {log.id} of "{log.cluster_name}": {total}']


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _document(
    log: "Log", imported: "Imported", *, dry_run: bool
) -> dict[str, Any]:
    files = imported.files
    return {
        "log": log.id,
        "cluster": log.cluster_name,
        "dry_run": dry_run,
        "added": imported.added,
        "repeated": imported.repeated,
        "refused": imported.refused + sum(file.refused for file in files),
        "cut": sum(file.cut for file in files),
        "files": [_file(file) for file in files],
    }


def _file(file: "ImportedFile") -> dict[str, Any]:
    from recorder.model.moment import optional_time

    return {
        "path": file.path,
        "records": file.records,
        "undated": file.undated,
        "refused": file.refused,
        "cut": file.cut,
        "other": file.other,
        "read_before": file.read_before,
        "first_at": optional_time(file.first_at),
        "last_at": optional_time(file.last_at),
        "trouble": file.trouble,
        "refusals": [
            {"reason": r.reason, "count": r.count, "lines": r.ranges}
            for r in file.refusals
        ],
    }
