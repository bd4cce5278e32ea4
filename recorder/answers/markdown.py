"""A report as Markdown, to paste into an issue, a page or a chat.

Rows are list items, because chats show no tables.
"""

import re
from collections.abc import Iterator

from recorder.answers.postmortem import Postmortem
from recorder.answers.report import (
    Charts,
    Command,
    Drawing,
    Entries,
    Heading,
    Items,
    Paragraph,
    Part,
    Table,
    day_of,
    report,
)
from recorder.answers.text.lines import plain

PAIR = 2
"""Columns of a table of names and values."""


def markdown(postmortem: Postmortem, *, page: str | None = None) -> str:
    """Return a postmortem as Markdown, deterministically."""
    day = (
        f"{day_of(postmortem):%Y-%m-%d}"
        if postmortem.verdicts or postmortem.endings
        else ("no incidents")
    )
    lines = [f"# Postmortem: {_text(postmortem.subject)}, {day}"]
    for part in report(postmortem):
        written = list(_part(part, page))
        lines += ["", *written] if written else []
    return "\n".join(lines) + "\n"


def _part(part: Part, page: str | None) -> Iterator[str]:
    match part:
        case Heading(text, level):
            yield f"{'#' * level} {_text(text)}"
        case Paragraph(text):
            yield _text(text)
        case Table():
            yield from _rows(part, page)
        case Items():
            yield from _points(part, page)
        case Drawing():
            pass
        case Charts():
            yield from _sparklines(part)
        case Command(origin, command):
            yield f"{_text(origin)}: {_code(plain(command))}."


def _sparklines(part: Charts) -> Iterator[str]:
    for _, one in part.kept:
        yield f"* {_text(one.says)}: `{one.sparkline}`"


def _rows(table: Table, page: str | None) -> Iterator[str]:
    between = ": " if len(table.titles) == PAIR else " · "
    for row in table.rows:
        cells = (_cell(cell, page) for cell in row)
        yield f"* {between.join(filter(None, cells))}"


def _points(items: Items, page: str | None) -> Iterator[str]:
    tick = " [ ]" if items.open else ""
    for place, (text, entries) in enumerate(items.items, 1):
        mark = f"{place}." if items.ordered else "*"
        named = _cell(entries, page)
        behind = f" ({named})" if named else ""
        yield f"{mark}{tick} {_text(text)}{behind}".rstrip()


def _cell(cell: str | Entries, page: str | None) -> str:
    if not isinstance(cell, Entries):
        return _text(cell)
    if page is None:
        return ", ".join(f"`{name}`" for name in cell.names)
    return ", ".join(f"[`{name}`]({page}{name})" for name in cell.names)


_SPECIAL = re.compile(r"[\\|*_~\[]|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
"""Escapes Markdown: the text of an Event must not format the report."""

_BLOCK = re.compile(r"(\d{0,9})([.)]|#{1,6}|[-+])(?=\s|$)|()(>|-(?=-)|=)")
"""What begins a list, a heading, a quotation or a line, at the beginning."""

_REPLACED = str.maketrans("`\n\r", "'  ")


def _text(text: str) -> str:
    one_line = plain(text.translate(_REPLACED)).lstrip(" ")
    written = _SPECIAL.sub(r"\\\g<0>", one_line)
    block = _BLOCK.match(written)
    if block is None:
        return written
    place = block.end() - len(block[2] or block[4])
    return f"{written[:place]}\\{written[place:]}"


def _code(text: str) -> str:
    """Return a text as code, between more backticks than it has in a row."""
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"
