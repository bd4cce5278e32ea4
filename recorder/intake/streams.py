"""The rule by which a stream's resume point moves.

A resource version is not unique per frame: when the lease of a batch of Events
expires, all of them are deleted in one revision. So a version is complete only
when a later one, or a bookmark, has been seen, and a watch resumes from the
last complete one; what was taken of the version after it is remembered, so
that its frames are not taken twice.

Two times are kept with it. A stream is vouched for by any sign that it
continues: what the server holds back while it stalls will still come. When the
history turns out to be gone it will not, and then only news count: a list, or
a version that had not been seen. The end of a silent watch, an accepted resume
and a bookmark of the old version may all come from a server whose etcd is
stalled, and the time at which a trickling frame was made is unknown.
"""

from datetime import datetime

from recorder.intake.state import ResumePoint, StreamState


def compare_versions(ours: str, theirs: str) -> int:
    """Order two versions of one resource: negative, zero or positive.

    Versions that are not decimal numbers have no order; different ones count
    as newer, so that nothing is dropped.
    """
    if ours == theirs:
        return 0
    if ours.isdecimal() and theirs.isdecimal():
        if len(ours) != len(theirs):
            return -1 if len(ours) < len(theirs) else 1
        return -1 if ours < theirs else 1
    return 1


def advance(point: ResumePoint, version: str, key: str) -> bool:
    """Note a frame; return whether it is new.

    Args:
        point: moved in place.
        version: of the frame; an empty one moves nothing and is new.
        key: names the object, and whether this frame deletes it.
    """
    if not version:
        return True
    if version != point.pending:
        if point.pending is not None:
            point.completed = point.pending
        point.pending = version
        point.seen = {key}
        return True
    if key in point.seen:
        return False
    point.seen.add(key)
    return True


def is_lower(version: str, than: str | None) -> bool:
    """Return whether a version comes before another, if there is one."""
    return than is not None and compare_versions(version, than) < 0


def is_half_read(point: ResumePoint) -> bool:
    """Return whether more of the past was entered than the open gap covers.

    What was read before the start of the gap may have holes, so that only a
    list can end it.
    """
    gap = point.gap
    return (
        gap is not None
        and gap.resource_version is not None
        and point.completed is not None
        and compare_versions(point.completed, gap.resource_version) > 0
    )


def complete(point: ResumePoint, version: str) -> None:
    """Note that everything up to a version is taken."""
    point.completed = point.pending = version
    point.seen = set()


def marked(point: ResumePoint, version: str) -> None:
    """Note a bookmark: everything up to a version is taken.

    A server that is behind the one that we watched before may send one below
    what was taken already, which then comes again and is not new.
    """
    if point.pending is None or compare_versions(version, point.pending) >= 0:
        complete(point, version)
    elif compare_versions(version, point.completed or "0") > 0:
        point.completed = version


def vouch(point: ResumePoint, at: datetime, state: StreamState) -> None:
    """Note a proof that nothing was missed until now."""
    if point.vouched_until is None or point.vouched_until < at:
        point.vouched_until = at
    point.state = state


def settle(point: ResumePoint, at: datetime) -> None:
    """Note that nothing is missing up to a time, whatever comes."""
    if point.settled_until is None or point.settled_until < at:
        point.settled_until = at
