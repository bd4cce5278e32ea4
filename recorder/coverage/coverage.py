"""Coverage: whether something may be missing from an answer.

A log vouches for what a stream of it proved: from its first complete list to
the last frame, bookmark, clean end or resume, but for its gaps. A window that
reaches beyond is a hole, so that a dead recorder shows. Only the resources
that a question reads count; a kind that the cluster does not serve is covered,
and a source that was never configured is absent, which is no hole.

Where the record ends, where its proof ends and what time it is are three
things. A window without an end reaches to the end of the record of a tape, and
to now of a live log; what of it lies behind the proof is doubtful, not hidden.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recorder.coverage.hole import Gap, Hole
from recorder.coverage.ports import ArchivedSpan, Log, Reads, Record, Stream
from recorder.coverage.unproven import (
    began_later,
    claimed,
    doubt,
    holes_of,
    never_recorded,
    no_facts,
    nothing_recorded,
    thinned_out,
)
from recorder.model.moment import FIRST, LAST, shifted
from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.model.window import Window

__all__ = [
    "Coverage",
    "Reads",
    "cover",
    "covered",
    "everything",
    "proven_of",
]

SHOWN_MAX = 1000
"""Gaps that one answer lists, and holes; beyond it they are counted."""

MOMENT = timedelta(microseconds=1)

HIDDEN = "only what you may get in the cluster is shown"
"""The hole in a log whose reader may not see all of it."""

SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM)


def everything(source: str, resource: str) -> bool:  # noqa: ARG001
    """Read every stream."""
    return True


@dataclass(slots=True, kw_only=True)
class Coverage:
    """What may be missing, and why."""

    window: Window
    """What was asked; without an end it ends with the record of a tape, and
    now in a live log. Without a beginning it begins where days were dropped
    that were not read, or where an answer begins that reaches back before
    the record."""

    begins: datetime | None = None
    """Where those days end, if there are any."""

    recorded_until: datetime | None = None
    """The end of the record: when its last entry was observed."""

    proven_until: datetime | None = None
    """The end of the proof: what all streams vouch for that were read."""

    now: datetime | None = None
    """When it was asked; None where that does not matter."""

    holes: list[Hole] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    """Those that overlap and are not healed."""

    more: int = 0
    """How many more there are than are listed."""

    doubts: list[Hole] = field(default_factory=list)
    """What the whole record cannot vouch for, whatever was asked, but for
    closed gaps. Verdicts are judged by it, so that a window chooses which
    are answered and never how sure they are."""

    streams: Sequence[Stream] = ()
    """Those that the question reads and that can vouch."""

    sources: Mapping[str, str] = field(default_factory=dict)
    archived: Sequence[ArchivedSpan] = ()
    """What was read from the archive."""

    @property
    def complete(self) -> bool:
        """Whether nothing can be missing."""
        return not (self.holes or self.gaps or self.more)

    @property
    def counted_until(self) -> datetime | None:
        """The end of what is known, to which a loss that lasts is counted.

        It is never later than the window, and None where nothing is known.
        """
        ends = (self.recorded_until, self.proven_until)
        end = max((at for at in ends if at is not None), default=None)
        until = self.window.until
        return end if end is None or until is None else min(end, until)

    def reach(self, at: datetime) -> None:
        """Let the window reach behind a time that something told claims.

        A clock of the cluster may be ahead of ours. Nothing vouches for a
        time that has not come.
        """
        until = self.window.until
        if until is None or at < until:
            return
        self.window = Window(self.window.since, shifted(at, MOMENT))
        self.add_hole(claimed(until, self.window.until))

    def begin(self, since: datetime) -> None:
        """Let a window without a beginning begin where days were read."""
        until = self.window.until
        if until is None or since < until:
            self.window, self.begins = Window(since, until), since

    def begin_with(self, times: Iterable[datetime]) -> None:
        """Let a window without a beginning begin with what an answer says.

        What was read of the time before a first list is a sample of it, so
        an answer that speaks of that time may lack something.
        """
        since = min(times, default=None)
        if self.window.since is not None or since is None:
            return
        window = Window(since, self.window.until)
        found = [began_later(stream, window) for stream in self.streams]
        before = [hole for hole in found if hole is not None]
        if before:
            self.window = window
        for hole in before:
            self.add_hole(hole)

    def end(self, until: datetime) -> None:
        """Let a window that has no end of its own end where an answer does.

        Nobody asked for its end, so it need not be proven to it.
        """
        since = self.window.since
        self.window = Window(since, until)
        self.gaps = [gap for gap in self.gaps if gap.overlaps(since, until)]
        self.holes = [hole for hole in self.holes if hole.begin < until]

    def unvouched(self) -> list[Hole]:
        """Return the gaps and holes that have a beginning."""
        found = (*self.gaps, *self.holes)
        return [hole for hole in found if hole.since is not None]

    def began(self, resource: str) -> datetime | None:
        """Return when the first list of a resource was complete."""
        times = [s.began_at for s in self.streams if s.resource == resource]
        return next(iter(times), None)

    def doubted(self, *resources: str) -> list[Hole]:
        """Return the doubts about some resources that have a beginning."""
        return [
            hole
            for hole in self.doubts
            if hole.since is not None
            and (hole.resource is None or hole.resource in resources)
        ]

    def rest_on(self, hiding: Iterable[Hole]) -> None:
        """Take note of what reduces the confidence of an answer.

        Also where it lies before the window: the answer reaches there.
        """
        for hole in hiding:
            if isinstance(hole, Gap):
                if hole not in self.gaps:
                    self.add_gap(hole)
            elif not any(
                hole.resource in {None, one.resource}
                and one.begin <= hole.begin
                and (one.until or LAST) >= (hole.until or LAST)
                for one in self.holes
            ):
                self.add_hole(hole)

    def doubt(self, recorded: Hole | None, asked: Hole | None) -> None:
        """Take note of a hole of the record, and of it in the window."""
        if recorded is not None:
            self.doubts.append(recorded)
        if asked is not None:
            self.add_hole(asked)

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
    proven = proven_of(counted)
    end = _end(log, proven, now)
    coverage = Coverage(
        window=Window(window.since, window.until or end),
        recorded_until=log.observed_at,
        proven_until=proven,
        now=None if log.pinned else now,
        streams=counted,
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
        coverage.doubts += [gap] if gap is not None else []
        over = log.is_over
        coverage.doubts += holes_of(stream, Window(), is_over=over, end=end)
        for hole in holes_of(stream, window, is_over=over, end=end):
            coverage.add_hole(hole)
    if not streams:
        archived = log.kept_since is not None
        # Of an archive alone nobody knows what was proven, whenever it was.
        coverage.doubt(
            nothing_recorded(Window(since=FIRST), archived=archived),
            nothing_recorded(window, archived=archived),
        )
    if log.is_part:
        # Whatever window is asked: what is hidden may be of any time.
        not_shown = Hole(None, None, reason=HIDDEN)
        coverage.doubt(Hole(FIRST, None, reason=HIDDEN), not_shown)
    return coverage


async def covered(
    record: Record,
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
    coverage = cover(record.log, record.streams, window, now=now, reads=reads)
    archived = await record.archived(window)
    coverage.archived = archived.read
    if window.since is None and archived.begins is not None:
        coverage.begin(archived.begins)
    thinned = thinned_out(archived.thinned, window, reads, facts=facts)
    for hole in (*archived.holes, *thinned):
        coverage.doubt(hole, hole)
    async for gap in record.gaps(window.since):
        if (
            not gap.healed
            and gap.overlaps(window.since, window.until)
            and reads(gap.source, gap.resource)
        ):
            coverage.add_gap(gap)
    async for jump in record.clock_jumps():
        coverage.doubt(doubt(jump, Window()), doubt(jump, window))
    there = {stream.resource for stream in record.streams}
    if needs is not None and there and needs not in there:
        coverage.add_hole(never_recorded(needs, window))
    end = await record.facts_end() if facts else None
    if end is not None:
        coverage.doubt(no_facts(end, Window()), no_facts(end, window))
    return coverage


def _counts(stream: Stream) -> bool:
    """Return whether a stream can vouch at all.

    Sources that are handed things, as audit is from a tape, do not: nobody
    knows what they were not handed.
    """
    return stream.source == WATCH or stream.vouched_until is not None


def proven_of(streams: Iterable[Stream]) -> datetime | None:
    """Return what all streams vouch for."""
    vouched = [
        stream.vouched_until
        for stream in streams
        if stream.vouched_until is not None and stream.state != "absent"
    ]
    return min(vouched, default=None)


def _end(log: Log, proven: datetime | None, now: datetime) -> datetime | None:
    """Return where a window ends that has no end, exclusive as any."""
    if not log.is_over:
        return now
    recorded = log.observed_at
    if recorded is None:
        return proven
    behind = shifted(recorded, MOMENT)
    return behind if proven is None else max(behind, proven)
