"""The rule by which a stream's resume point moves.

A resource version is not unique per frame: when the lease of a batch of
Events expires, all of them are deleted in one revision. So a version is
complete only when a later one, or a bookmark, has been seen, and a watch
resumes from the last complete one; what was taken of the version after it is
remembered, so that its frames are not taken twice.

A version carries no time: that a frame came does not say that no other is on
its way. A server that stalls, a slow line, and a log that makes us wait hold
frames back and give the oldest first. So where that may be, behind a loss or
a silence, a frame does not prove yet that it was all there was.
"""

from datetime import datetime, timedelta

from recorder.intake.state import ResumePoint, StreamState

__all__ = [
    "advance",
    "came",
    "compare_versions",
    "complete",
    "settle",
    "vouch",
]

CATCHING_UP = timedelta(seconds=75)
"""How long frames are in doubt; and a silence that puts them there, since of
what is healthy a bookmark comes each minute."""


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
    """Take note of a frame; tell whether it is new.

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


def complete(point: ResumePoint, version: str) -> None:
    """Take note that everything up to a version is taken."""
    point.completed = point.pending = version
    point.seen = set()


def vouch(point: ResumePoint, at: datetime, state: StreamState) -> None:
    """Take note of a proof that nothing was missed until now."""
    if point.vouched_until is None or point.vouched_until < at:
        point.vouched_until = at
    point.state = state


def settle(point: ResumePoint, at: datetime) -> None:
    """Take note that nothing is missing up to a time, come what may."""
    if point.settled_until is None or point.settled_until < at:
        point.settled_until = at
    point.doubted_since = None


def came(point: ResumePoint, at: datetime) -> None:
    """Take note of a frame, which is a proof that stands unless in doubt."""
    heard = [t for t in (point.settled_until, point.last_frame_at) if t]
    point.last_frame_at = at
    if heard and at - max(heard) > CATCHING_UP:
        point.doubted_since = at
    doubted = point.doubted_since
    if doubted is None or at - doubted > CATCHING_UP:
        settle(point, at)
