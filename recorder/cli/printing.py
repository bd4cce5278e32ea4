"""Printing answers as they are read, page by page, in each of the forms.

A page is written when it is there; JSON and YAML are one document all the
same, with what belongs behind the list at its end.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recorder.cli.listing import table_for
from recorder.cli.output import (
    json_bytes,
    note,
    write,
    write_text,
    yaml_bytes,
)

if TYPE_CHECKING:
    from recorder.model.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What is printed page by page."""

    name: str
    """Of the list in a document."""

    document: Callable[[Any], Any]
    """Returns what an item is in a document."""

    rows: Callable[[Sequence[Any], bool], Iterable[bytes]]
    """Returns items as lines for people, and whether it is the first page."""

    nothing: str
    """What is said where there is none."""

    before: Mapping[str, Any] = field(default_factory=dict)
    """What a document has before the list."""

    in_yaml: Callable[[Any], Any] | None = None
    """Returns what an item is in YAML, where that is something else."""


class Printer:
    """Prints one answer."""

    def __init__(self, form: str, pages: Pages) -> None:
        self._form = form
        self._pages = pages
        self._begun = False

    def page(self, items: Sequence[Any]) -> None:
        """Print some more items."""
        match self._form:
            case "json":
                head = b",\n" if self._begun else self._head()
                write(head + b",\n".join(self._documents(items)))
            case "ndjson":
                write(b"\n".join([*self._documents(items), b""]))
            case "yaml":
                shown = self._pages.in_yaml or self._pages.document
                head = b"" if self._begun else self._head()
                write(head + yaml_bytes([shown(one) for one in items]))
            case "name":
                write_text("".join(f"{one.entry}\n" for one in items))
            case _:
                rows = self._pages.rows(items, not self._begun)
                write(b"\n".join([*rows, b""]))
        self._begun = True

    def end(self, tail: Any) -> None:
        """Print what belongs behind the last item."""
        match self._form:
            case "json":
                head = b"" if self._begun else self._head()
                rest = json_bytes(tail, on_one_line=True).removeprefix(b"{")
                write(head + b"\n], " + rest + b"\n")
            case "yaml":
                head = self._head().rstrip(b"\n") + b" []\n"
                write((b"" if self._begun else head) + yaml_bytes(tail))
            case "ndjson" | "name":
                pass
            case _:
                if not self._begun:
                    note(self._pages.nothing)

    def _head(self) -> bytes:
        """Return a document up to the first item of its list."""
        name, before = self._pages.name, self._pages.before
        if self._form == "yaml":
            head = yaml_bytes(before) if before else b""
            return head + f"{name}:\n".encode()
        parts = [
            f'"{key}": '.encode() + json_bytes(value, on_one_line=True)
            for key, value in before.items()
        ]
        return b"{" + b", ".join([*parts, f'"{name}": [\n'.encode()])

    def _documents(self, items: Sequence[Any]) -> list[bytes]:
        shown = self._pages.document
        return [json_bytes(shown(one), on_one_line=True) for one in items]


def pages_of_log(
    given: Mapping[str, Any],
    *,
    cluster: str,
    types: Container[str],
    now: datetime,
) -> Pages:
    """Return how entries, or facts, are printed as the options ask for it."""
    from recorder.answers import facts

    raw, rows = given["documents"], _table(given, types, now=now)
    if given["facts"]:
        return Pages(
            name="facts",
            document=facts.listed_fact,
            rows=rows,
            nothing="no facts",
        )

    def listed(line: "Entry", *, raw: bool = raw) -> Any:
        from recorder.answers.lines import listed_entry

        return listed_entry(line, cluster=cluster, with_document=raw)

    def in_yaml(line: "Entry") -> Any:
        shown = listed(line, raw=False)
        # As text, since YAML has no way to hold it as it is.
        return shown | {"raw": line.raw.decode()} if raw else shown

    return Pages(
        name="entries",
        document=listed,
        rows=rows,
        nothing="no entries",
        in_yaml=in_yaml,
    )


def _table(
    given: Mapping[str, Any], types: Container[str], *, now: datetime
) -> Callable[[Sequence[Any], bool], Iterable[bytes]]:
    """Return what makes rows, full or as wide as the terminal."""
    from recorder.answers import facts, lines

    raw, headers = given["documents"], not given["no_headers"]
    cells: Callable[[Any], Sequence[Any]] = lines.line_columns
    if given["facts"]:
        cells = partial(facts.row, types=types)
    columns = facts.COLUMNS if given["facts"] else lines.COLUMNS
    wide = given["output"] == "wide" or given["verbose"] or raw
    table = table_for(columns, now=now, wide=wide)

    def rows(page: Sequence[Any], is_first: bool) -> Iterable[bytes]:  # noqa: FBT001 - the page
        made = [cells(one) for one in page]
        if is_first:
            header = table.header(made).encode()
            yield from [header] if headers else []
        for one, text in zip(page, table.lines(made), strict=True):
            yield text.encode()
            if raw:
                yield one.raw

    return rows
