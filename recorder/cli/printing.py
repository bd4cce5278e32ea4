"""Printing entries as they are read, page by page, in each of the forms."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from recorder.cli.listing import table_for
from recorder.cli.output import (
    json_bytes,
    note,
    write,
    write_text,
    yaml_bytes,
)

if TYPE_CHECKING:
    from recorder.answers.entries import Entries
    from recorder.answers.nouns import Line

__all__ = ["Printer", "printer_for"]


class Printer(Protocol):
    """Prints one answer."""

    def page(self, lines: Sequence[Any]) -> None:
        """Print some more lines."""

    def end(self, answer: "Entries") -> None:
        """Print what belongs behind the last line."""


def printer_for(
    given: Mapping[str, Any], *, cluster: str, now: datetime
) -> Printer:
    """Return what prints entries, or facts, as the options ask for it."""
    raw, facts, form = given["documents"], given["facts"], given["output"]
    shown = _Facts() if facts else _Lines(cluster, raw=raw)
    match form:
        case "ndjson":
            return shown
        case "json":
            return _Json(shown, "facts" if facts else "entries")
        case "yaml":
            return _YamlFacts() if facts else _Yaml(cluster, raw=raw)
        case "name":
            return _Names(shown)
        case _:
            return _Table(given, now=now)


class _Table:
    """Entries or facts as rows, full or as wide as the terminal."""

    def __init__(self, given: Mapping[str, Any], *, now: datetime) -> None:
        from recorder.answers import facts, lines

        self._raw = given["documents"]
        self._headers = not given["no_headers"]
        self._none = "no facts" if given["facts"] else "no entries"
        self._cells = facts.row if given["facts"] else lines.line_columns
        columns = facts.COLUMNS if given["facts"] else lines.COLUMNS
        wide = given["output"] == "wide" or given["verbose"] or self._raw
        self._table = table_for(columns, now=now, wide=wide)
        self._begun = False

    def page(self, lines: Sequence[Any]) -> None:
        rows = [self._cells(line) for line in lines]
        shown = []
        if not self._begun:
            header = self._table.header(rows).encode()
            shown += [header] if self._headers else []
            self._begun = True
        for line, text in zip(lines, self._table.lines(rows), strict=True):
            shown.append(text.encode())
            if self._raw:
                shown.append(line.raw or b"")
        write(b"\n".join([*shown, b""]))

    def end(self, answer: "Entries") -> None:
        del answer
        if not self._begun:
            note(self._none)


class _Names:
    """The name of each entry, or of the entry of each fact."""

    def __init__(self, lines: "_Lines | _Facts") -> None:
        self._lines = lines

    def page(self, lines: Sequence[Any]) -> None:
        import orjson

        for document in self._lines.documents(lines):
            write_text(f"{orjson.loads(document)['entry']}\n")

    def end(self, answer: "Entries") -> None:
        del answer


class _Lines:
    def __init__(self, cluster: str, *, raw: bool) -> None:
        self._cluster = cluster
        self._raw = raw

    def page(self, lines: "Sequence[Line]") -> None:
        write(b"\n".join([*self.documents(lines), b""]))

    def documents(self, lines: "Sequence[Line]") -> list[bytes]:
        from recorder.answers.lines import listed_entry

        return [
            json_bytes(
                listed_entry(
                    line, cluster=self._cluster, with_document=self._raw
                ),
                on_one_line=True,
            )
            for line in lines
        ]

    def end(self, answer: "Entries") -> None:
        del answer


class _Facts:
    """One line for each fact."""

    def page(self, lines: Sequence[Any]) -> None:
        write(b"\n".join([*self.documents(lines), b""]))

    def documents(self, lines: Sequence[Any]) -> list[bytes]:
        from recorder.answers.facts import listed_fact

        return [json_bytes(listed_fact(f), on_one_line=True) for f in lines]

    def end(self, answer: "Entries") -> None:
        del answer


class _YamlFacts:
    def __init__(self) -> None:
        self._begun = False

    def page(self, lines: Sequence[Any]) -> None:
        from recorder.answers.facts import listed_fact

        head = b"" if self._begun else b"facts:\n"
        write(head + yaml_bytes([listed_fact(found) for found in lines]))
        self._begun = True

    def end(self, answer: "Entries") -> None:
        if not self._begun:
            write(b"facts: []\n")
        write(yaml_bytes(_tail(answer)))


class _Json:
    """One document; its entries are written as they come."""

    def __init__(self, lines: "_Lines | _Facts", name: str) -> None:
        self._lines = lines
        self._before = b'{"%b": [\n' % name.encode()

    def page(self, lines: "Sequence[Line]") -> None:
        shown = b",\n".join(self._lines.documents(lines))
        write(self._before + shown)
        self._before = b",\n"

    def end(self, answer: "Entries") -> None:
        tail = json_bytes(_tail(answer), on_one_line=True)
        begun = b"" if self._before == b",\n" else self._before
        write(begun + b"\n], " + tail.removeprefix(b"{") + b"\n")


class _Yaml:
    def __init__(self, cluster: str, *, raw: bool) -> None:
        self._cluster = cluster
        self._raw = raw
        self._begun = False

    def page(self, lines: "Sequence[Line]") -> None:
        from msgspec import structs

        from recorder.answers.lines import listed_entry

        documents = []
        for line in lines:
            shown = listed_entry(
                line, cluster=self._cluster, with_document=False
            )
            if self._raw:
                # As text, since YAML has no way to hold it as it is.
                text = (line.raw or b"").decode()
                shown = structs.replace(shown, raw=text)
            documents.append(shown)
        write((b"" if self._begun else b"entries:\n") + yaml_bytes(documents))
        self._begun = True

    def end(self, answer: "Entries") -> None:
        if not self._begun:
            write(b"entries: []\n")
        write(yaml_bytes(_tail(answer)))


def _tail(answer: "Entries") -> dict[str, object]:
    return {"more": answer.more, "coverage": answer.coverage}
