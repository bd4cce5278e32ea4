"""Coverage: whether something may be missing from an answer.

A log vouches for what its streams proved: from the first complete list to the
last frame, bookmark, clean end or resume, except for gaps. A window that
reaches beyond is a hole, so that a dead recorder shows. Only the resources
that a question reads count; a kind that the cluster does not serve is covered,
and a source that was never configured is absent, which is no hole.

The end of the record, the end of its proof and the current time are three
things. A window without an end reaches to the end of the record of a tape, and
to now of a live log; the part of it after the proof is doubtful, not hidden.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from recorder.facts.coverage.account import (
    SHOWN_MAX,
    Account,
    everything,
    known_until,
    proven_of,
    read_account,
)
from recorder.facts.coverage.authorship import unaudited
from recorder.facts.coverage.hole import Gap, Hole
from recorder.facts.coverage.ports import ArchivedSpan, Reads, Record
from recorder.facts.coverage.unproven import began_later, claimed
from recorder.model.document import Document
from recorder.model.moment import LAST, shifted
from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.model.window import Window

MOMENT = timedelta(microseconds=1)

SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM)


class Coverage(Document, frozen=True, kw_only=True):
    """What may be missing from an answer, and why."""

    complete: bool
    """Whether the answer is complete."""

    since: datetime | None = None
    """Start of the window."""

    until: datetime | None = None
    """End of the window: as given, or the end of a tape, or now for a live
    log."""

    recorded_until: datetime | None = None
    """The end of the record: when its last entry was observed."""

    proven_until: datetime | None = None
    """Until when everything that was read is confirmed complete."""

    now: datetime | None = None
    """Time of the query; null where it does not matter."""

    gaps: Sequence[Hole] = ()
    """Gaps and holes that overlap the window, the first 1000."""

    sources: Mapping[str, str] = field(default_factory=dict)
    more_gaps: int | UnsetType = UNSET
    """How many more exist."""

    archived: Sequence[ArchivedSpan] | UnsetType = UNSET
    begins: datetime | None = field(default=None, name="_begins")
    """Where dropped days end that were not read, if no beginning was asked
    for."""

    @classmethod
    def of(
        cls,
        window: Window,
        *,
        holes: Sequence[Hole] = (),
        gaps: Sequence[Gap] = (),
        more: int = 0,
    ) -> "Coverage":
        """Return the coverage of a window with some holes and gaps."""
        more += max(0, len(holes) - SHOWN_MAX) + max(0, len(gaps) - SHOWN_MAX)
        return cls(
            complete=not (holes or gaps or more),
            since=window.since,
            until=window.until,
            gaps=(*holes[:SHOWN_MAX], *gaps[:SHOWN_MAX]),
            more_gaps=more or UNSET,
        )

    @property
    def window(self) -> Window:
        """The window that the answer speaks of.

        Without an end it ends with the record of a tape, and now in a live
        log. Without a beginning it begins after dropped days that were not
        read, or where an answer begins that reaches back before the record.
        """
        return Window(self.since, self.until)

    @property
    def holes(self) -> Sequence[Hole]:
        """Those without an entry."""
        return [hole for hole in self.gaps if hole.opened is None]

    @property
    def opened(self) -> Sequence[Gap]:
        """Those that an entry opened."""
        return [hole for hole in self.gaps if isinstance(hole, Gap)]

    @property
    def counted_until(self) -> datetime | None:
        """The end of what is known, up to which a lasting loss is counted."""
        return known_until(self.recorded_until, self.proven_until, self.until)

    def reaching(self, at: datetime) -> "Coverage":
        """Return it with a window that includes a time of an answer.

        A clock of the cluster may be ahead of ours. Nothing vouches for a time
        in the future.
        """
        if self.until is None or at < self.until:
            return self
        until = shifted(at, MOMENT)
        hole = claimed(self.until, until)
        gaps = (*self.holes, hole, *self.opened)
        return replace(self, complete=False, until=until, gaps=gaps)


def cover(
    account: Account,
    *,
    end: datetime | None = None,
    times: Iterable[datetime] = (),
    hiding: Iterable[Hole] = (),
    proven_by: Collection[str] | None = None,
    authored: Callable[[str], bool] | None = None,
) -> Coverage:
    """Return what may be missing from an answer.

    Args:
        account: of the log, for the window that the answer speaks of.
        end: where the answer ends, if its window has no end. The question did
            not name it, so it need not be proven.
        times: in the answer. What was read of the time before a first list is
            a sample of it, so if no beginning was requested, an answer about
            that time may lack something.
        hiding: what reduces the confidence of the answer, also before the
            window: the answer reaches there.
        proven_by: the resources that the answer rests on, if not all that were
            read: their proof is what counts.
        authored: which resources have authors in the answer, if it names any.
    """
    window, begins = _window(account, end)
    gaps = [
        gap
        for gap in (*account.open_gaps(), *account.gaps)
        if end is None or gap.overlaps(window.since, end)
    ]
    holes = [
        hole for hole in account.holes() if end is None or hole.begin < end
    ]
    for hole in hiding:
        if isinstance(hole, Gap):
            gaps += [hole] if hole not in gaps else []
        elif not any(_spans(one, hole) for one in holes):
            holes.append(hole)
    if window.since is None:
        window, before = _earlier(account, window, min(times, default=None))
        holes += before
    if authored is not None:
        holes += unaudited(account.streams, window, authored)
    log, more = account.log, account.more_gaps
    return replace(
        Coverage.of(window, holes=holes, gaps=gaps, more=more),
        recorded_until=log.observed_at,
        proven_until=proven_of(
            stream
            for stream in account.counted
            if proven_by is None or stream.resource in proven_by
        ),
        now=None if log.pinned else account.now,
        sources={
            source: "recorded"
            if any(stream.source == source for stream in account.streams)
            else "absent"
            for source in SOURCES
        },
        archived=tuple(account.archived.read) or UNSET,
        begins=begins,
    )


async def covered(
    record: Record,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
    facts: bool = False,
    needs: Collection[str] = (),
) -> Coverage:
    """Return what may be missing from a window of a log.

    ``facts``: the question reads them, and they may end before the log does.
    ``needs`` are the resources without which there is no answer.
    """
    return cover(
        await read_account(
            record, window, now=now, reads=reads, facts=facts, needs=needs
        )
    )


def _window(
    account: Account, end: datetime | None
) -> tuple[Window, datetime | None]:
    """Return the window with its end, and where dropped days end before it."""
    since, until = account.window.since, account.window.until or account.end
    begins = account.archived.begins
    if since is None and begins and (until is None or begins < until):
        return Window(begins, end or until), begins
    return Window(since, end or until), None


def _earlier(
    account: Account, window: Window, since: datetime | None
) -> tuple[Window, Sequence[Hole]]:
    """Return a window from a time on, if some streams began after it."""
    if since is None:
        return window, ()
    earlier = Window(since, window.until)
    found = [began_later(stream, earlier) for stream in account.counted]
    holes = [hole for hole in found if hole is not None]
    return earlier if holes else window, holes


def _spans(one: Hole, other: Hole) -> bool:
    """Return whether a hole contains another."""
    return (
        other.resource in {None, one.resource}
        and one.begin <= other.begin
        and (one.until or LAST) >= (other.until or LAST)
    )
