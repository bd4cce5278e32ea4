"""Charts of kept metrics: the series of one metric of one node, as lines.

A chart is drawn once, in a box of 960 by 72, and shown by the page, by reports
in HTML, and as blocks in Markdown. What shows it adds its labels and colors.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from math import inf
from typing import Final

from msgspec import field

from recorder.model.document import Document

WIDTH: Final = 960
HEIGHT: Final = 72
LINES_MAX: Final = 16
"""Series of one chart that are drawn, the highest ones."""

APART: Final = 3
"""Steps without a sample after which a line is broken."""

STROKES_APART: Final = 8
"""Between the strokes of a hatched span."""

BLOCKS: Final = "▁▂▃▄▅▆▇█"
BLOCKS_MAX: Final = 40


class MetricSeries(Document, frozen=True, kw_only=True):
    """The samples of one series, in order of time."""

    name: str

    thing: str
    """What it is about, such as `GPU 3`; the name for the node itself."""

    unit: str
    """With the space before it; empty for none."""

    since: datetime = field(name="from")
    """The time of its first sample."""

    offsets: Sequence[float]
    """Seconds after the first sample, one for each value."""

    values: Sequence[float]


class ChartLine(Document, frozen=True, kw_only=True):
    """A series as a line."""

    thing: str
    """What it is about, such as `GPU 3`."""

    path: str
    """The path of SVG. It is broken where there are no samples."""


class Chart(Document, frozen=True, kw_only=True):
    """The series of one metric of one node, drawn in a box of 960 by 72."""

    name: str
    """The metric."""

    says: str
    """The highest values, in words."""

    low: str
    """The value at the bottom, with its unit."""

    high: str
    """The value at the top, with its unit."""

    lines: Sequence[ChartLine]
    """The series, those that reach the highest values first."""

    missing: str
    """The path of SVG that hatches the time without any sample; empty if there
    is none."""

    sparkline: str
    """The first series as blocks; a blank where it has no samples."""


def drawn(
    series: Iterable[MetricSeries], begin: datetime, end: datetime, about: str
) -> Sequence[Chart]:
    """Return a chart of each metric.

    Args:
        series: the series of one node, each with a sample.
        begin: the time at the left side.
        end: the time at the right side.
        about: whose they are, in words.
    """
    by_name: dict[str, list[MetricSeries]] = {}
    for one in series:
        by_name.setdefault(one.name, []).append(one)
    return [
        _chart(
            sorted(found, key=lambda each: -max(each.values)),
            begin.timestamp(),
            end.timestamp(),
            about,
        )
        for found in by_name.values()
    ]


def _chart(
    series: Sequence[MetricSeries], begin: float, end: float, about: str
) -> Chart:
    first, shown = series[0], series[:LINES_MAX]
    span = max(end - begin, 1.0)
    low = min(min(one.values) for one in shown)
    high = max(first.values)
    tracks = [_track(one, (begin, span), (low, high)) for one in shown]
    text = f"{first.thing} up to {_shown(high, first)}"
    if len(series) > 1:
        text += f", the others up to {_shown(max(series[1].values), first)}"
    return Chart(
        name=first.name,
        says=f"{about}: {text}, by {first.name}",
        low=_shown(low, first),
        high=_shown(high, first),
        lines=[
            ChartLine(thing=one.thing, path=_path(track))
            for one, track in zip(shown, tracks, strict=True)
        ],
        missing=_hatching(tracks),
        sparkline=_sparkline(tracks[0]),
    )


def _shown(value: float, series: MetricSeries) -> str:
    return f"{value:.10g}{series.unit}"


Track = Sequence[tuple[float, float]]
"""The samples of a series from left to right: the place in the width, and the
height over the bottom as a share."""


def _track(
    series: MetricSeries,
    window: tuple[float, float],
    values: tuple[float, float],
) -> Track:
    begin, span = window
    low, high = values
    start = series.since.timestamp() - begin
    return [
        (
            round((start + offset) / span * WIDTH, 1),
            (value - low) / (high - low) if high > low else 0.5,
        )
        for offset, value in zip(series.offsets, series.values, strict=True)
    ]


def _path(track: Track) -> str:
    """Return a path through the samples between which it turns."""
    limit = APART * _step(track)
    points = list[str]()
    last, level, waiting = -inf, -1.0, ""
    for x, share in track:
        y = round(4 + (1 - share) * (HEIGHT - 8), 1)
        if x - last > limit:
            points.append(f"{waiting}M{x:g} {y:g}")
            waiting = ""
        elif y == level:
            waiting = f"L{x:g} {y:g}"
        else:
            points.append(f"{waiting}L{x:g} {y:g}")
            waiting = ""
        last, level = x, y
    return "".join([*points, waiting])


def _step(track: Track) -> float:
    """Return the usual distance between samples."""
    apart = sorted(later - x for (x, _), (later, _) in pairwise(track))
    return apart[len(apart) // 2] if apart else 0.0


def _hatching(tracks: Iterable[Track]) -> str:
    every = {x for track in tracks for x, _ in track}
    limit = max(APART * max(map(_step, tracks)), 1.0)
    return "".join(
        stroke
        for x, later in pairwise([0.0, *sorted(every), float(WIDTH)])
        if later - x > limit
        for stroke in _strokes(x, later)
    )


def _strokes(x: float, until: float) -> Iterator[str]:
    while x + STROKES_APART <= until:
        yield f"M{x:g} {HEIGHT}l{STROKES_APART} -{HEIGHT}"
        x += STROKES_APART


def _sparkline(track: Track) -> str:
    values = [share for _, share in track]
    low, high = min(values), max(values)
    cells: list[float | None] = [None] * (BLOCKS_MAX + 1)
    for x, value in track:
        place = int(x / WIDTH * BLOCKS_MAX)
        before = cells[place]
        cells[place] = value if before is None else max(before, value)
    return "".join(
        " " if value is None else BLOCKS[_block(value, low, high)]
        for value in cells
    ).rstrip()


def _block(value: float, low: float, high: float) -> int:
    share = (value - low) / (high - low) if high > low else 0.0
    return round(share * (len(BLOCKS) - 1))
