"""Holes: parts of a window that nothing vouches for, without a gap entry.

Before the first list of a resource nothing was recorded, and after its last
proof nothing is known; a jump of the recorder's clock makes doubtful what was
observed around it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recorder.model.moment import LAST
from recorder.model.observation import WATCH
from recorder.report.fact_ports import FactsEnd
from recorder.report.ports import ClockJump, Stream
from recorder.report.window import Window, optional_time

__all__ = [
    "Hole",
    "alike",
    "claimed",
    "doubt",
    "few",
    "holes_of",
    "never_recorded",
    "no_facts",
    "nothing_recorded",
]

STALE = timedelta(seconds=150)
"""Watches without bookmarks are proven once a minute; twice that, and half a
minute to commit and to be read."""


LATE = timedelta(days=1)
"""How late an entry tells of something at most, Events above all."""

NAMED_MAX = 3
"""Resources named in one line."""

NOT_LISTED = "its first list is not complete"
BEGAN_LATER = "recording began later"
NO_PROOF = "nothing vouches for it"
NO_PROOF_YET = "nothing vouches for it any more: is the recorder running?"
OVER = "the tape ends before"
NOTHING_RECORDED = "nothing was recorded yet"
AHEAD = "told of a time behind the end of the record: is a clock ahead?"
NEVER_RECORDED = "it was never recorded"


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
        """Return it as the public interface shows it."""
        return {
            "id": None,
            "source": self.source,
            "resource": self.resource,
            "from": optional_time(self.since),
            "to": optional_time(self.to),
            "reason": self.reason,
            "proved": "nothing",
        }


def holes_of(
    stream: Stream, window: Window, *, is_over: bool, end: datetime | None
) -> Iterator[Hole]:
    """Yield what a stream does not vouch for in a window.

    Args:
        stream: one that counts.
        window: as it was asked for; an end is taken literally.
        is_over: whether no proof can come any more, as of a tape.
        end: where a window without an end reaches to; the proof may end a
            little before it.
    """
    if stream.state == "absent":
        return
    began, vouched = stream.began_at, stream.vouched_until
    if began is None or vouched is None:
        if stream.gap is None:
            yield _hole(stream, window.since, None, NOT_LISTED)
        return
    since, until = window.since, window.until
    if (since or began) < began or (until or LAST) <= began:
        end = began if until is None else min(began, until)
        yield _hole(stream, since, end, BEGAN_LATER)
    # An open gap begins where the proof ends, and is listed itself.
    if stream.gap is None and (until is None or until > began):
        yield from _unproven(stream, window, vouched, is_over=is_over, end=end)


def _unproven(
    stream: Stream,
    window: Window,
    vouched: datetime,
    *,
    is_over: bool,
    end: datetime | None,
) -> Iterator[Hole]:
    since, until = window.since, window.until
    begin = vouched if since is None else max(vouched, since)
    end = vouched if end is None else max(vouched, end)
    if until is not None:
        if until > vouched:
            yield _hole(stream, begin, until, NO_PROOF)
    elif is_over and begin > end:
        yield _hole(stream, since, None, OVER)
    elif end - vouched > STALE:
        to = end if is_over else None
        reason = NO_PROOF if is_over else NO_PROOF_YET
        yield _hole(stream, begin if is_over else vouched, to, reason)


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


def nothing_recorded(window: Window) -> Hole:
    """Return the hole of a log that no stream has come to."""
    return _hole(None, window.since, None, NOTHING_RECORDED)


def claimed(since: datetime, to: datetime | None) -> Hole:
    """Return the hole up to a time that something told claims."""
    return Hole(
        source="recorder", resource=None, since=since, to=to, reason=AHEAD
    )


def never_recorded(resource: str, window: Window) -> Hole:
    """Return the hole of a resource that nobody wanted to be recorded."""
    return Hole(
        source=WATCH,
        resource=resource,
        since=window.since,
        to=window.until,
        reason=NEVER_RECORDED,
    )


def doubt(jump: ClockJump, window: Window) -> Hole | None:
    """Return the span that a jump of the clock makes doubtful, if asked.

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


def no_facts(end: FactsEnd, window: Window) -> Hole | None:
    """Return the hole behind the last entry that has facts, if asked.

    An entry may tell of what happened long before it was observed.
    """
    since, until = end.at, window.until
    if since is not None and until is not None and until <= since - LATE:
        return None
    return Hole(
        source="recorder",
        resource=None,
        since=since,
        to=None,
        reason=f"facts end at entry {end.entry}: run `recorder rederive`",
    )


def alike(holes: Iterable[Hole]) -> Sequence[tuple[Hole, Sequence[str]]]:
    """Put holes of one reason together, with their resources.

    When a recorder dies, there is one of every resource, and each begins at
    a proof of its own; together they are as wide as the widest.
    """
    found: dict[tuple[str, str], list[Hole]] = {}
    for hole in holes:
        found.setdefault((hole.source, hole.reason), []).append(hole)
    return [
        (
            replace(group[0], since=_least(group), to=_greatest(group)),
            [hole.resource for hole in group if hole.resource is not None],
        )
        for group in found.values()
    ]


def few(resources: Sequence[str]) -> str:
    """Name resources, if there are not too many."""
    if not resources:
        return "everything"
    left = len(resources) - NAMED_MAX
    named = ", ".join(resources[:NAMED_MAX])
    return f"{named} and {left} more" if left > 0 else named


def _least(holes: Sequence[Hole]) -> datetime | None:
    begins = [hole.since for hole in holes if hole.since is not None]
    return min(begins) if len(begins) == len(holes) else None


def _greatest(holes: Sequence[Hole]) -> datetime | None:
    ends = [hole.to for hole in holes if hole.to is not None]
    return max(ends) if len(ends) == len(holes) else None
