"""The rule by which a stream's resume point moves.

A resource version is not unique per frame: when the lease of a batch of
Events expires, all of them are deleted in one revision. So a version is
complete only when a later one, or a bookmark, has been seen, and a watch
resumes from the last complete one; what was taken of the version after it is
remembered, so that its frames are not taken twice.
"""

from datetime import datetime

from recorder.intake.state import ResumePoint, StreamState

__all__ = ["advance", "complete", "compare_versions", "vouch"]


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
