"""The timeline of a postmortem as a drawing: one lane for each role."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from recorder.answers.text.lines import escaped
from recorder.explain.verdict import Evidence
from recorder.facts.coverage.coverage import Coverage

LANES = ("fault", "decision", "act", "effect", "recovery")
COLOURS = {
    "fault": "#c0392b",
    "decision": "#8e44ad",
    "act": "#d68910",
    "effect": "#2471a3",
    "recovery": "#1e8449",
}
WIDTH = 960
LEFT = 90
RIGHT = 20
LANE = 34
TOP = 10
TICKS = 6
HATCHED = (
    '<defs><pattern id="gap" width="8" height="8"'
    ' patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="3" height="8" fill="#8886"/></pattern></defs>'
)


def timeline(evidence: Sequence[Evidence], coverage: Coverage) -> str:
    """Draw the evidence over time; gaps are hatched."""
    if not evidence:
        return "<p>No evidence recorded.</p>"
    times = [one.at for one in evidence]
    begin, end = min(times), max(times)
    if end - begin < timedelta(seconds=1):
        end = begin + timedelta(seconds=1)
    height = TOP + LANE * len(LANES) + 30
    opening = (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-label="timeline of the evidence">'
    )
    return "\n".join(
        [
            opening,
            HATCHED,
            *_gaps(coverage, begin, end),
            *_lanes(),
            *_ticks(begin, end),
            *_marks(evidence, begin, end),
            "</svg>",
        ]
    )


def _x(at: datetime, begin: datetime, end: datetime) -> float:
    share = (at - begin) / (end - begin)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _gaps(coverage: Coverage, begin: datetime, end: datetime) -> Iterator[str]:
    for hole in (*coverage.opened, *coverage.holes):
        left = max(hole.since or begin, begin)
        right = min(hole.until or end, end)
        if left < right:
            x, width = _x(left, begin, end), _x(right, begin, end)
            yield (
                f'<rect x="{x}" y="{TOP}" width="{round(width - x, 1)}"'
                f' height="{LANE * len(LANES)}" fill="url(#gap)">'
                "<title>gap: the record may be incomplete here</title></rect>"
            )


def _lanes() -> Iterator[str]:
    for place, name in enumerate(LANES):
        y = TOP + LANE * place + LANE // 2
        yield f'<text x="0" y="{y + 4}" font-size="12">{name}</text>'
        yield (
            f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"'
            ' stroke="#8884"/>'
        )


def _ticks(begin: datetime, end: datetime) -> Iterator[str]:
    y = TOP + LANE * len(LANES) + 20
    for place in range(TICKS):
        at = begin + (end - begin) * place / (TICKS - 1)
        anchor = "start" if place == 0 else "middle"
        if place == TICKS - 1:
            anchor = "end"
        yield (
            f'<text x="{_x(at, begin, end)}" y="{y}" font-size="11"'
            f' text-anchor="{anchor}">{at:%H:%M:%S}</text>'
        )


def _marks(
    evidence: Sequence[Evidence], begin: datetime, end: datetime
) -> Iterator[str]:
    for one in evidence:
        y = TOP + LANE * LANES.index(one.role) + LANE // 2
        words = f"{one.at:%H:%M:%S} {one.entry}: {one.says}"
        yield (
            f'<circle cx="{_x(one.at, begin, end)}" cy="{y}" r="6"'
            f' fill="{COLOURS[one.role]}"><title>{escaped(words)}</title>'
            "</circle>"
        )
