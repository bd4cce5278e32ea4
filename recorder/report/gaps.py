"""Answers of `recorder gaps`: spans that the log cannot vouch for."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recorder.model.moment import written
from recorder.report.coverage import (
    Coverage,
    Reads,
    covered,
    everything,
)
from recorder.report.gap import Gap
from recorder.report.holes import alike, few
from recorder.report.ports import Reading
from recorder.report.window import Window

__all__ = ["COLUMNS", "GapAnswer", "ask_gaps", "gap_rows", "detail_lines"]

COLUMNS = ("ID", "SOURCE", "RESOURCE", "FROM", "TO", "REASON")

GAPS_MAX = 10_000
"""The newest are shown; 600 bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapAnswer:
    """The gaps of a window, oldest first, healed ones included."""

    gaps: Sequence[Gap]
    more: int
    """How many older ones are left out."""

    coverage: Coverage

    def document(self) -> dict[str, Any]:
        """Return it as the public interface shows it."""
        return {
            "gaps": [gap.document() for gap in self.gaps],
            "coverage": self.coverage.document(),
        }


async def ask_gaps(
    reading: Reading,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
) -> GapAnswer:
    """Find the gaps that overlap a window."""
    found: deque[Gap] = deque(maxlen=GAPS_MAX)
    count = 0
    async for gap in reading.gaps(window.since):
        if gap.overlaps(window.since, window.until) and reads(
            gap.source, gap.resource
        ):
            found.append(gap)
            count += 1
    still_open = [
        stream.gap
        for stream in reading.streams
        if stream.gap is not None
        and stream.gap.overlaps(window.since, window.until)
        and reads(stream.source, stream.resource)
    ]
    return GapAnswer(
        gaps=sorted([*found, *still_open], key=lambda gap: gap.opened),
        more=count - len(found),
        coverage=await covered(reading, window, now=now, reads=reads),
    )


def gap_rows(answer: GapAnswer) -> list[list[str]]:
    """Return gaps, and holes without an entry, as rows of a table."""
    rows = [
        [
            str(gap.opened),
            gap.source,
            gap.resource,
            _moment(gap.since),
            _moment(gap.to) or "open",
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
            _moment(hole.since),
            _moment(hole.to) or "open",
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


def _moment(at: datetime | None) -> str:
    return "" if at is None else written(at)
