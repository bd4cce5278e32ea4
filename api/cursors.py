"""Cursors: places in a log, opaque to clients.

A cursor is a place between things that are never moved, not a count of them,
so it means the same while the log grows and after its beginning was pruned.
It is of one log, and refused by every other.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Self

from api.errors import CursorError, ExpiredCursorError
from recorder.wiring.reading import LogReading

__all__ = ["INDEX_MAX", "Cursor", "check_kept"]

FORM = re.compile(r"v1:(\d{1,9}):(\d{1,18}):(\d{1,5})")
SIZE_MAX = 60
INDEX_MAX = 1 << 14
"""Beyond every index within an entry: a cursor with it lies behind it."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A place behind something of a log."""

    log: int
    position: int
    index: int = INDEX_MAX

    def __str__(self) -> str:
        """Give the opaque form."""
        text = f"v1:{self.log}:{self.position}:{self.index}"
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, *, log: int, size: int) -> Self:
        """Read one that this log gave.

        Raises:
            CursorError: it is none, of another log, or of a place that this
                log has not come to.
        """
        found = _numbers(text)
        if found is None:
            msg = f'"{text[:SIZE_MAX]}" is no cursor: take it from an answer'
            raise CursorError(msg)
        cursor = cls(*found)
        if cursor.log != log:
            msg = f"the cursor is of log {cursor.log}, and log {log} is asked"
            raise CursorError(msg)
        if cursor.position > size:
            msg = (
                f"the cursor is of position {cursor.position}, and log {log}"
                f" ends at {size}: was the database replaced?"
            )
            raise CursorError(msg)
        return cursor


async def check_kept(reading: LogReading, after: Cursor) -> None:
    """See that what lies behind a cursor is still there.

    Raises:
        ExpiredCursorError: something of it was pruned.
    """
    first = await reading.first_position()
    if after.position + 1 < first:
        msg = (
            "what lies behind the cursor was pruned up to position"
            f" {first - 1}: begin anew without it"
        )
        raise ExpiredCursorError(msg)


def _numbers(text: str) -> tuple[int, int, int] | None:
    if len(text) > SIZE_MAX or not text.isascii():
        return None
    try:
        padded = text + "=" * (-len(text) % 4)
        decoded = base64.urlsafe_b64decode(padded).decode()
    except (binascii.Error, ValueError):
        return None
    found = FORM.fullmatch(decoded)
    if found is None:
        return None
    log, position, index = map(int, found.groups())
    return log, position, index
