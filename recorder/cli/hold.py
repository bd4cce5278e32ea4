"""`recorder hold`: what retention must keep."""

import getpass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import given_window, now, wait_for
from recorder.cli.given import given_log, place_options
from recorder.cli.lazy import LazyGroup
from recorder.cli.options import (
    cluster_option,
    output_option,
    reading_options,
    window_options,
)
from recorder.cli.output import note, print_document, print_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from recorder.model.hold import Hold
    from recorder.model.reference import EntryName
    from recorder.model.settings import Settings
    from recorder.wiring.reading import OpenedLog

AROUND = timedelta(days=1)
"""How far around its entry an incident is kept."""


@click.group(
    cls=LazyGroup,
    places={
        "add": "recorder.cli.hold:add",
        "list": "recorder.cli.hold:list_holds",
        "remove": "recorder.cli.hold:remove",
    },
)
def hold() -> None:
    """Keep days from being dropped, and let them go again.

    Days are dropped in order, so a hold keeps the days after it as well. Holds
    and their ends are entries of the log.
    """


def _in_words(
    _ctx: click.Context, option: click.Parameter, given: str | None
) -> str | None:
    """Check that the text is not empty."""
    if given is not None and not given.strip():
        msg = f"--{option.name} is empty: say it in words"
        raise click.UsageError(msg)
    return given


WHY = click.option(
    "--why",
    required=True,
    callback=_in_words,
    help="Reason, shown with the hold.",
)
WHO = click.option(
    "--who",
    callback=_in_words,
    help="Who wants it. Default: your user name.",
)


@click.command()
@click.option(
    "--node", metavar="NAME", help="Only days with entries about a node."
)
@click.option(
    "--incident",
    metavar="LOG/POSITION",
    help="The days around an incident, by the id of its verdict.",
)
@WHY
@WHO
@window_options
@reading_options
@click.pass_context
def add(ctx: click.Context, /, **given: Any) -> None:
    r"""Place a hold over a window, a node or an incident.

    \b
    Examples:
      recorder hold add --since 2026-11-20T00:00:00Z --why "audit 17"
      recorder hold add --node gpu-002 --since 3d --why "warranty claim"
      recorder hold add --incident 1/48213 --why "postmortem"
      recorder hold add --incident prod:1/48213 --why "of one of many"
    """
    if not any(given[name] for name in ("since", "until", "node", "incident")):
        msg = "name a window, a node or an incident"
        raise click.UsageError(msg)
    wait_for(_add(ctx, given))


async def _add(ctx: click.Context, given: dict[str, Any]) -> None:
    from recorder.answers.references import find_node
    from recorder.cli.asking import open_reading
    from recorder.model.hold import NewHold
    from recorder.wiring.retaining import place_hold

    window = given_window(given["since"], given["until"], now())
    since, until = window.since, window.until
    incident = _named(ctx, given["incident"])
    named = None if incident is None else incident.log
    async with open_reading(ctx, named) as reading:
        log = reading.log.id if named is None else named
        if incident is not None:
            at = await _seen(reading, incident)
            since, until = since or at - AROUND, until or at + AROUND
        if given["node"] is not None:
            await reading.reach(since, until)
            await find_node(reading, given["node"])
    placed = await place_hold(
        ctx.obj,
        NewHold(
            log=log,
            since=since,
            until=until,
            node=given["node"],
            incident=None
            if incident is None
            else f"{incident.log:d}/{incident.position}",
            who=given["who"] or getpass.getuser(),
            why=given["why"],
        ),
    )
    print_lines([f"hold {placed.number}"])
    if placed.kept:
        note(f"it keeps {_said(placed.kept)}, and the days after")
    else:
        note(
            "it keeps no day that is here now: nothing in them is of what it"
            " names; see --since, --until, --node and --log, or remove it with"
            f" `recorder hold remove {placed.number}`"
        )
    if placed.dropped:
        note(
            f"of its window {_said(placed.dropped)} were dropped before; of"
            " these only what was carried forward is left, and the archive"
        )


def _said(days: "Sequence[date]") -> str:
    """Count days, and name the first and the last."""
    if len(days) == 1:
        return f"1 day ({days[0]})"
    return f"{len(days)} days ({days[0]} to {days[-1]})"


def _named(ctx: click.Context, name: str | None) -> "EntryName | None":
    """Return the entry that an option names; its log is the one meant."""
    from recorder.model.reference import EntryName

    if name is None:
        return None
    try:
        wanted = EntryName.parse(name)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    log = given_log(ctx)
    if log is not None and log != wanted.log:
        msg = f"entry {wanted} is not in log {log}: remove --log"
        raise click.UsageError(msg)
    return wanted


async def _seen(reading: "OpenedLog", wanted: "EntryName") -> datetime:
    """Return when an entry was observed."""
    from recorder.model.errors import NotFoundError

    cut = await reading.past([], given_window(None, None, now()))
    found = await cut.observed([wanted.position])
    if wanted.position not in found:
        msg = f"there is no entry {wanted}"
        raise NotFoundError(msg)
    return found[wanted.position]


@click.command(name="list")
@output_option("table", "json", "yaml")
@cluster_option
@place_options(hidden=True)
@click.pass_obj
def list_holds(settings: "Settings", output: str) -> None:
    r"""List holds, and those that were lifted.

    \b
    Example:
      recorder hold list
    """
    wait_for(_list(settings, output))


async def _list(settings: "Settings", output: str) -> None:
    from recorder.model.hold import Holds
    from recorder.wiring.retaining import holds_of

    holds = await holds_of(settings)
    if output == "table":
        _print_table(holds)
    else:
        print_document(Holds(holds=holds), output)


def _print_table(holds: "Sequence[Hold]") -> None:
    from recorder.answers.text.lines import Columns

    columns = Columns(
        ("HOLD", "LOG", "SINCE", "UNTIL", "NODE", "INCIDENT", "WHO", "WHY", "")
    )
    rows = [_cells(one) for one in holds]
    print_lines([columns.header(rows), *columns.lines(rows)])


def _cells(hold: "Hold") -> list[str]:
    from recorder.model.moment import written

    lifted = ""
    if hold.lifted_at is not None:
        lifted = f"lifted by {hold.lifted_by}: {hold.lifted_why}"
    return [
        str(hold.hold),
        "" if hold.log is None else str(hold.log),
        "" if hold.since is None else written(hold.since),
        "" if hold.until is None else written(hold.until),
        hold.node or "",
        hold.incident or "",
        hold.who,
        hold.why,
        lifted,
    ]


@click.command()
@click.argument("number", type=click.IntRange(min=1))
@WHY
@WHO
@cluster_option
@place_options(hidden=True)
@click.pass_obj
def remove(
    settings: "Settings", number: int, why: str, who: str | None
) -> None:
    r"""Lift a hold; that it was there stays on record.

    \b
    Example:
      recorder hold remove 3 --why "the audit is over"
    """
    from recorder.wiring.retaining import lift

    wait_for(lift(settings, number, who=who or getpass.getuser(), why=why))
    note(f"hold {number} is lifted")
