"""The rows of a CSV file, as documents."""

import csv
from collections.abc import Iterator

import orjson

from recorder.sources.files.text import Document, State, Text

FIRST_LINE_BYTES_MAX = 4096
FIELD_BYTES_MAX = 16 << 20

COLUMNS = frozenset(
    {"@message", "message", "log_s", "_raw", "Line", "AuditId", "textPayload"}
)
"""Columns of exports that hold records; a file without one is not a table."""


class CsvRows:
    """The rows of a CSV file, each as a JSON object of its columns."""

    def __init__(self, text: Text) -> None:
        self._text = text
        csv.field_size_limit(FIELD_BYTES_MAX)

    @classmethod
    def of(cls, text: Text) -> "CsvRows | None":
        """Return the rows of a text if its first line names columns."""
        while (end := text.line_end()) < 0:
            if len(text.buffer) > FIRST_LINE_BYTES_MAX:
                return None
            text.more()
        first = text.buffer[text.at : end]
        if first.lstrip()[:1] in {b"{", b"["} or text.before or text.at:
            return None
        try:
            titles = next(csv.reader([first.decode()], strict=True), [])
        except (csv.Error, UnicodeDecodeError):
            return None
        return cls(text) if COLUMNS & {*titles} else None

    def documents(self) -> Iterator[Document]:
        """Yield the rows, in their order."""
        rows = csv.reader(self._lines(), strict=True)
        titles = next(rows)
        first = self._text.line
        while True:
            try:
                row = next(rows, None)
            except csv.Error:
                yield self._document(b"", first, State.CUT)
                # The rows after a damaged one are whole.
                rows = csv.reader(self._lines(), strict=True)
                row = []
            if row is None:
                return
            if row:
                raw = orjson.dumps(dict(zip(titles, row, strict=False)))
                yield self._document(raw, first, State.WHOLE)
            first = self._text.line

    def _document(self, raw: bytes, first: int, state: State) -> Document:
        text = self._text
        ended = text.buffer[text.at - 1 : text.at] == b"\n"
        last = max(first, text.line - ended)
        return Document(raw, first, last, state, text.before + text.at)

    def _lines(self) -> Iterator[str]:
        text = self._text
        while text.at < len(text.buffer) or not text.is_over:
            end = text.line_end()
            if end < 0:
                text.more()
                continue
            end = min(end + 1, len(text.buffer))
            line = text.buffer[text.at : end]
            text.move(end)
            yield line.decode(errors="replace")
