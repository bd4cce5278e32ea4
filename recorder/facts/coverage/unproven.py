"""Holes without an entry: what nothing vouches for in a window.

Before the first list of a resource nothing was recorded, and after its last
proof nothing is known; a jump of the recorder's clock makes observations
around it doubtful.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import (
    ClockJump,
    FactsEnd,
    Reads,
    Stream,
    Thinned,
)
from recorder.model.moment import LAST, written
from recorder.model.observation import AUDIT, WATCH
from recorder.model.window import Window

OUT_OF = {
    "Event": (WATCH, ("v1/events", "events.k8s.io/v1/events")),
    "Lease": (WATCH, ("coordination.k8s.io/v1/leases",)),
    "audit": (AUDIT, ("",)),
}
"""Source and resources of what `retention_shorter` could remove."""

STALE = timedelta(seconds=150)
"""How long what is being recorded counts as complete without proof: watches
without bookmarks are proven once a minute; twice that, and half a minute to
commit and to be read."""


LATE = timedelta(days=1)
"""How late an entry may report something, Events above all."""

ENDED = "ended"
"""State of a stream that was imported."""

STATE_OF_A_DUMP = "imported: objects are known only as of {at}"
EVENTS_OF_A_DUMP = "imported: Events that were forgotten by {at} are missing"
NOT_IN_DUMP = "not in what was imported"
NOT_LISTED = "its first list is not complete"
BEGAN_LATER = "recording started later"
NO_PROOF = "not confirmed complete"
NO_PROOF_YET = "not confirmed complete since then: is the recorder running?"
OVER = "the tape ends before"
NOTHING_RECORDED = "nothing recorded yet"
NOT_ARCHIVED = "not confirmed complete: an archive does not say what was"
AHEAD = "a timestamp lies after the end of the record: is a clock ahead?"
NEVER_RECORDED = "never recorded"
DROPPED = "dropped by retention, not archived"


def holes_of(
    stream: Stream,
    window: Window,
    *,
    is_over: bool,
    is_written: bool,
    end: datetime | None,
    always: datetime | None = None,
) -> Iterator[Hole]:
    """Yield what a stream does not vouch for in a window.

    Args:
        stream: one that counts.
        window: as requested; an end is taken literally.
        always: the beginning of a hole of any time.
        is_over: whether no further proof can come, as for a tape.
        is_written: whether a recorder writes the log: proof is on its way.
        end: where a window without an end ends; the proof may end a little
            before it.
    """
    if stream.state == "absent":
        return
    began, vouched = stream.began_at, stream.vouched_until
    if is_dump(stream):
        since = window.since or always
        yield _hole(stream, since, window.until, _of_dump(stream))
        return
    if began is None or vouched is None:
        if stream.gap is None:
            yield _hole(stream, window.since, None, NOT_LISTED)
        return
    until = window.until
    before = began_later(stream, window)
    if before is not None:
        yield before
    # An open gap begins where the proof ends, and is listed itself.
    if stream.gap is None and (until is None or until > began):
        late = STALE if is_over or is_written else timedelta()
        yield from _unproven(
            stream, window, vouched, is_over=is_over, late=late, end=end
        )


def is_dump(stream: Stream) -> bool:
    """Return whether a stream is what a dump had of a resource."""
    return stream.state == ENDED and stream.began_at is None


def imported_of(streams: Sequence[Stream]) -> str | None:
    """Return what a log holds that was imported from files.

    None if it is that of a tape, whatever was added to it.
    """
    watched = [stream for stream in streams if stream.source == WATCH]
    if not all(map(is_dump, watched)):
        return None
    if not watched:
        return "imported audit log" if streams else None
    times = [s.last_frame_at for s in watched if s.last_frame_at is not None]
    of = f" of {written(max(times))}" if times else ""
    return f"imported dump{of}: one state, and Events"


def _of_dump(stream: Stream) -> str:
    is_events = stream.resource.rpartition("/")[2] == "events"
    reason = EVENTS_OF_A_DUMP if is_events else STATE_OF_A_DUMP
    at = stream.last_frame_at
    return reason.format(at="some time" if at is None else written(at))


def not_in_dump(
    resources: Iterable[str], streams: Sequence[Stream], since: datetime
) -> Iterator[Hole]:
    """Yield a hole for each resource that a log of dumps lacks."""
    if not any(map(is_dump, streams)):
        return
    known = {stream.resource for stream in streams}
    for resource in resources:
        if resource not in known:
            yield Hole(resource=resource, since=since, reason=NOT_IN_DUMP)


def began_later(stream: Stream, window: Window) -> Hole | None:
    """Return the part of a window before a first list, if any."""
    began, since, until = stream.began_at, window.since, window.until
    if began is None or stream.state == "absent":
        return None
    if (since or began) >= began and (until or LAST) > began:
        return None
    end = began if until is None else min(began, until)
    return _hole(stream, since, end, BEGAN_LATER)


def _unproven(
    stream: Stream,
    window: Window,
    vouched: datetime,
    *,
    is_over: bool,
    late: timedelta,
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
    elif end - vouched > late:
        to = end if is_over else None
        reason = NO_PROOF if is_over else NO_PROOF_YET
        yield _hole(stream, begin if is_over else vouched, to, reason)


def _hole(
    stream: Stream | None,
    since: datetime | None,
    until: datetime | None,
    reason: str,
) -> Hole:
    return Hole(
        source=WATCH if stream is None else stream.source,
        resource=None if stream is None else stream.resource,
        since=since,
        until=until,
        reason=reason,
    )


def nothing_recorded(window: Window, *, archived: bool) -> Hole:
    """Return the hole of a log without any stream.

    If only the archive is here, what was proven is unknown.
    """
    reason = NOT_ARCHIVED if archived else NOTHING_RECORDED
    return _hole(None, window.since, None, reason)


def claimed(since: datetime, until: datetime | None) -> Hole:
    """Return the hole up to a time that a timestamp claims."""
    return Hole(
        source="recorder",
        since=since,
        until=until,
        reason=AHEAD,
    )


def dropped(
    kept_since: datetime, window: Window, reason: str = DROPPED
) -> Hole | None:
    """Return the part of a window in dropped days, if any."""
    since = window.since
    if since is None or since >= kept_since:
        return None
    until = window.until
    return Hole(
        source="recorder",
        since=since,
        until=kept_since if until is None else min(until, kept_since),
        reason=reason,
    )


def thinned_out(
    found: Sequence[Thinned], window: Window, reads: Reads, *, facts: bool
) -> Iterator[Hole]:
    """Yield what was removed from the days of a window, a hole for each rule.

    A question of facts lacks nothing if no facts were removed; and it reads
    those of requests, whatever resources it names. One without a beginning
    asks for what is kept.
    """
    if window.since is None:
        return
    spans: dict[str, list[Thinned]] = {}
    for one in found:
        source, resources = OUT_OF[one.name]
        is_read = any(reads(source, resource) for resource in resources)
        if facts:
            is_read = one.facts > 0 and (is_read or source == AUDIT)
        is_before = window.until is not None and one.since >= window.until
        if is_read and one.until >= window.since and not is_before:
            spans.setdefault(one.rule, []).append(one)
    for rule, some in spans.items():
        source, (resource, *_) = OUT_OF[some[0].name]
        since, until = min(o.since for o in some), max(o.until for o in some)
        yield Hole(
            source=source,
            resource=resource or None,
            since=max(since, window.since),
            until=until if window.until is None else min(until, window.until),
            reason=_policy(rule, some[-1]),
        )


def _policy(rule: str, newest: Thinned) -> str:
    what = {"Lease": "silences of leases", "audit": "audit records"}.get(
        newest.name, "Events"
    )
    reason = rule.partition("/")[2]
    named = f"{what} ({reason})" if reason else what
    age = "a day" if newest.days == 1 else f"{newest.days} days"
    where = newest.archive and f"; they are in the archive, {newest.archive}"
    return (
        f"{named} older than {age} went by policy, retention_shorter"
        f" {rule}={newest.days}{where or ''}"
    )


def never_recorded(
    resources: Iterable[str], streams: Sequence[Stream], window: Window
) -> Iterator[Hole]:
    """Yield a hole for each resource without a stream, if others have one."""
    recorded = {stream.resource for stream in streams}
    for resource in resources:
        if recorded and resource not in recorded:
            yield Hole(
                resource=resource,
                since=window.since,
                until=window.until,
                reason=NEVER_RECORDED,
            )


def doubtful(jump: ClockJump, window: Window) -> Iterator[Hole]:
    """Yield the span of a window that a jump of the clock makes doubtful.

    Between the time before and the time after it our clock either showed
    nothing, or everything twice.
    """
    moved = timedelta(seconds=jump.seconds)
    begin, end = sorted((jump.at - moved, jump.at))
    if window.since is not None and end < window.since:
        return
    if window.until is not None and begin >= window.until:
        return
    reason = (
        f"the recorder's clock jumped by {jump.seconds:g} s ({jump.entry})"
    )
    yield Hole(source="recorder", since=begin, until=end, reason=reason)


def no_facts(end: FactsEnd, window: Window) -> Iterator[Hole]:
    """Yield the hole after the last entry that has facts, if in the window.

    An entry may report what happened long before it was observed.
    """
    since, until = end.at, window.until
    if since is None or until is None or until > since - LATE:
        reason = f"facts end at entry {end.entry}: run `recorder rederive`"
        yield Hole(source="recorder", since=since, reason=reason)
