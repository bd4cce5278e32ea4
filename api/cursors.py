"""Cursors: places in a log, opaque to clients.

A cursor is a place between things that are never moved, not a count of them,
so it means the same while the log grows and after its beginning was pruned.
It is of one log, and refused by every other.

Behind a whole entry it is a place in the log alone. Among the facts of an
entry it is a place in one derivation, which it names: derived anew, an entry
may have other facts in another order, and those of a former derivation are
followed by none of the current one.
"""

import base64
import binascii
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from api.errors import CursorError, ExpiredCursorError
from recorder.answers.ports import Reading
from recorder.coverage.ports import Log
from recorder.model.reference import CLUSTER_NAME_MAX, LogNumber

__all__ = [
    "EPOCH",
    "INDEX_MAX",
    "MICROSECOND",
    "Cursor",
    "MomentCursor",
    "check_kept",
]

NUMBERS = re.compile(r"\d{1,18}(?::\d{1,18}){2,3}")
PLACE = "v1"
FACT = "f1"
MOMENT = "m1"
LENGTHS = {PLACE: 3, FACT: 4, MOMENT: 3}
"""How many numbers each form has."""

SIZE_MAX = 110
CLUSTER = "@"
"""Before the cluster of a log, where several databases are served."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_MAX = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
INDEX_MAX = 1 << 14
"""Beyond every index within an entry: a cursor with it lies behind it."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place behind something of a log."""

    log: int
    position: int
    index: int = INDEX_MAX
    derivation: int | None = None
    """Of a place among the facts of an entry: whose they are."""

    def __str__(self) -> str:
        """Return the opaque form."""
        numbers = self.log, self.position, self.index
        if self.index == INDEX_MAX:
            return _encoded(PLACE, *numbers)
        return _encoded(FACT, *numbers, self.derivation or 0)

    @classmethod
    def parse(cls, text: str, reading: Reading) -> Self:
        """Read one that a log gave, as it stands in a reading.

        Raises:
            CursorError: it is none, of another log, or of a place that the
                log has not come to.
            ExpiredCursorError: it is of facts that answers are no longer
                made from.
        """
        cursor = cls(*_numbers(text, PLACE, FACT))
        log = reading.log
        _check_place(cursor.log, cursor.position, log)
        if cursor.index < INDEX_MAX:
            _check_current(cursor, reading)
        return cursor


def _check_current(cursor: Cursor, reading: Reading) -> None:
    # Those of before derivations were named in them are of nobody knows
    # which.
    derivation = reading.log.derivation
    if cursor.derivation is None or cursor.derivation != derivation:
        msg = (
            f"the facts of log {cursor.log} were rebuilt since the"
            " cursor was given: begin again without it"
        )
        raise ExpiredCursorError(msg)


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
        """Return the opaque form."""
        return _encoded(MOMENT, self.log, self.microseconds, self.position)

    @classmethod
    def parse(cls, text: str, log: Log) -> Self:
        """Read one that this log gave.

        Raises:
            CursorError: it is none, of another log, or of a place that this
                log has not come to.
        """
        cursor = cls(*_numbers(text, MOMENT))
        if cursor.microseconds > MICROSECONDS_MAX:
            raise _no_cursor(text)
        _check_place(cursor.log, cursor.position, log)
        return cursor


def _check_place(of_log: int, position: int, log: Log) -> None:
    if of_log != log.id:
        msg = f"the cursor belongs to log {of_log}, not to log {log.id}"
        raise CursorError(msg)
    if position > log.size:
        # How large it is is not for who reads a part.
        end = "before it" if log.is_part else f"at {log.size}"
        msg = (
            f"the cursor is at position {position}, but log {log.id} ends"
            f" {end}: was the database replaced?"
        )
        raise CursorError(msg)


async def check_kept(reading: Reading, after: Cursor) -> None:
    """Check that the entries after a cursor still exist.

    Raises:
        ExpiredCursorError: something of it was pruned.
    """
    first = await reading.first_position()
    if after.position + 1 < first:
        msg = (
            "entries after the cursor were pruned up to position"
            f" {first - 1}: begin again without it"
        )
        raise ExpiredCursorError(msg)


def _encoded(form: str, log: int, *numbers: int) -> str:
    text = f"{form}:{':'.join(f'{one:d}' for one in (log, *numbers))}"
    if isinstance(log, LogNumber):
        text += CLUSTER + log.cluster
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _numbers(text: str, *forms: str) -> list[int]:
    """Read the numbers of a cursor that has one of the forms."""
    if len(text) <= SIZE_MAX + 6 * CLUSTER_NAME_MAX and text.isascii():
        with suppress(binascii.Error, ValueError):
            padded = text + "=" * (-len(text) % 4)
            decoded = base64.urlsafe_b64decode(padded).decode()
            form, _, rest = decoded.partition(":")
            rest, at, cluster = rest.partition(CLUSTER)
            numbers = rest.split(":")
            if (
                form in forms
                and len(numbers) == LENGTHS[form]
                and NUMBERS.fullmatch(rest)
            ):
                log, *places = map(int, numbers)
                return [LogNumber(log, cluster) if at else log, *places]
    raise _no_cursor(text)


def _no_cursor(text: str) -> CursorError:
    msg = f'"{text[:SIZE_MAX]}" is not a valid cursor: pass it unchanged'
    return CursorError(msg)
