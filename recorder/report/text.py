"""Plain text: tables, sizes, and what coverage means to a person.

Tables are columns with spaces between them, as kubectl prints them, so that
they can be cut and searched; nothing is shortened to fit a terminal.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from recorder.model.moment import written
from recorder.report.coverage import Coverage
from recorder.report.gap import Gap
from recorder.report.holes import alike, few

__all__ = [
    "Columns",
    "counted",
    "coverage_lines",
    "human_bytes",
    "missing_lines",
    "plain",
]

SHOWN_MAX = 5
"""Gaps named one by one; the rest is for `recorder gaps`."""

BETWEEN = "   "
KIB = 1024


CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20)},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Control characters, and those that turn the direction of a text, as signs
that a terminal only shows: whoever names an object or words an Event must not
write to the terminal of who reads it."""


def plain(text: str) -> str:
    """Return a text that a terminal only shows."""
    return text.translate(CONTROLS)


def counted(count: int, what: str) -> str:
    """Write how many there are of something: ``1 Pod``, ``2 Pods``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


class Columns:
    """Pads rows to columns, page by page; widths only grow."""

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
        # The last column is not padded and may be as long as it likes.
        for row in rows:
            for place, cell in enumerate(row[:-1]):
                self._widths[place] = max(self._widths[place], len(cell))

    def _line(self, row: Sequence[str]) -> str:
        padded = [
            cell.ljust(width)
            for cell, width in zip(row[:-1], self._widths, strict=False)
        ]
        return BETWEEN.join([*padded, row[-1]]).rstrip()


def missing_lines(coverage: Coverage, named: Iterable[Gap]) -> list[str]:
    """Say the same, and of all gaps that somebody rests on."""
    lines = coverage_lines(coverage)
    return [
        *lines,
        *(
            f"a verdict rests on a gap: {said}"
            for said in map(_gap, named)
            if f"INCOMPLETE: {said}" not in lines
        ),
    ]


def coverage_lines(coverage: Coverage) -> list[str]:
    """Say whether something may be missing, and what."""
    if coverage.complete:
        return [f"complete{_end(coverage)}"]
    parts = [
        *(
            _span(few(resources), hole.since, hole.to, hole.reason)
            for hole, resources in alike(coverage.holes)
        ),
        *(_gap(gap) for gap in coverage.gaps),
    ]
    shown = parts[:SHOWN_MAX]
    left = len(parts) + coverage.more - len(shown)
    if left:
        shown.append(f"and {left} more: see `recorder gaps`")
    return [f"INCOMPLETE: {part}" for part in shown]


def _end(coverage: Coverage) -> str:
    until, proven = coverage.window.until, coverage.proven_until
    if until is None:
        return ""
    said = f" until {written(until)}"
    if proven is not None and proven < until:
        said += f", proven until {written(proven)}"
    return said


def _gap(gap: Gap) -> str:
    said = _span(gap.resource, gap.since, gap.to, gap.reason)
    return f"{said} (gap {gap.opened})"


def _span(
    resource: str, since: datetime | None, to: datetime | None, reason: str
) -> str:
    begin = "" if since is None else f" from {written(since)}"
    end = "" if to is None else f" to {written(to)}"
    return f"{resource}{begin}{end}: {reason}"


def human_bytes(count: int) -> str:
    """Write a size, for example ``1.4 GiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < KIB:
            return (
                f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
            )
        size /= KIB
    return f"{size:.1f} TiB"
