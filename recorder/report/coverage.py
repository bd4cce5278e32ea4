"""Coverage: whether something may be missing from an answer.

A log vouches for what a stream of it proved: from its first complete list to
the last frame, bookmark, clean end or resume, but for its gaps. A window that
reaches beyond is a hole, so that a dead recorder shows. Only the resources
that a question reads count; a kind that the cluster does not serve is covered,
and a source that was never configured is absent, which is no hole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recorder.model.moment import written
from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.report.gap import Gap
from recorder.report.ports import ClockJump, Log, Reading, Stream
from recorder.report.window import Window

__all__ = ["Coverage", "Hole", "Reads", "cover", "covered"]

STALE = timedelta(seconds=150)
"""Watches without bookmarks are proven once a minute; twice that, and half a
minute to commit and to be read."""

SHOWN_MAX = 1000
"""Gaps and holes that one answer lists; beyond it they are counted."""

SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM)

NOT_LISTED = "its first list is not complete"
BEGAN_LATER = "recording began later"
NO_PROOF = "nothing vouches for it"
NO_PROOF_YET = "nothing vouches for it any more: is the recorder running?"
NOTHING_READ = "nothing was recorded yet"

Reads = Callable[[str, str], bool]
"""Tells for a source and a resource whether a question reads them."""


def everything(source: str, resource: str) -> bool:  # noqa: ARG001
    """Read every stream."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A part of a window that nothing vouches for, without a gap entry."""

    source: str
    resource: str | None
    """None where it concerns everything."""

    since: datetime | None
    to: datetime | None
    reason: str

    def document(self) -> dict[str, Any]:
        """Give it as the public interface shows it."""
        return {
            "id": None,
            "source": self.source,
            "resource": self.resource,
            "from": self.since and written(self.since),
            "to": self.to and written(self.to),
            "reason": self.reason,
            "proved": "nothing",
        }


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

    def document(self) -> dict[str, Any]:
        """Give it as the public interface shows it."""
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
        coverage.holes.extend(_holes(stream, window, log=log, now=now))
    if not streams and not log.is_tape:
        coverage.holes.append(_hole(None, window.since, None, NOTHING_READ))
    return coverage


async def covered(
    reading: Reading,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
) -> Coverage:
    """Judge a whole window of a log, its closed gaps included."""
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
            coverage.holes.append(hole)
    return coverage


def doubt(jump: ClockJump, window: Window) -> Hole | None:
    """Give the span that a jump of the clock makes doubtful, if asked.

    Between the time before and the time after it our clock either showed
    nothing, or everything twice.
    """
    moved = timedelta(seconds=jump.seconds)
    begin, end = sorted((jump.at - moved, jump.at))
    if window.since is not None and end < window.since:
        return None
    if window.until is not None and begin >= window.until:
        return None
    reason = f"the recorder's clock jumped by {jump.seconds:g} s"
    return Hole(
        source="recorder",
        resource=None,
        since=begin,
        to=end,
        reason=f"{reason} ({jump.entry})",
    )


def _counts(stream: Stream) -> bool:
    """Tell whether a stream can vouch at all.

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


def _holes(
    stream: Stream, window: Window, *, log: Log, now: datetime
) -> Iterator[Hole]:
    if stream.state == "absent":
        return
    began, vouched = stream.began_at, stream.vouched_until
    if began is None or vouched is None:
        if stream.gap is None:
            yield _hole(stream, window.since, None, NOT_LISTED)
        return
    since, until = window.since, window.until
    if since is not None and since < began:
        end = began if until is None else min(began, until)
        yield _hole(stream, since, end, BEGAN_LATER)
    # An open gap begins where the proof ends, and is listed itself.
    if stream.gap is None and (until is None or until > began):
        yield from _unproven(
            stream, window, vouched, is_over=log.is_tape, now=now
        )


def _unproven(
    stream: Stream,
    window: Window,
    vouched: datetime,
    *,
    is_over: bool,
    now: datetime,
) -> Iterator[Hole]:
    since, until = window.since, window.until
    if until is None:
        if not is_over and now - vouched > STALE:
            yield _hole(stream, vouched, None, NO_PROOF_YET)
    elif until > vouched:
        begin = vouched if since is None else max(vouched, since)
        yield _hole(stream, begin, until, NO_PROOF)


def _hole(
    stream: Stream | None,
    since: datetime | None,
    to: datetime | None,
    reason: str,
) -> Hole:
    return Hole(
        source=WATCH if stream is None else stream.source,
        resource=None if stream is None else stream.resource,
        since=since,
        to=to,
        reason=reason,
    )
