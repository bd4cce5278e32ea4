"""Plain text: simple tables, sizes, and text that is safe on a terminal.

Tables have columns with spaces between them, as kubectl prints them, so that
scripts can cut and search them; nothing is shortened to fit a terminal.
"""

from collections.abc import Iterable, Sequence
from html import escape

BETWEEN = "   "
KIB = 1024


CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20)},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Printable signs for control characters, and for those that change the
direction of text: names of objects and texts of Events must not control a
terminal, nor hide anything in a report. The page has the same in
`api/page/words/shown.js`."""


BREAKS = str.maketrans("\n\r\t", "   ")


def plain(text: str) -> str:
    """Return a text without control characters."""
    return text.translate(CONTROLS)


def escaped(text: str) -> str:
    """Return a text for HTML and SVG, without control characters."""
    return escape(plain(text.translate(BREAKS)))


class Columns:
    """Pads rows to columns, page by page; widths never shrink."""

    def __init__(self, titles: Sequence[str]) -> None:
        self._titles = titles
        self._widths = [len(title) for title in titles]

    def header(self, rows: Iterable[Sequence[str]] = ()) -> str:
        """Return the line of titles, as wide as the first rows need."""
        self._grow(rows)
        return self._line(self._titles)

    def lines(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """Return one line for each row."""
        shown = [[plain(cell) for cell in row] for row in rows]
        self._grow(shown)
        return [self._line(row) for row in shown]

    def _grow(self, rows: Iterable[Sequence[str]]) -> None:
        # The last column is not padded and can have any length.
        for row in rows:
            for place, cell in enumerate(row[:-1]):
                self._widths[place] = max(self._widths[place], len(cell))

    def _line(self, row: Sequence[str]) -> str:
        padded = [
            cell.ljust(width)
            for cell, width in zip(row[:-1], self._widths, strict=False)
        ]
        return BETWEEN.join([*padded, row[-1]]).rstrip()


def human_bytes(count: int) -> str:
    """Return a size in words, such as ``1.4 GiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < KIB:
            return (
                f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
            )
        size /= KIB
    return f"{size:.1f} TiB"
