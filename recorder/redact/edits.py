"""Edits: which bytes of a document give way to which others."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Edit", "splice"]


class Edit(NamedTuple):
    """Bytes ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: bytes


def splice(raw: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits; the same object when there are none.

    Of two that overlap, the one that begins first and reaches further wins:
    spans are of whole JSON values, so that it contains the other.
    """
    pieces: list[bytes] = []
    place = 0
    for start, end, text in sorted(edits, key=_widest_first):
        if start < place:
            continue
        pieces += (raw[place:start], text)
        place = end
    if not pieces:
        return raw
    pieces.append(raw[place:])
    return b"".join(pieces)


def _widest_first(edit: Edit) -> tuple[int, int]:
    return edit.start, -edit.end
