"""Parts of a document that stay as they are written until they are read.

Labels, capacities and what a Pod asks for are in every version of an object,
mostly as they were in the one before. A hash of the written form
distinguishes them: of 64 bits, valid in this process only.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from recorder.facts.classify.shapes import (
    Commanded,
    Condition,
    Container,
    Managed,
    NodeInfo,
    Owner,
)

_Texts = dict[str, str]


def mark_of(*parts: object) -> int:
    """Return a hash that distinguishes parts as they are written."""
    return hash(parts)


def _reader(type_: Any) -> Callable[[bytes, str], Any]:
    decode = msgspec.json.Decoder(type_ | None).decode

    def read(written: bytes, where: str) -> Any:
        if not written:
            return None
        try:
            return decode(written)
        except msgspec.ValidationError as exc:
            raise ValueError(_placed(str(exc), where)) from None

    return read


read_texts: Callable[[bytes, str], _Texts | None] = _reader(_Texts)
"""Read labels, annotations or amounts; ``where`` is their path.

Raises, as all of these do:
    ValueError: they are built otherwise.
"""

read_owners: Callable[[bytes, str], list[Owner] | None] = _reader(list[Owner])
read_node_info: Callable[[bytes, str], NodeInfo | None] = _reader(NodeInfo)
read_containers: Callable[[bytes, str], list[Container] | None] = _reader(
    list[Container]
)
read_commands: Callable[[bytes, str], list[Commanded] | None] = _reader(
    list[Commanded]
)
read_managed: Callable[[bytes, str], Managed | None] = _reader(Managed)

_read_conditions = msgspec.json.Decoder(list[Condition]).decode
_read_any = msgspec.json.Decoder(list[Any]).decode


def read_any_conditions(written: bytes) -> list[Condition]:
    """Read the conditions of a kind that may have none.

    What has another shape counts as absent.
    """
    if not written:
        return []
    try:
        return _read_conditions(written)
    except msgspec.ValidationError:
        return _readable(written)


def _readable(written: bytes) -> list[Condition]:
    found = []
    try:
        for one in _read_any(written):
            try:
                found.append(msgspec.convert(one, Condition))
            except msgspec.ValidationError:
                continue
    except msgspec.ValidationError:
        return []
    return found


def _placed(text: str, where: str) -> str:
    if "`$" in text:
        return text.replace("`$", f"`$.{where}", 1)
    return f"{text} - at `$.{where}`"
