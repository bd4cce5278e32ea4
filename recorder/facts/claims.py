"""The fact of a claim: what its sender said, bounded, without its meaning.

It follows from the entry alone: what a type means is a rule, which may change
while the log does not.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.model.entry import Draft
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Claimed
from recorder.model.place import Place, PlaceKind

PARTS_MAX: Final = 256
"""Members and items of the data that a fact keeps; the entry has all."""

DEPTH_MAX: Final = 8

INTEGER_MAX: Final = 2**63
"""From here on numbers are kept as text: no reader has to hold more."""


class _Envelope(msgspec.Struct, frozen=True):
    type: str
    source: str
    subject: str | None = None
    data: Any = None


_decode = msgspec.json.Decoder(_Envelope).decode


def claimed(draft: Draft) -> Fact:
    """Return the fact that a claim is.

    Raises:
        ValueError: the document is not a CloudEvent in JSON.
    """
    said = _decode(draft.raw)
    left = iter(range(PARTS_MAX))
    whole = [True]
    data = _bounded(said.data, left, whole, DEPTH_MAX)
    return Fact(
        kind=FactKind.CLAIMED,
        node=_node(said, data),
        object=draft.identity,
        occurred_at=draft.occurred_at,
        detail=Claimed(
            type=said.type[:TEXT_CHARACTERS_MAX],
            source=said.source[:TEXT_CHARACTERS_MAX],
            subject=(said.subject or "")[:TEXT_CHARACTERS_MAX],
            data=data,
            shortened=not whole[0],
        ),
    )


def _node(said: _Envelope, data: Any) -> str | None:
    """Return the node that a claim names: as its subject, else in its data."""
    named = data.get("node") if isinstance(data, dict) else None
    for text in (said.subject, f"{PlaceKind.NODE}/{named}" if named else None):
        place = Place.read(text or "")
        if place is not None and place.kind is PlaceKind.NODE:
            return place.name
    return None


def _bounded(
    value: Any, left: Iterator[int], whole: list[bool], depth: int
) -> Any:
    """Return a value with a bounded number of parts, each of bounded size."""
    match value:
        case dict() | list() if not depth:
            whole[0] = False
            return None
        case dict():
            return {
                name[:TEXT_CHARACTERS_MAX]: _bounded(
                    one, left, whole, depth - 1
                )
                for name, one in value.items()
                if _has_room(left, whole)
            }
        case list():
            return [
                _bounded(one, left, whole, depth - 1)
                for one in value
                if _has_room(left, whole)
            ]
        case str() if len(value) > TEXT_CHARACTERS_MAX:
            whole[0] = False
            return value[:TEXT_CHARACTERS_MAX]
        case int() if abs(value) >= INTEGER_MAX:
            return str(value)
        case _:
            return value


def _has_room(left: Iterator[int], whole: list[bool]) -> bool:
    if next(left, None) is not None:
        return True
    whole[0] = False
    return False
