"""Cursors: places in a log, opaque to clients.

A cursor is a place between things that are never moved, not a count of them,
so it means the same while the log grows and after its beginning was pruned.
It is of one log, and refused by every other.
"""

import base64
import binascii
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from api.errors import CursorError, ExpiredCursorError
from recorder.wiring.reading import LogReading

__all__ = ["INDEX_MAX", "Cursor", "MomentCursor", "check_kept"]

NUMBERS = re.compile(r"(\d{1,9}):(\d{1,18}):(\d{1,18})")
PLACE = "v1:"
MOMENT = "m1:"
SIZE_MAX = 80
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
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
        return _encoded(PLACE, self.log, self.position, self.index)

    @classmethod
    def parse(cls, text: str, *, log: int, size: int) -> Self:
        """Read one that this log gave.

        Raises:
            CursorError: it is none, of another log, or of a place that this
                log has not come to.
        """
        cursor = cls(*_numbers(PLACE, text))
        _check(cursor.log, cursor.position, log=log, size=size)
        return cursor


@dataclass(frozen=True, slots=True)
class MomentCursor:
    """A place behind something that is in order of time."""

    log: int
    microseconds: int
    position: int

    @classmethod
    def at(cls, log: int, moment: datetime, position: int) -> Self:
        """Make one."""
        return cls(log, (moment - EPOCH) // MICROSECOND, position)

    @property
    def place(self) -> tuple[datetime, int]:
        """What it lies behind."""
        return EPOCH + self.microseconds * MICROSECOND, self.position

    def __str__(self) -> str:
        """Give the opaque form."""
        return _encoded(MOMENT, self.log, self.microseconds, self.position)

    @classmethod
    def parse(cls, text: str, *, log: int, size: int) -> Self:
        """Read one that this log gave.

        Raises:
            CursorError: it is none, of another log, or of a place that this
                log has not come to.
        """
        cursor = cls(*_numbers(MOMENT, text))
        _check(cursor.log, cursor.position, log=log, size=size)
        return cursor


def _check(of_log: int, position: int, *, log: int, size: int) -> None:
    if of_log != log:
        msg = f"the cursor is of log {of_log}, and log {log} is asked"
        raise CursorError(msg)
    if position > size:
        msg = (
            f"the cursor is of position {position}, and log {log} ends at"
            f" {size}: was the database replaced?"
        )
        raise CursorError(msg)


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


def _encoded(form: str, *numbers: int) -> str:
    text = form + ":".join(map(str, numbers))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _numbers(form: str, text: str) -> tuple[int, int, int]:
    found = None
    if len(text) <= SIZE_MAX and text.isascii():
        with suppress(binascii.Error, ValueError):
            padded = text + "=" * (-len(text) % 4)
            decoded = base64.urlsafe_b64decode(padded).decode()
            if decoded.startswith(form):
                found = NUMBERS.fullmatch(decoded.removeprefix(form))
    if found is None:
        msg = f'"{text[:SIZE_MAX]}" is no cursor of this: take one as it is'
        raise CursorError(msg)
    log, first, second = map(int, found.groups())
    return log, first, second
