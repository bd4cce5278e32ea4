"""Which frames are late: others may have been written before they arrived.

A version carries no time, and frames arrive oldest first. So the arrival of a
frame proves completeness only if no other frame was waiting behind it. That is
not certain if the server already had a newer version when we reconnected, nor
on a connection so slow that a frame trickles in. What a server holds back on
an open connection cannot be seen here.
"""

from collections.abc import Sequence
from dataclasses import replace

from recorder.sources.watch.frames import Frame, Refused
from recorder.sources.watch.versions import is_lower


def behind(
    portion: Sequence[Frame | Refused], head: str | None
) -> tuple[Sequence[Frame | Refused], str | None]:
    """Mark the frames below the version that was newest when we reconnected.

    Also returns that version again while it is still ahead.
    """
    marked: list[Frame | Refused] = []
    for frame in portion if head is not None else ():
        if not isinstance(frame, Frame) or head is None:
            marked.append(frame)
        elif is_lower(frame.version, head):
            marked.append(replace(frame, late=True))
        else:
            marked.append(frame)
            head = None
    return marked or portion, head


class Pace:
    """Whether the connection delivers frames as they are written."""

    def __init__(self, trickle: float, drained: float) -> None:
        self._trickle = trickle
        self._drained = drained
        self._came: float | None = None
        self._begun: float | None = None
        """When the unfinished frame began."""
        self._slow = False

    def came(self, now: float) -> bool:
        """Note received bytes; return whether more may be waiting."""
        if self._begun is not None:
            self._slow |= now - self._begun > self._trickle
        elif self._came is not None and now - self._came >= self._drained:
            self._slow = False
        self._came = now
        return self._slow

    def left(self, partial: int, *, whole: bool) -> None:
        """Note the unfinished rest, and whether a frame was completed."""
        if not partial:
            self._begun = None
        elif whole or self._begun is None:
            self._begun = self._came
