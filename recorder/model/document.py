"""The base of all documents, and their JSON."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import orjson
from msgspec import UNSET

from recorder.model.moment import written
from recorder.model.reference import EntryName, ObjectIdentity

if TYPE_CHECKING:
    Held = TypeVar("Held")
    Private = Annotated[Held, "left out of schemas"]
else:

    class Private:
        """The type of a field that no schema of answers describes."""

        def __class_getitem__(cls, _: object) -> type[object]:
            return object


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer; its fields are written in their order.

    JSON leaves out a field that is ``UNSET``, and one whose written name
    begins with an underscore: only the program reads that.
    """


def json_bytes(document: object, *, indented: bool = False) -> bytes:
    """Return JSON, on one line unless it is indented for people."""
    option = orjson.OPT_PASSTHROUGH_DATETIME
    if indented:
        option |= orjson.OPT_INDENT_2
    return orjson.dumps(document, default=_default, option=option)


def plain(document: object) -> Any:
    """Return documents, and what holds them, as dictionaries and lists."""
    return orjson.loads(json_bytes(document))


def _default(value: object) -> object:
    if isinstance(value, datetime):
        return written(value)
    if isinstance(value, Document):
        return _fields(value)
    if isinstance(value, EntryName):
        return str(value)
    if isinstance(value, ObjectIdentity):
        return value._asdict()
    return msgspec.to_builtins(value, builtin_types=(datetime,))


def _fields(document: Document) -> Mapping[str, object]:
    # Not what msgspec makes of it, which knows no JSON that is written yet.
    return {
        name: value
        for name, field in _names(type(document))
        if (value := getattr(document, field)) is not UNSET
    }


@cache
def _names(kind: type[Document]) -> Sequence[tuple[str, str]]:
    pairs = zip(
        kind.__struct_encode_fields__, kind.__struct_fields__, strict=True
    )
    return [(name, field) for name, field in pairs if not is_left_out(name)]


def is_left_out(name: str) -> bool:
    """Return whether JSON leaves out a field with this written name."""
    return name.startswith("_")
