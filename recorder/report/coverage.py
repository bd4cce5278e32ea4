"""Coverage: whether something may be missing from an answer.

A log vouches for what a stream of it proved: from its first complete list to
the last frame, bookmark, clean end or resume, but for its gaps. A window that
reaches beyond is a hole, so that a dead recorder shows. Only the resources
that a question reads count; a kind that the cluster does not serve is covered,
and a source that was never configured is absent, which is no hole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.report.gap import Gap
from recorder.report.holes import (
    Hole,
    doubt,
    holes_of,
    never_recorded,
    no_facts,
    nothing_recorded,
)
from recorder.report.ports import Log, Reading, Stream
from recorder.report.window import Window

__all__ = [
    "Coverage",
    "Reads",
    "cover",
    "covered",
    "everything",
]

SHOWN_MAX = 1000
"""Gaps that one answer lists, and holes; beyond it they are counted."""

SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM)

Reads = Callable[[str, str], bool]
"""Tells for a source and a resource whether a question reads them."""


def everything(source: str, resource: str) -> bool:  # noqa: ARG001
    """Read every stream."""
    return True


@dataclass(slots=True, kw_only=True)
class Coverage:
    """What may be missing, and why."""

    window: Window
    """What was asked; without an end it ends at the least time that all
    streams vouch for."""

    holes: list[Hole] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    """Those that overlap and are not healed."""

    more: int = 0
    """How many more there are than are listed."""

    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether nothing can be missing."""
        return not (self.holes or self.gaps or self.more)

    def add_gap(self, gap: Gap) -> None:
        """Take note of a gap that costs."""
        if len(self.gaps) < SHOWN_MAX:
            self.gaps.append(gap)
        else:
            self.more += 1

    def add_hole(self, hole: Hole) -> None:
        """Take note of a hole."""
        if len(self.holes) < SHOWN_MAX:
            self.holes.append(hole)
        else:
            self.more += 1

    def document(self) -> dict[str, Any]:
        """Return it as the public interface shows it."""
        shown: dict[str, Any] = {
            "complete": self.complete,
            **self.window.document(),
            "gaps": [
                *(hole.document() for hole in self.holes),
                *(gap.document() for gap in self.gaps),
            ],
            "sources": dict(self.sources),
        }
        if self.more:
            shown["more_gaps"] = self.more
        return shown


def cover(
    log: Log,
    streams: Sequence[Stream],
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
) -> Coverage:
    """Judge what streams vouch for; closed gaps and jumps come after it."""
    counted = [
        s for s in streams if _counts(s) and reads(s.source, s.resource)
    ]
    coverage = Coverage(
        window=_ended(window, counted),
        sources={
            source: "recorded"
            if any(stream.source == source for stream in streams)
            else "absent"
            for source in SOURCES
        },
    )
    for stream in counted:
        gap = stream.gap
        if gap is not None and gap.overlaps(window.since, window.until):
            coverage.add_gap(gap)
        for hole in holes_of(stream, window, is_over=log.is_tape, now=now):
            coverage.add_hole(hole)
    if not streams:
        coverage.add_hole(nothing_recorded(window))
    return coverage


async def covered(
    reading: Reading,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
    facts: bool = False,
    needs: str | None = None,
) -> Coverage:
    """Judge a whole window of a log, its closed gaps included.

    ``facts`` tells whether the question reads them: they may end before the
    log does. ``needs`` is a resource without which there is no answer.
    """
    coverage = cover(
        reading.log, reading.streams, window, now=now, reads=reads
    )
    async for gap in reading.gaps(window.since):
        if (
            not gap.healed
            and gap.overlaps(window.since, window.until)
            and reads(gap.source, gap.resource)
        ):
            coverage.add_gap(gap)
    async for jump in reading.clock_jumps():
        hole = doubt(jump, window)
        if hole is not None:
            coverage.add_hole(hole)
    there = {stream.resource for stream in reading.streams}
    if needs is not None and there and needs not in there:
        coverage.add_hole(never_recorded(needs, window))
    end = await reading.facts.end() if facts else None
    hole = None if end is None else no_facts(end, window)
    if hole is not None:
        coverage.add_hole(hole)
    return coverage


def _counts(stream: Stream) -> bool:
    """Return whether a stream can vouch at all.

    Sources that are handed things, as audit is from a tape, do not: nobody
    knows what they were not handed.
    """
    return stream.source == WATCH or stream.vouched_until is not None


def _ended(window: Window, streams: Sequence[Stream]) -> Window:
    if window.until is not None:
        return window
    vouched = [
        stream.vouched_until
        for stream in streams
        if stream.vouched_until is not None and stream.state != "absent"
    ]
    return Window(window.since, min(vouched, default=None))
