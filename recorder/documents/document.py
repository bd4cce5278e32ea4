"""What all documents are, and how they are written as JSON."""

from datetime import datetime
from typing import Any

import msgspec
import orjson

from recorder.model.moment import written

__all__ = ["Document", "json_bytes", "plain"]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer; its fields are written in their order."""


def json_bytes(document: Any, *, indented: bool = False) -> bytes:
    """Return JSON, on one line unless it is indented for people."""
    option = orjson.OPT_PASSTHROUGH_DATETIME
    if indented:
        option |= orjson.OPT_INDENT_2
    return orjson.dumps(document, default=_default, option=option)


def plain(document: Any) -> Any:
    """Return documents, and what holds them, as dictionaries and lists."""
    if isinstance(document, Document):
        return orjson.loads(json_bytes(document))
    if isinstance(document, dict):
        return {name: plain(value) for name, value in document.items()}
    if isinstance(document, list):
        return [plain(value) for value in document]
    return document


def _default(value: Any) -> Any:
    if isinstance(value, datetime):
        return written(value)
    return msgspec.to_builtins(value, builtin_types=(datetime,))
