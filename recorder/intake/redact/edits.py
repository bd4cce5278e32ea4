"""Edits: which bytes of a document are replaced."""

from collections.abc import Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Bytes ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: bytes


def splice(raw: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits; the same object when there are none.

    Spans are of whole JSON values, so that of two that overlap one contains
    the other; that one wins, and of two for the same span the later.
    """
    if len(edits) == 1:
        start, end, text = edits[0]
        return b"".join((raw[:start], text, raw[end:]))
    by_span = {(edit.start, edit.end): edit for edit in edits}
    pieces: list[bytes] = []
    place = 0
    for start, end, text in sorted(by_span.values(), key=_widest_first):
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
