"""A wall clock that a schedule sets, shared with processes by one file.

The file holds how far it is from the machine's clock, in seconds. It is
mapped into memory, so that reading it costs a recorder nothing.
"""

import mmap
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

__all__ = ["MovingClock"]

NUMBER = struct.Struct("d")


class MovingClock:
    """The machine's clock and an offset."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(NUMBER.pack(0.0))
        with file.open("r+b") as opened:
            self._shared = mmap.mmap(opened.fileno(), NUMBER.size)

    @property
    def offset(self) -> timedelta:
        """How far it is ahead."""
        return timedelta(seconds=NUMBER.unpack_from(self._shared)[0])

    def set_ahead(self, offset: timedelta) -> None:
        """Let it jump."""
        NUMBER.pack_into(self._shared, 0, offset.total_seconds())

    def now(self) -> datetime:
        """Return the time it shows."""
        return datetime.now(UTC) + self.offset
