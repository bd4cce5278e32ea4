"""Cursors of a fleet: a place in each of its logs, opaque to clients.

What several logs tell is merged by time, and their clocks and their clusters
come and go. So a cursor does not say when, it says how far each log was told:
one that was away is told from where it was left, whenever it is back, and
nothing of it is left out or told twice.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import msgspec

from api.errors import CursorError

__all__ = ["BEGIN", "FleetCursor", "Kind", "Spot"]

Kind = Literal["incidents", "entries"]

Spot = tuple[int, int]
"""A place behind something of a log; its parts are compared one by one."""

BEGIN: Spot = (0, 0)

FORM = "c1:"
SIZE_MAX = 64 << 10
NUMBER_MAX = 1 << 62


class _Document(msgspec.Struct, array_like=True, frozen=True):
    kind: str
    own: str
    spots: dict[str, Spot]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCursor:
    """A place behind an item of one log, and how far the others were told."""

    kind: Kind
    own: str
    """The log of the item, as it is written."""

    spots: Mapping[str, Spot]

    def __str__(self) -> str:
        """Return the opaque form."""
        document = _Document(self.kind, self.own, dict(self.spots))
        text = FORM.encode() + msgspec.json.encode(document)
        return base64.urlsafe_b64encode(text).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, kind: Kind) -> Self:
        """Read one that a fleet gave.

        Raises:
            CursorError: it is none, or of something else.
        """
        if len(text) > SIZE_MAX:
            raise _none(text)
        try:
            padded = text + "=" * (-len(text) % 4)
            form, colon, rest = (
                base64.urlsafe_b64decode(padded).decode().partition(":")
            )
            found = msgspec.json.decode(rest, type=_Document)
        except (ValueError, binascii.Error, msgspec.MsgspecError) as exc:
            raise _none(text) from exc
        numbers = [number for spot in found.spots.values() for number in spot]
        if (
            form + colon != FORM
            or found.kind != kind
            or found.own not in found.spots
            or not all(0 <= number < NUMBER_MAX for number in numbers)
        ):
            raise _none(text)
        return cls(kind=kind, own=found.own, spots=found.spots)


def _none(text: str) -> CursorError:
    msg = (
        f'"{text[:60]}" is not a cursor of several clusters: pass it'
        " unchanged, with the same `clusters`"
    )
    return CursorError(msg)
