"""The log of slurmctld, followed: what only it says of jobs.

It names what preempted a job, and who held or released one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

READ_MAX: Final = 4 << 20
"""Bytes that are read of the log with each poll."""

PREEMPTED: Final = re.compile(
    rb"preempted JobId=(\d+)\S* has been \w+ to reclaim resources for"
    rb" JobId=(\d+)"
)
HELD: Final = re.compile(rb"hold on JobId=(\d+)\S* by uid (\d+)")


def preemptors(lines: bytes) -> Iterator[tuple[int, str]]:
    """Yield the jobs that lines call preempted, each with its preemptor."""
    for found in PREEMPTED.finditer(lines):
        yield int(found[1]), found[2].decode()


def holders(lines: bytes) -> Iterator[tuple[int, str]]:
    """Yield the jobs that lines call held or released, each with by whom."""
    for found in HELD.finditer(lines):
        yield int(found[1]), f"uid {found[2].decode()}"


class LogFollower:
    """Reads what was added to a file, through its rotation."""

    def __init__(self, path: Path) -> None:
        """Begin at the end of the file as it is."""
        self._path = path
        self._file = 0
        self._offset = 0
        try:
            found = path.stat()
            self._file, self._offset = found.st_ino, found.st_size
        except OSError:
            pass

    def read(self) -> bytes:
        """Return the whole lines that were added; none if it is not there."""
        try:
            with self._path.open("rb") as stream:
                found = self._path.stat()
                if found.st_ino != self._file or found.st_size < self._offset:
                    self._file, self._offset = found.st_ino, 0
                stream.seek(self._offset)
                added = stream.read(READ_MAX)
        except OSError:
            return b""
        whole, _, rest = added.rpartition(b"\n")
        self._offset += len(added) - len(rest)
        return whole
