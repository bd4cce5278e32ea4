"""`recorder import`: dumps, bundles, exports, audit logs and tapes."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import INCOMPLETE, judge, now, opened_logs
from recorder.cli.calling import to_type
from recorder.cli.given import given_log, place_options
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import announce, print_document, print_lines
from recorder.cli.screen import Screen
from recorder.cli.stopping import run_until_stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from recorder.answers.incidents import Incidents
    from recorder.facts.coverage.ports import Log
    from recorder.keeping.importing import Found, Imported, Importing
    from recorder.model.settings import Settings
    from recorder.sources.audit import ImportedFile
    from recorder.sources.dumps import Examined

KINDS_MAX = 4
"""Kinds that are left out and named; more are summed."""

FILES_MAX = 20
"""Files of a bundle that are listed one by one; more are summed."""


@click.command(name="import")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the new log. Default: that of the first file.",
)
@click.option(
    "--into",
    metavar="NAME|ID",
    help="Add to this log instead: its name or its number.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print what happened to the nodes, and keep nothing.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what is recognized and refused; write nothing.",
)
@output_option("table", "json", "yaml")
@place_options(hidden=True)
@click.pass_obj
def import_paths(
    settings: "Settings", /, paths: tuple[Path, ...], **given: Any
) -> int:
    r"""Import what was saved of a cluster, and query it as a log.

    Takes files, folders and archives of: kubectl get -o json or yaml, Events
    among them; must-gather; kubectl cluster-info dump; support bundles of
    troubleshoot.sh; sos reports; exported Events; audit logs; tapes. What is
    in them is recognized by content; the rest is counted, and left out.

    Of an object, one state at one time is known, and of Events only those
    that the cluster had not yet forgotten: answers say so. All PATHs become
    one log. Importing them again adds nothing.

    The exit status is 4 if something was refused or cut off, and 1 if nothing
    is recognized.

    \b
    Example:
      recorder import must-gather.tar.gz
      recorder import --explain events.json
    """
    into, dry_run = given["into"], given["dry_run"]
    chosen = _Chosen(paths, given["name"], given["output"], dry_run=dry_run)
    if into and chosen.name:
        msg = "--into adds to a log that has a name: remove --name"
        raise click.UsageError(msg)
    if into:
        chosen.into = _named(settings, into)
    if not given["explain"]:
        return run_until_stopped(lambda stop: _import(settings, chosen, stop))
    if into or dry_run:
        msg = "--explain keeps nothing: remove --into and --dry-run"
        raise click.UsageError(msg)
    from recorder.wiring.offline import fleeting

    with fleeting(settings) as own:
        return run_until_stopped(lambda stop: _explain(own, chosen, stop))


@click.command(name="import")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="FILES...",
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what is recognized and refused; write nothing.",
)
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def import_audit(
    ctx: click.Context, paths: tuple[Path, ...], output: str, *, dry_run: bool
) -> int:
    r"""Import files into the log that --cluster or --log names.

    An alias of `recorder import --into`. Records that are in the log already
    are not added again, and lines that are refused become one gap of the
    log. No recorder may be writing the log meanwhile.

    The exit status is 4 if lines were refused or cut off, and 1 if nothing
    is recognized.

    \b
    Example:
      recorder audit import /var/log/kubernetes/audit-*.log.gz
    """
    chosen = _Chosen(paths, None, output, dry_run=dry_run)
    chosen.into = _meant(ctx)
    return run_until_stopped(lambda stop: _import(ctx.obj, chosen, stop))


class _Chosen:
    """What is imported, and where to."""

    into: "AbstractAsyncContextManager[tuple[Log, str]] | None" = None
    """Opens an existing log, with the address of its database."""

    def __init__(
        self,
        paths: tuple[Path, ...],
        name: str | None,
        output: str,
        *,
        dry_run: bool,
    ) -> None:
        self.paths, self.name, self.output = paths, name, output
        self.dry_run = dry_run


@asynccontextmanager
async def _named(
    settings: "Settings", into: str
) -> "AsyncIterator[tuple[Log, str]]":
    from recorder.wiring.reading import open_logs

    number = int(into) if into.isdecimal() else None
    cluster = into if number is None else None
    async with open_logs(settings, log=number, on_wait=announce) as logs:
        log = (await logs.read(number, cluster=cluster)).log
        yield log, logs.writer_dsn


@asynccontextmanager
async def _meant(ctx: click.Context) -> "AsyncIterator[tuple[Log, str]]":
    async with opened_logs(ctx) as logs:
        log = (await logs.read(given_log(ctx))).log
        yield log, logs.writer_dsn


@asynccontextmanager
async def _new(settings: "Settings") -> "AsyncIterator[tuple[None, str]]":
    from recorder.wiring.database import open_database

    async with open_database(settings, on_wait=announce) as database:
        yield None, database.dsn("writer")


async def _import(
    settings: "Settings", chosen: _Chosen, stop: asyncio.Event
) -> int:
    from recorder.keeping.importing import find_all, import_all
    from recorder.sources.dumps import Shelf

    screen = Screen()
    with Shelf() as shelf:
        if chosen.dry_run and chosen.into is None:
            importing = _importing(settings, chosen, None, screen)
            found = await find_all(importing, shelf, stop)
            screen.clear()
            status = _printed(chosen, found, None)
            _check(found, chosen.paths)
            return status
        async with chosen.into or _new(settings) as (log, dsn):
            importing = _importing(settings, chosen, log, screen)
            found = await find_all(importing, shelf, stop)
            _check(found, chosen.paths)
            imported = None
            if not chosen.dry_run:
                imported = await import_all(
                    importing, found, shelf, settings, dsn, stop
                )
        screen.clear()
    return _printed(chosen, found, imported)


def _importing(
    settings: "Settings",
    chosen: _Chosen,
    log: "Log | None",
    screen: Screen,
) -> "Importing":
    from recorder.keeping.importing import Importing
    from recorder.sources.watch.target import Served
    from recorder.wiring.recording import selected

    selection = selected(settings)

    def chooses(group: str, plural: str, kind: str) -> bool:
        served = Served(
            group=group, plural=plural, kind=kind, namespaced=True, versions=()
        )
        return selection.chooses(served)

    def show(name: str, count: int) -> None:
        if name:
            screen.progress("reading", f"{Path(name).name}  {count:,} found")
        else:
            screen.progress("importing", f"{count:,} objects and Events")

    return Importing(
        paths=chosen.paths,
        chooses=chooses,
        into=log,
        name=chosen.name,
        on_progress=show,
    )


def _check(found: "Found", paths: "Sequence[Path]") -> None:
    from recorder.model.errors import InputError

    if found.tape is not None or found.things or found.audit:
        return
    names = ", ".join(path.name for path in paths[:3])
    why = next((file.says()[0] for file in found.files if file.says()), "")
    msg = f"nothing in {names} is recognized" + f" ({why})" * bool(why)
    raise InputError(
        msg, advice="docs/import.md lists what is read", code="input.no_record"
    )


async def _explain(
    settings: "Settings", chosen: _Chosen, stop: asyncio.Event
) -> int:
    """Import into a log of its own, and print the verdicts about it."""
    from recorder.answers.incidents import ask_incidents
    from recorder.answers.node_questions import IncidentsQuestion
    from recorder.explain.knowledge import load
    from recorder.keeping.importing import find_all, import_all
    from recorder.model.window import Window
    from recorder.sources.dumps import Shelf
    from recorder.wiring.database import open_database
    from recorder.wiring.reading import open_logs

    screen = Screen()
    with Shelf() as shelf:
        importing = _importing(settings, chosen, None, screen)
        found = await find_all(importing, shelf, stop)
        _check(found, chosen.paths)
        async with open_database(settings) as database:
            imported = await import_all(
                importing, found, shelf, settings, database.dsn("writer"), stop
            )
            screen.clear()
            async with open_logs(settings) as logs:
                reading = await logs.read(imported.log)
                answer = await ask_incidents(
                    reading,
                    IncidentsQuestion(window=Window()),
                    load(settings.knowledge),
                    now=now(),
                )
    for line in _found_lines(found):
        screen.say(line)
    if chosen.output == "table":
        print_lines(list(_verdict_lines(answer)))
    else:
        print_document(answer, chosen.output)
    return max(judge(answer.coverage), _status(found, imported))


def _verdict_lines(answer: "Incidents") -> "Iterator[str]":
    from recorder.answers.impact import cells
    from recorder.answers.text.lines import plain
    from recorder.answers.why import verdict_lines

    if not answer.incidents:
        yield "no incident of a node is found"
    for place, incident in enumerate(answer.incidents):
        if place:
            yield ""
        for verdict in incident.judged:
            yield from verdict_lines(verdict)
        for hit in incident.hits:
            words = "  ".join(str(cell) for cell in cells(hit) if cell)
            yield plain(f"  hit: {words}")


def _printed(
    chosen: _Chosen, found: "Found", imported: "Imported | None"
) -> int:
    """Print what was found, and what became of it; return the status."""
    if chosen.output != "table":
        print_document(_document(found, imported), chosen.output)
        return _status(found, imported)
    lines = _found_lines(found)
    if imported is not None:
        lines += _added_lines(imported)
    print_lines(lines)
    return _status(found, imported)


def _added_lines(imported: "Imported") -> "Iterator[str]":
    for file in imported.audit:
        if file.trouble:
            yield f"{file.path}: not imported: {file.trouble}"
        elif file.read_before:
            yield f"{file.path}: its audit records were read before"
    word = "entry" if imported.entries == 1 else "entries"
    added = f"{imported.entries:,} {word} added"
    if not imported.entries:
        added = "nothing added: it has all of that already"
    if imported.repeated:
        records = _plural("audit record", imported.repeated)
        added += f", {imported.repeated:,} {records} in the log already"
    if imported.refused:
        added += f", {imported.refused:,} could not be decoded"
    yield f'log {imported.log} of "{imported.cluster}": {added}'
    yield f"next: {to_type(f'incidents --log {imported.log}')}"


def _status(found: "Found", imported: "Imported | None") -> int:
    is_whole = all(file.is_whole for file in found.files) and not any(
        one.trouble for one in found.examined
    )
    if imported is not None:
        is_whole = is_whole and not imported.refused
        is_whole = is_whole and not any(f.trouble for f in imported.audit)
    return 0 if is_whole else INCOMPLETE


def _found_lines(found: "Found") -> list[str]:
    lines = [f"{found.tape}: a tape"] if found.tape else []
    for one in found.examined:
        files = one.files
        if one.layout == "a file":
            lines += [line for file in files for line in _file_lines(file)]
            continue
        total = one.total
        lines.append(f"{one.path}: {one.layout}: {_counts(total)}")
        lines.append(f"  {len(files):,} files read" + _unknown(one))
        for file in files[:FILES_MAX] if len(files) <= FILES_MAX else files:
            if len(files) <= FILES_MAX or not file.is_whole:
                lines += [f"  {line}" for line in _file_lines(file)]
    lines += [_dated(one) for one in found.examined if one.total.objects]
    return lines


def _unknown(one: "Examined") -> str:
    said = ""
    if one.unknown:
        some = ", ".join(Path(name).name for name in one.unknown_some)
        said = f", {one.unknown:,} left out as logs or unknown ({some}, ...)"
    if one.skipped:
        kinds = one.skipped.items()
        counts = [f"{count:,} {_plural(what, count)}" for what, count in kinds]
        said += f", {', '.join(counts)} skipped"
    return said


def _dated(one: "Examined") -> str:
    from recorder.model.moment import optional_time

    return (
        f"{one.path}: objects are known as of {optional_time(one.at)}"
        f" ({one.dated_by}), and not before or after"
    )


def _file_lines(file: "ImportedFile") -> list[str]:
    lines = [f"{file.path}: {_counts(file)}"]
    if file.trouble:
        lines.append(f"  not imported: {file.trouble}")
    lines += [f"  {one}" for one in file.says()]
    return lines


def _counts(file: "ImportedFile") -> str:
    from recorder.model.moment import optional_time

    counts = [
        f"{count:,} {word}"
        for count, word in (
            (file.objects, _plural("object", file.objects)),
            (file.events, _plural("Event", file.events)),
            (file.records, _plural("audit record", file.records)),
            (file.undated, "of them without a time"),
            (file.refused, "refused"),
            (file.cut, "cut off"),
            (file.other, _plural("line", file.other) + " of other logs"),
        )
        if count
    ]
    if file.left_out:
        kinds = sorted(file.left_out.items(), key=lambda one: -one[1])
        some = [f"{count:,} {kind}" for kind, count in kinds[:KINDS_MAX]]
        more = sum(count for _, count in kinds[KINDS_MAX:])
        some += [f"{more:,} of other kinds"] * bool(more)
        said = " and ".join(", ".join(some).rsplit(", ", 1))
        counts.append(f"{said} left out: not recorded by default")
    if file.first_at and file.last_at:
        first, last = map(optional_time, (file.first_at, file.last_at))
        counts.append(f"from {first} to {last}")
    return ", ".join(counts) or "nothing"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _document(found: "Found", imported: "Imported | None") -> dict[str, Any]:
    from recorder.model.moment import optional_time

    return {
        "log": imported and imported.log,
        "cluster": imported and imported.cluster,
        "dry_run": imported is None,
        "added": imported.entries if imported else 0,
        "repeated": imported.repeated if imported else 0,
        "refused": sum(file.refused for file in found.files)
        + (imported.refused if imported else 0),
        "cut": sum(file.cut for file in found.files),
        "tape": found.tape and str(found.tape),
        "inputs": [
            {
                "path": str(one.path),
                "layout": one.layout,
                "at": optional_time(one.at),
                "dated_by": one.dated_by,
                "unknown_files": one.unknown,
                "skipped": one.skipped,
                "files": [_file(file) for file in one.files],
            }
            for one in found.examined
        ],
        "audit": [
            {
                "path": file.path,
                "records": file.records,
                "read_before": file.read_before,
                "trouble": file.trouble,
            }
            for file in (imported.audit if imported else ())
        ],
    }


def _file(file: "ImportedFile") -> dict[str, Any]:
    from recorder.model.moment import optional_time

    return {
        "path": file.path,
        "objects": file.objects,
        "events": file.events,
        "records": file.records,
        "undated": file.undated,
        "left_out": file.left_out,
        "refused": file.refused,
        "cut": file.cut,
        "other": file.other,
        "first_at": optional_time(file.first_at),
        "last_at": optional_time(file.last_at),
        "trouble": file.trouble,
        "refusals": [
            {"reason": r.reason, "count": r.count, "lines": r.ranges}
            for r in file.refusals
        ],
    }
