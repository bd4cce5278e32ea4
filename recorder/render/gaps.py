"""Gaps as rows and lines for people."""

from recorder.coverage.hole import Gap
from recorder.model.moment import optional_time
from recorder.questions.gaps import GapAnswer
from recorder.render.coverage import alike, few

__all__ = ["COLUMNS", "detail_lines", "gap_rows"]

COLUMNS = ("ID", "SOURCE", "RESOURCE", "FROM", "TO", "REASON")


def gap_rows(answer: GapAnswer) -> list[list[str]]:
    """Return gaps, and holes without an entry, as rows of a table."""
    rows = [
        [
            str(gap.opened),
            gap.source,
            gap.resource,
            optional_time(gap.since) or "",
            optional_time(gap.until) or "open",
            gap.reason,
        ]
        for gap in answer.gaps
    ]
    rows.extend(
        [
            "-",
            hole.source,
            f"{len(resources)} resources"
            if len(resources) > 1
            else few(resources),
            optional_time(hole.since) or "",
            optional_time(hole.until) or "open",
            hole.reason,
        ]
        for hole, resources in alike(answer.coverage.holes)
    )
    return rows


def detail_lines(gap: Gap) -> list[str]:
    """Say what was proved about a gap, and what may be missing."""
    lines = [f"gap {gap.opened}: {gap.proved}"]
    if not gap.healed:
        lines.extend(f"  may be missing: {one}" for one in gap.possible)
    return lines
