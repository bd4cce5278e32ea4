"""Tables: complete in a pipe, fitted to the width of a terminal.

In a pipe only a bounded last column is shortened, so that scripts can cut and
search the others. On a terminal times are shortened, columns of low priority
are omitted, and the last column is truncated at the end of the line.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, auto

from recorder.answers.text.lines import BETWEEN, plain
from recorder.model.moment import written

Cell = str | int | float | datetime | None

NOTHING = "-"
LAST_MIN = 24
"""Characters that the last column has at least; others are omitted first."""

CONFIDENCES: Mapping[str, str] = {
    "proven": "green",
    "likely": "cyan",
    "possible": "yellow",
    "unknown": "red",
}
"""Colours of levels of confidence."""

UNITS = ((365 * 86400, "y"), (86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class Kind(Enum):
    """The kind of values in a column."""

    TEXT = auto()
    TIME = auto()
    AGE = auto()
    """How long ago a time was; only in tables for people."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    kind: Kind = Kind.TEXT
    rank: int = 0
    """On a narrow terminal the highest is omitted first; 0 never is."""

    wide: bool = False
    """Whether it is shown only with ``-o wide``."""

    characters_max: int | None = None
    """Of the last column, without ``-o wide``."""

    colours: Mapping[str, str] = field(default_factory=dict)
    """Colours of values, on a terminal."""


def age(since: datetime, now: datetime) -> str:
    """Return how long ago a time was, in one or two units: ``3d4h``."""
    left = max(int((now - since) / timedelta(seconds=1)), 0)
    for place, (size, unit) in enumerate(UNITS):
        if left >= size or size == 1:
            whole, rest = divmod(left, size)
            text = f"{whole}{unit}"
            small = UNITS[place + 1 : place + 2]
            if whole < 10 and small and rest >= small[0][0]:  # noqa: PLR2004
                text += f"{rest // small[0][0]}{small[0][1]}"
            return text
    return "0s"


def shortened(text: str, room: int | None) -> str:
    """Return a text cut to as many characters, if they are limited."""
    if room is None or len(text) <= room:
        return text
    return f"{text[: room - 1]}…"


class Table:
    """Formats rows as lines, page by page; columns never shrink."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        now: datetime,
        width: int | None = None,
        wide: bool = False,
        paint: Callable[[str, str], str] | None = None,
    ) -> None:
        """Lay out a table.

        Args:
            columns: from left to right.
            now: the time that ages end at.
            width: of the terminal; None to shorten nothing.
            wide: whether to show all columns, in full.
            paint: colours a text; None for no colours.
        """
        self._now = now
        self._width = None if wide else width
        self._last_max = None if wide else columns[-1].characters_max
        self._paint = paint
        self._all = columns
        self._shown = [
            place
            for place, column in enumerate(columns)
            if wide or not column.wide
        ]
        self._widths = [len(column.title) for column in columns]
        self._cut: dict[int, int] = {}

    def header(self, rows: Iterable[Sequence[Cell]] = ()) -> str:
        """Return the line of titles, with widths for the first rows."""
        self._grow([self._texts(row) for row in rows])
        self._fit()
        titles = [column.title for column in self._all]
        return self._line(titles, painted=False)

    def lines(self, rows: Iterable[Sequence[Cell]]) -> list[str]:
        """Return one line for each row."""
        texts = [self._texts(row) for row in rows]
        self._grow(texts)
        return [self._line(text, painted=True) for text in texts]

    def _texts(self, row: Sequence[Cell]) -> list[str]:
        return [
            self._text(column, cell)
            for column, cell in zip(self._all, row, strict=True)
        ]

    def _text(self, column: Column, cell: Cell) -> str:
        if cell is None:
            return NOTHING
        if isinstance(cell, datetime):
            if column.kind is Kind.AGE:
                return age(cell, self._now)
            return written(cell) if self._width is None else self._clock(cell)
        return plain(f"{cell:.2f}" if isinstance(cell, float) else str(cell))

    def _clock(self, at: datetime) -> str:
        """Return a time, without the year if it is the current one."""
        at = at.astimezone(UTC)
        if at.year != self._now.astimezone(UTC).year:
            return f"{at:%Y-%m-%d %H:%M:%S}"
        return f"{at:%m-%d %H:%M:%S}"

    def _grow(self, texts: Iterable[Sequence[str]]) -> None:
        for text in texts:
            for place, cell in enumerate(text):
                needed = max(self._widths[place], len(cell))
                self._widths[place] = min(needed, self._cut.get(place, needed))

    def _fit(self) -> None:
        """Omit columns until the last one has room; then cut the widest."""
        while self._width is not None:
            last = self._widths[self._shown[-1]]
            over = self._used() + min(last, LAST_MIN) - self._width
            if over <= 0:
                return
            ranked = [
                (self._all[place].rank, place)
                for place in self._shown[:-1]
                if self._all[place].rank
            ]
            if not ranked:
                widest = max(
                    self._shown[:-1], key=self._widths.__getitem__, default=0
                )
                room = max(self._widths[widest] - over, LAST_MIN)
                self._cut[widest] = min(self._widths[widest], room)
                self._widths[widest] = self._cut[widest]
                return
            self._shown.remove(max(ranked)[1])

    def _used(self) -> int:
        """Return the number of characters before the last column."""
        return sum(
            self._widths[place] + len(BETWEEN) for place in self._shown[:-1]
        )

    def _line(self, texts: Sequence[str], *, painted: bool) -> str:
        parts = []
        for place in self._shown[:-1]:
            text = shortened(texts[place], self._cut.get(place))
            spaces = " " * (self._widths[place] - len(text))
            parts.append(self._painted(place, text, painted) + spaces)
        end = self._shown[-1]
        room = self._last_max
        if self._width is not None:
            free = max(self._width - self._used(), LAST_MIN)
            room = free if room is None else min(room, free)
        last = shortened(texts[end], room)
        return BETWEEN.join(
            [*parts, self._painted(end, last, painted)]
        ).rstrip()

    def _painted(self, place: int, text: str, painted: bool) -> str:  # noqa: FBT001
        colour = self._all[place].colours.get(text)
        if self._paint is None or colour is None or not painted:
            return text
        return self._paint(text, colour)
