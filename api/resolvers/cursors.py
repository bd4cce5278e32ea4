"""Cursors: places in one log, or in each log of a fleet, opaque to clients.

A cursor is a place between items that never move, not a count of them, so it
remains valid while logs grow and after their beginning was pruned. It holds
how far each log was read, not when: the clocks of clusters differ, and a
cluster that was away is read from where reading stopped when it is back.

After a whole entry a cursor is a place in the log. Between the facts of an
entry it is a place in one derivation, which it names: derived again, an entry
may have other facts in another order.

The cursor of one log is written as numbers, and that of a fleet, even of one
log, as a document: neither is accepted in place of the other.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Self

import msgspec

from api.errors import CursorError, ExpiredCursorError
from recorder.answers.job_order import (
    NAME_BYTES,
    name_from_rank,
    rank_from_name,
)
from recorder.answers.ports import Reading

Spot = tuple[int, int]
"""A place after an item of a log; compared part by part."""

BEGIN: Spot = (0, 0)

INDEX_MAX = 1 << 14
"""Beyond every index within an entry: a spot after the whole entry."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_MAX = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
NUMBER_MAX = 1 << 62
NAME_MAX = 1 << 8 * NAME_BYTES
SIZE_MAX = 64 << 10
SHOWN_MAX = 110

CLUSTER = "@"
"""Precedes the cluster of a log, if several databases are served."""
PLACE, FACT, FLEET = "v1", "f1", "c1"
BY_NAME = "n1"
NUMBERS = re.compile(
    rf"[a-z]1(?<!{FACT})(?<!{BY_NAME})(?::\d{{1,18}}){{3}}"
    rf"|{FACT}(?::\d{{1,18}}){{4}}"
    rf"|{BY_NAME}:\d{{1,18}}:(?:[0-9a-f]{{2}}){{0,{NAME_BYTES}}}:\d{{1,18}}"
)


class Order(StrEnum):
    """The order of a list, which determines the parts of a spot."""

    ENTRIES = "entries"
    """The order of the log: a position, and an index within the entry."""

    INCIDENTS = "incidents"
    """The order of time: microseconds, and a position."""

    BEGAN = "began"
    LAST_ENDING = "last-ending"
    GPU_HOURS_LOST = "gpu-hours-lost"
    GPUS = "gpus"
    """An order of workloads: its sort key as a number, and a position."""

    NAME = "name"
    """The same; the name is written in hexadecimal digits."""


FORMS = {
    PLACE: Order.ENTRIES,
    FACT: Order.ENTRIES,
    "m1": Order.INCIDENTS,
    "b1": Order.BEGAN,
    "e1": Order.LAST_ENDING,
    "h1": Order.GPU_HOURS_LOST,
    "g1": Order.GPUS,
    BY_NAME: Order.NAME,
}
"""How the cursor of one log begins."""

MOST = {Order.INCIDENTS: MICROSECONDS_MAX, Order.NAME: NAME_MAX}
"""The first part of a spot, at most."""

FORM_OF = {order: form for form, order in FORMS.items()}


class _Fleet(msgspec.Struct, array_like=True, frozen=True):
    order: Order
    log: str
    spots: Mapping[str, tuple[int | str, int]]
    """In the order of entries: zero, and the position of the last one read.
    In that of names: digits, and a position."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place after an item, with how far each other log was read."""

    order: Order
    log: str
    """The log of the item, in its written form."""

    spots: Mapping[str, Spot]
    """The spots by log."""

    derivation: int | None = None
    """The derivation, for a place between the facts of an entry."""

    fleet: bool = False
    """Whether it is of several clusters."""

    @classmethod
    def behind(cls, log: int, position: int) -> Self:
        """Return the cursor after an entry of one log."""
        name = str(log)
        return cls(Order.ENTRIES, name, {name: (position, INDEX_MAX)})

    def __str__(self) -> str:
        """Return the opaque form."""
        if self.fleet:
            spots = {
                log: (0, read_to(spot))
                if self.order is Order.ENTRIES
                else (_written(self.order, spot[0]), spot[1])
                for log, spot in self.spots.items()
            }
            document = msgspec.json.encode(_Fleet(self.order, self.log, spots))
            return _opaque(f"{FLEET}:{document.decode()}")
        cluster, colon, number = self.log.rpartition(":")
        place, second = self.spots[self.log]
        first = _written(self.order, place)
        form, more = FORM_OF[self.order], ""
        if self.order is Order.ENTRIES:
            form = PLACE
            if second < INDEX_MAX:
                form, more = FACT, f":{self.derivation or 0}"
        at = CLUSTER + cluster if colon else ""
        return _opaque(f"{form}:{number}:{first}:{second}{more}{at}")

    @classmethod
    def parse(cls, text: str, order: Order, *, fleet: bool = False) -> Self:
        """Parse a cursor of a log or of a fleet.

        Raises:
            CursorError: it is malformed, or of another kind of list.
        """
        try:
            if len(text) > SIZE_MAX:
                raise _invalid(text, fleet=fleet)
            padded = text + "=" * (-len(text) % 4)
            decoded = base64.urlsafe_b64decode(padded).decode()
            read = cls._of_fleet if fleet else cls._of_log
            found = read(decoded)
        except (LookupError, ValueError, msgspec.MsgspecError) as exc:
            raise _invalid(text, fleet=fleet) from exc
        firsts, seconds = zip(*found.spots.values(), strict=True)
        most = MOST.get(order, NUMBER_MAX)
        if (
            found.order is not order
            or not 0 <= min(firsts) <= max(firsts) <= most
            or not 0 <= min(seconds) <= max(seconds) <= NUMBER_MAX
        ):
            raise _invalid(text, fleet=fleet)
        return found

    @classmethod
    def _of_log(cls, text: str) -> Self:
        numbers, at, cluster = text.partition(CLUSTER)
        if not NUMBERS.fullmatch(numbers):
            raise ValueError(numbers)
        form, log, *places = numbers.split(":")
        order = FORMS[form]
        by_name = order is Order.NAME
        first = _read(order, places[0] if by_name else int(places[0]))
        second, *last = map(int, places[1:])
        name = f"{cluster}:{int(log)}" if at else f"{int(log)}"
        derivation = last[0] if last else None
        return cls(order, name, {name: (first, second)}, derivation)

    @classmethod
    def _of_fleet(cls, text: str) -> Self:
        form, _, document = text.partition(":")
        found = msgspec.json.decode(document, type=_Fleet)
        if form != FLEET or found.log not in found.spots:
            raise ValueError(form)
        spots: Mapping[str, Spot] = {
            log: (_read(found.order, first), second)
            for log, (first, second) in found.spots.items()
        }
        if found.order is Order.ENTRIES:
            spots = {
                log: (position, INDEX_MAX) if position else BEGIN
                for log, (_, position) in spots.items()
            }
        return cls(found.order, found.log, spots, fleet=True)

    def check(self, reading: Reading) -> None:
        """Check that a log can be read from this place on.

        Raises:
            CursorError: it is of another log, or beyond the end of the log.
            ExpiredCursorError: its facts were replaced by a later derivation.
        """
        log = reading.log
        spot = self.spots.get(str(log.id))
        if spot is None:
            if self.fleet:
                # The log was away or did not exist.
                return
            msg = f"the cursor belongs to log {self.log}, not to log {log.id}"
            raise CursorError(msg)
        position, index = spot
        if self.order is not Order.ENTRIES:
            position, index = spot[1], INDEX_MAX
        if position > log.size:
            # A reader of a part must not learn its size.
            end = "before it" if log.is_part else f"at {log.size}"
            msg = (
                f"the cursor is at position {position}, but log {log.id} ends"
                f" {end}: was the database replaced?"
            )
            raise CursorError(msg)
        if index == INDEX_MAX or self.fleet:
            return
        # Cursors that name no derivation are older than those that do.
        if self.derivation is None or self.derivation != log.derivation:
            msg = (
                f"the facts of log {self.log} were rebuilt since the"
                " cursor was given: begin again without it"
            )
            raise ExpiredCursorError(msg)


def _written(order: Order, first: int) -> int | str:
    """Return the first part of a spot as a cursor has it."""
    return name_from_rank(first).hex() if order is Order.NAME else first


def _read(order: Order, first: int | str) -> int:
    """Return the first part of a spot.

    Raises:
        ValueError: it is not of this order.
    """
    if isinstance(first, str) is not (order is Order.NAME):
        raise ValueError(first)
    if isinstance(first, int):
        return first
    return rank_from_name(bytes.fromhex(first))


def read_to(spot: Spot) -> int:
    """Return the position up to which whole entries precede a spot."""
    position, index = spot
    return max(position - (index < INDEX_MAX), 0)


def spot_at(at: datetime, position: int) -> Spot:
    """Return the spot of something that is in order of time."""
    return (at - EPOCH) // MICROSECOND, position


async def check_kept(reading: Reading, after: Spot) -> None:
    """Check that the entries after a spot still exist.

    Raises:
        ExpiredCursorError: something of it was pruned.
    """
    first = await reading.first_position()
    if read_to(after) + 1 < first:
        msg = (
            "entries after the cursor were pruned up to position"
            f" {first - 1}: begin again without it"
        )
        raise ExpiredCursorError(msg)


def _opaque(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _invalid(text: str, *, fleet: bool) -> CursorError:
    shown = text[:SHOWN_MAX]
    msg = f'"{shown}" is not a valid cursor: pass it unchanged'
    if fleet:
        msg = (
            f'"{shown}" is not a cursor of several clusters: pass it'
            " unchanged, with the same `clusters`"
        )
    return CursorError(msg)
