"""Lists as commands print them: their forms, and the options for them.

A command says what its items are, their cells and their documents; this says
how they are sorted and printed, the same for each.
"""

import csv
import io
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.given import all_of
from recorder.cli.output import (
    is_coloured,
    json_bytes,
    note,
    print_document,
    print_lines,
    wrapped,
    write_text,
)
from recorder.model.errors import ConfigError

if TYPE_CHECKING:
    from recorder.answers.text.shown import Brief, Item, Listing
    from recorder.answers.text.table import Column, Table

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

TEXTS = frozenset({"table", "wide"})
"""Forms for people."""

FORMS = ("table", "wide", "json", "yaml", "csv", "name")


def list_options(*more: str) -> Callable[[Decorated], Decorated]:
    """Add the options of a list: its form, its titles, its order."""

    def decorate(command: Decorated) -> Decorated:
        command = click.option(
            "--sort-by",
            metavar="COLUMN",
            help="Sort by a column, as in gpu-hours, or by a field, as in"
            " .gpu_hours_lost; with - before it, from the greatest down.",
        )(command)
        return form_options(*FORMS, *more)(command)

    return decorate


def form_options(*forms: str) -> Callable[[Decorated], Decorated]:
    """Add the form of lines, and how much of a table is shown."""
    options = (
        click.option("--no-headers", is_flag=True, help="Print no titles."),
        click.option(
            "-v",
            "--verbose",
            is_flag=True,
            help="Show every column in full, as -o wide does.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Choice(forms),
            default=forms[0],
            show_default=True,
            help="Output format.",
        ),
    )
    return all_of(options)


def table_for(
    columns: "Sequence[Column]", *, now: datetime, wide: bool = False
) -> "Table":
    """Return a table for where standard output goes."""
    from recorder.answers.text.table import Table

    out: Any = sys.stdout
    is_terminal = out is not None and out.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    paint = _painted if is_terminal and is_coloured(out) else None
    return Table(columns, now=now, width=width, wide=wide, paint=paint)


def _painted(text: str, colour: str) -> str:
    return click.style(text, fg=colour)


def print_listing(
    listing: "Listing", given: Mapping[str, Any], *, now: datetime
) -> None:
    """Print a list in the form of the options, with its notes.

    Raises:
        ConfigError: there is no column of that name to sort by.
    """
    form, headers = given["output"], not given["no_headers"]
    items = _sorted(listing, given["sort_by"])
    documents = [one.document for one in items if one.document is not None]
    for line in listing.notes:
        note(line)
    match form:
        case "name":
            named = (one for one in items if one.document is not None)
            write_text("".join(f"{one.name}\n" for one in named))
        case "csv":
            write_text(_csv(listing, items, headers=headers))
        case "ndjson":
            rows = (json_bytes(one, on_one_line=True) for one in documents)
            print_lines(row.decode() for row in rows)
        case "json" | "yaml":
            print_document(listing.whole(documents), form)
        case _:
            for line in listing.text_notes:
                note(line)
            print_lines(wrapped(listing.before))
            wide = form == "wide" or given["verbose"]
            if listing.brief is not None and not wide and not given["sort_by"]:
                listing = _briefly(listing, listing.brief)
                items = listing.items
            _print_table(listing, items, headers=headers, wide=wide, now=now)
            print_lines(wrapped(listing.after))


def _briefly(listing: "Listing", brief: "Brief") -> "Listing":
    """Return a list with the rows of its shorter table."""
    from dataclasses import replace

    from recorder.answers.text.shown import Item

    return replace(
        listing,
        columns=brief.columns,
        items=[Item("", row, None) for row in brief.rows],
        after=brief.after,
    )


def _print_table(
    listing: "Listing",
    items: Sequence["Item"],
    *,
    headers: bool,
    wide: bool,
    now: datetime,
) -> None:
    if not items:
        print_lines([listing.nothing])
        return
    table = table_for(listing.columns, now=now, wide=wide)
    rows = [item.cells for item in items]
    header = table.header(rows)
    print_lines([*([header] if headers else []), *table.lines(rows)])


def _csv(listing: "Listing", items: Sequence["Item"], *, headers: bool) -> str:
    from recorder.answers.text.table import Kind
    from recorder.model.moment import written

    places = [
        place
        for place, column in enumerate(listing.columns)
        if column.kind is not Kind.AGE
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if headers:
        writer.writerow(listing.columns[place].title for place in places)
    for item in items:
        cells = [item.cells[place] for place in places]
        writer.writerow(
            written(cell) if isinstance(cell, datetime) else _harmless(cell)
            for cell in cells
        )
    return out.getvalue()


def _harmless(cell: object) -> object:
    """Keep a spreadsheet from taking a recorded text for a formula."""
    if isinstance(cell, str) and cell[:1] in {"=", "+", "@", "\t", "\r"}:
        return f"'{cell}"
    return cell


def _sorted(listing: "Listing", by: str | None) -> Sequence["Item"]:
    """Return the items in the order of the options.

    Raises:
        ConfigError: there is no such column.
    """
    if by is None:
        return listing.items
    descending, name = by.startswith("-"), by.removeprefix("-")
    key: Callable[[Item], Any]
    if name.startswith("."):
        key = _field(name.removeprefix("."))
    else:
        titles = [column.title.lower() for column in listing.columns]
        words = [title.replace(" ", "-") for title in titles]
        wanted = name.lower().replace("_", "-")
        if wanted not in words:
            msg = f'cannot sort by "{name}": it is one of {", ".join(words)}'
            raise ConfigError(msg, code="question.sort")
        place = words.index(wanted)
        key = _cell(place)
    known = [item for item in listing.items if key(item) is not None]
    try:
        known.sort(key=key, reverse=descending)
    except TypeError:
        known.sort(key=lambda item: str(key(item)), reverse=descending)
    return [*known, *(i for i in listing.items if key(i) is None)]


def _cell(place: int) -> Callable[["Item"], Any]:
    return lambda item: item.cells[place]


def _field(path: str) -> Callable[["Item"], Any]:
    from recorder.model.document import plain

    def found(item: "Item") -> Any:
        value = plain(item.document)
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    return found
