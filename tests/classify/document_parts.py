"""What documents are made of: bytes, and the fields of a manager."""

from typing import Any

import orjson

__all__ = ["Document", "compact", "field_paths", "managed"]

Document = dict[str, Any]


def compact(document: Any) -> bytes:
    """Encode as the API server does: no whitespace, given order."""
    return orjson.dumps(document)


def field_paths(*paths: str) -> Document:
    """FieldsV1 of paths separated by blanks, ``f:`` left out."""
    root: Document = {}
    for path in paths:
        place = root
        for part in path.split():
            name = part if part[0] in "k.v" and ":" in part else f"f:{part}"
            place = place.setdefault(name, {})
    return root


def managed(
    manager: str, *paths: str, time: str, subresource: str | None = None
) -> Document:
    """One entry of managedFields."""
    entry: Document = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": field_paths(*paths),
    }
    if subresource:
        entry["subresource"] = subresource
    return entry
