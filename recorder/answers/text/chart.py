"""Kept metrics as small drawings: a chart, and a line of blocks."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from recorder.answers.metrics import Chart, MetricSeries
from recorder.answers.text.lines import escaped

__all__ = ["chart", "sparkline"]

WIDTH: Final = 960
HEIGHT: Final = 96
LEFT: Final = 90
RIGHT: Final = 20
TOP: Final = 8
BOTTOM: Final = 18
LINES_MAX: Final = 16
"""Series of one chart that are drawn, the highest ones."""

APART: Final = 3
"""Steps without a sample after which a line is broken."""

BLOCKS: Final = "▁▂▃▄▅▆▇█"
BLOCKS_MAX: Final = 40


def chart(one: Chart, marks: Iterable[tuple[datetime, str]]) -> str:
    """Draw the series of a metric; the highest is emphasized.

    A line ends where its samples end. Each mark is a step of the incident.
    """
    begin, end = one.kept.since, one.kept.until
    drawn = one.series[:LINES_MAX]
    values = [value for series in drawn for value in series.values]
    low, high = min(values), max(values)
    label = escaped(f"{one.name} of {one.node}")
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
    return "\n".join(
        [
            f'{opening} aria-label="{label}">',
            *_marks(marks, begin, end),
            *(
                _line(series, (begin, end), (low, high), first=not place)
                for place, series in reversed([*enumerate(drawn)])
            ),
            *_scale(drawn[0].unit, low, high),
            *_times(begin, end),
            "</svg>",
        ]
    )


def sparkline(one: Chart) -> str:
    """Return the highest series as blocks; a blank where it has no sample."""
    series, begin = one.series[0], one.kept.since
    span = (one.kept.until - begin).total_seconds() or 1.0
    low, high = min(series.values), max(series.values)
    cells: list[float | None] = [None] * BLOCKS_MAX
    first = (series.since - begin).total_seconds()
    for offset, value in zip(series.offsets, series.values, strict=True):
        place = int((first + offset) / span * BLOCKS_MAX)
        if 0 <= place < BLOCKS_MAX:
            before = cells[place]
            cells[place] = value if before is None else max(before, value)
    return "".join(_block(value, low, high) for value in cells).rstrip()


def _block(value: float | None, low: float, high: float) -> str:
    if value is None:
        return " "
    share = (value - low) / (high - low) if high > low else 0.0
    return BLOCKS[round(share * (len(BLOCKS) - 1))]


def _x(at: datetime, begin: datetime, end: datetime) -> float:
    share = (at - begin) / max(end - begin, timedelta(seconds=1))
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _line(
    series: MetricSeries,
    span: tuple[datetime, datetime],
    values: tuple[float, float],
    *,
    first: bool,
) -> str:
    low, high = values
    room = HEIGHT - TOP - BOTTOM
    step = _step(series.offsets)
    points, before = [], None
    for offset, value in zip(series.offsets, series.values, strict=True):
        x = _x(series.since + timedelta(seconds=offset), *span)
        share = (value - low) / (high - low) if high > low else 0.5
        y = round(TOP + (1 - share) * room, 1)
        joined = before is not None and offset - before <= APART * step
        points.append(f"{'L' if joined else 'M'}{x} {y}")
        before = offset
    colour, width = ("#c0392b", 2) if first else ("#8888", 1)
    return (
        f'<path d="{"".join(points)}" fill="none" stroke="{colour}"'
        f' stroke-width="{width}"><title>{escaped(series.thing)}</title>'
        "</path>"
    )


def _step(offsets: Sequence[float]) -> float:
    """Return the usual time between samples."""
    apart = sorted(later - earlier for earlier, later in pairwise(offsets))
    return apart[len(apart) // 2] if apart else 0.0


def _marks(
    marks: Iterable[tuple[datetime, str]], begin: datetime, end: datetime
) -> Iterator[str]:
    for at, what in marks:
        if begin <= at <= end:
            x = _x(at, begin, end)
            yield (
                f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}"'
                ' stroke="#2471a3" stroke-dasharray="2 3">'
                f"<title>{escaped(what)}</title></line>"
            )


def _scale(unit: str, low: float, high: float) -> Iterator[str]:
    for y, value in ((TOP + 8, high), (HEIGHT - BOTTOM, low)):
        yield (
            f'<text x="0" y="{y}" font-size="11">'
            f"{escaped(f'{value:.6g}{unit}')}</text>"
        )


def _times(begin: datetime, end: datetime) -> Iterator[str]:
    for at, anchor in ((begin, "start"), (end, "end")):
        yield (
            f'<text x="{_x(at, begin, end)}" y="{HEIGHT - 4}" font-size="11"'
            f' text-anchor="{anchor}">{at:%H:%M:%S}</text>'
        )
