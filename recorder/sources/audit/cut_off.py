"""Rotated audit logs that cannot be read to their end, and what is lost.

A file that is being compressed is incomplete for a while, so it is waited for
while it changes, and some time after. This module does not read records, nor
put the loss.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recorder.facts.classify import record_made
from recorder.model.observation import RecordsLost
from recorder.sources.audit.lines import UnreadableError, head_of, read_lines

WAIT_SECONDS = 60.0
"""For a file that does not change. A compressing program writes all the time.
"""

SETTLED_SECONDS = 2.0
"""Without a change before it is read again."""

CUT_OFF = "a rotated audit log could not be read to its end"


@dataclass(slots=True)
class _Waited:
    state: object
    since: float
    why: UnreadableError
    is_tried: bool = True
    """Whether it was read again since it changed."""


class Patience:
    """Decides how long to wait for files that could not be read."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._files: dict[Path, _Waited] = {}

    def waits_for(self, path: Path) -> UnreadableError | None:
        """Return why a file need not be read again yet; None if it may be.

        A large one is not read again every time, but when it has changed, and
        at the end of the wait.

        Raises:
            FileNotFoundError: it does not exist any more.
        """
        waited = self._files.get(path)
        if waited is None:
            return None
        state, now = _state(path), time.monotonic()
        if waited.state != state:
            waited.state, waited.since, waited.is_tried = state, now, False
            return waited.why
        lasts = now - waited.since
        if lasts >= self._seconds:
            return None
        if not waited.is_tried and lasts >= SETTLED_SECONDS:
            waited.is_tried = True
            return None
        return waited.why

    def is_over(self, path: Path, why: UnreadableError) -> bool:
        """Note a failure; return whether the wait is over.

        Raises:
            FileNotFoundError: the file does not exist any more.
        """
        now = time.monotonic()
        waited = self._files.get(path)
        if waited is None:
            waited = _Waited(_state(path), now, why)
            self._files[path] = waited
        waited.why = why
        return now - waited.since >= self._seconds

    def forget(self) -> None:
        """Forget all files."""
        self._files.clear()


def _state(path: Path) -> object:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def loss_of(
    stream: str, path: Path, why: UnreadableError, before: Sequence[Path]
) -> RecordsLost:
    """Return the loss of the part of a file that cannot be read."""
    at = datetime.now(UTC)
    read = (_last_moment(one) for one in (path, *reversed(before)))
    since = next((moment for moment in read if moment is not None), None)
    return RecordsLost(
        observed_at=at,
        stream=stream,
        reason=CUT_OFF,
        since=None if since is None else min(since, at),
        possible=f"audit records behind what could be read: {why}",
    )


def _last_moment(path: Path) -> datetime | None:
    """Return the time of the last record that can be read."""
    last = b""
    with suppress(FileNotFoundError, UnreadableError):
        for line in read_lines(path, head_of(path), 0):
            last = line.text
    return record_made(last)
