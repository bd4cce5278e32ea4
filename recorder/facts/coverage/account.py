"""What a log records about its own completeness, read once for a question.

Verdicts are judged by the doubts of the whole record, so that a window chooses
which are answered and never how sure they are; the coverage of an answer is
made of the same account when its window is known.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from recorder.facts.coverage.hole import Gap, Hole
from recorder.facts.coverage.ports import (
    Archived,
    ClockJump,
    FactsEnd,
    Log,
    Reads,
    Record,
    Stream,
)
from recorder.facts.coverage.unproven import (
    doubtful,
    holes_of,
    never_recorded,
    no_facts,
    not_in_dump,
    nothing_recorded,
    thinned_out,
)
from recorder.model.moment import FIRST, shifted
from recorder.model.observation import WATCH
from recorder.model.window import Window

SHOWN_MAX = 1000
"""Gaps that one answer lists, and holes; more are counted."""

MOMENT = timedelta(microseconds=1)

HIDDEN = "only what you may get in the cluster is shown"
"""The hole in a log whose reader may not see all of it."""


def everything(source: str, resource: str) -> bool:  # noqa: ARG001
    """Read every stream."""
    return True


@dataclass(frozen=True, kw_only=True)
class Account:
    """What a log records about itself, as far as a question reads it."""

    log: Log
    streams: Sequence[Stream]
    window: Window
    """As requested."""

    now: datetime
    """The time of the request."""

    reads: Reads = everything
    facts: bool = False
    """Whether the question reads facts."""

    needs: Collection[str] = ()
    """The resources without which there is no answer."""

    gaps: Sequence[Gap] = ()
    """The closed gaps of the window that are not healed, the first ones."""

    more_gaps: int = 0
    """How many more there are."""

    jumps: Sequence[ClockJump] = ()
    archived: Archived = field(default_factory=Archived)
    facts_end: FactsEnd | None = None
    """Where facts end before the log does."""

    @cached_property
    def counted(self) -> Sequence[Stream]:
        """The streams that the question reads and that can vouch."""
        return [
            stream
            for stream in self.streams
            if _counts(stream) and self.reads(stream.source, stream.resource)
        ]

    @cached_property
    def proven_until(self) -> datetime | None:
        """The end of the proof: all streams vouch until then."""
        return proven_of(self.counted)

    @property
    def end(self) -> datetime | None:
        """The end of a window without one, exclusive."""
        if not self.log.is_over:
            return self.now
        recorded, proven = self.log.observed_at, self.proven_until
        if recorded is None:
            return proven
        behind = shifted(recorded, MOMENT)
        return behind if proven is None else max(behind, proven)

    @property
    def counted_until(self) -> datetime | None:
        """The end of what is known, up to which a lasting loss is counted."""
        return known_until(
            self.log.observed_at,
            self.proven_until,
            self.window.until or self.end,
        )

    def began(self, resource: str) -> datetime | None:
        """Return when the first list of a resource was complete."""
        times = [s.began_at for s in self.counted if s.resource == resource]
        return next(iter(times), None)

    def doubts(self, *resources: str) -> list[Hole]:
        """Return what the whole record cannot vouch for, except closed gaps.

        About some resources, and with a beginning.
        """
        open_gaps = [s.gap for s in self.counted if s.gap is not None]
        return [
            hole
            for hole in (
                *open_gaps,
                *self._holes(Window(), FIRST),
                *not_in_dump(resources, self.streams, FIRST),
            )
            if hole.since is not None
            and (hole.resource is None or hole.resource in resources)
        ]

    def holes(self) -> Iterator[Hole]:
        """Yield what nothing vouches for in the window."""
        yield from self._holes(self.window, None)

    def open_gaps(self) -> Iterator[Gap]:
        """Yield the gaps of the window that nothing has closed."""
        since, until = self.window.since, self.window.until
        for stream in self.counted:
            if stream.gap is not None and stream.gap.overlaps(since, until):
                yield stream.gap

    def _holes(
        self, window: Window, always: datetime | None
    ) -> Iterator[Hole]:
        """Yield the holes of a window; ``always`` begins those of any time.

        An archive alone does not record what was proven, at any time; and what
        is hidden may be of any time.
        """
        is_over, end = self.log.is_over, self.end
        for stream in self.counted:
            yield from holes_of(
                stream,
                window,
                is_over=is_over,
                is_written=self.log.holder is not None,
                end=end,
                always=always,
            )
        if not self.streams:
            archived = self.log.kept_since is not None
            begin = Window(window.since or always)
            yield nothing_recorded(begin, archived=archived)
        if self.log.is_part:
            yield Hole(since=always, reason=HIDDEN)
        yield from self.archived.holes
        yield from thinned_out(
            self.archived.thinned, self.window, self.reads, facts=self.facts
        )
        for jump in self.jumps:
            yield from doubtful(jump, window)
        if always is None:
            yield from never_recorded(self.needs, self.streams, window)
        if self.facts_end is not None:
            yield from no_facts(self.facts_end, window)


def proven_of(streams: Iterable[Stream]) -> datetime | None:
    """Return until when all streams vouch."""
    vouched = [
        stream.vouched_until
        for stream in streams
        if stream.vouched_until is not None and stream.state != "absent"
    ]
    return min(vouched, default=None)


def known_until(
    recorded: datetime | None,
    proven: datetime | None,
    until: datetime | None,
) -> datetime | None:
    """Return the end of what is known, up to which a lasting loss is counted.

    It is never later than the window, and None if nothing is known.
    """
    ends = (recorded, proven)
    end = max((at for at in ends if at is not None), default=None)
    return end if end is None or until is None else min(end, until)


def _counts(stream: Stream) -> bool:
    """Return whether a stream can vouch at all.

    Sources that only receive, as audit does from a tape, do not: what they did
    not receive is unknown.
    """
    return stream.source == WATCH or stream.vouched_until is not None


async def read_account(
    record: Record,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
    facts: bool = False,
    needs: Collection[str] = (),
) -> Account:
    """Read what a log records about a window."""
    gaps: list[Gap] = []
    more = 0
    async for gap in record.gaps(window.since):
        if (
            not gap.healed
            and gap.overlaps(window.since, window.until)
            and reads(gap.source, gap.resource)
        ):
            if len(gaps) < SHOWN_MAX:
                gaps.append(gap)
            else:
                more += 1
    return Account(
        log=record.log,
        streams=record.streams,
        window=window,
        now=now,
        reads=reads,
        facts=facts,
        needs=needs,
        gaps=gaps,
        more_gaps=more,
        jumps=[jump async for jump in record.clock_jumps()],
        archived=await record.archived(window),
        facts_end=await record.facts_end() if facts else None,
    )
