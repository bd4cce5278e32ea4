"""Parts of documents: times, uids, and what the API server adds."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.corpus.tape_lines import Frame

__all__ = [
    "BEGAN",
    "Document",
    "Key",
    "boot_id",
    "clock",
    "counted",
    "fine",
    "listed",
    "managed",
    "uid_of",
]

BEGAN = datetime(2026, 3, 1, 10, 0, 0, tzinfo=UTC)

Document = dict[str, Any]
Key = tuple[str, str, str]


def clock(seconds: float) -> str:
    """Write a time as objects have it, in whole seconds."""
    at = BEGAN + timedelta(seconds=seconds)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def fine(seconds: float) -> str:
    """Write a time as frames have it."""
    at = BEGAN + timedelta(seconds=seconds)
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


def uid_of(*names: str) -> str:
    """Return the uid of a thing: always the same one."""
    return str(uuid5(NAMESPACE_URL, "/".join(names)))


def boot_id(name: str, number: int) -> str:
    """Return the id of a boot of a node."""
    return uid_of("boot", name, str(number))


def counted(at: float) -> Callable[[Document], None]:
    def change(event: Document) -> None:
        event["count"] += 1
        event["lastTimestamp"] = clock(at)

    return change


def managed(
    who: tuple[str, str], at: float, paths: set[tuple[str, ...]]
) -> Document:
    fields: Document = {}
    for path in sorted(paths):
        place = fields
        for step in path:
            place = place.setdefault(step, {})
    entry = {
        "manager": who[0],
        "operation": "Update",
        "apiVersion": "v1",
        "time": clock(at),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return entry | ({"subresource": who[1]} if who[1] else {})


def listed(resource: str, first: Mapping[Key, Document]) -> Frame:
    found = [doc for key, doc in first.items() if key[0] == resource]
    items = json.loads(json.dumps(found))
    for number, item in enumerate(items):
        item["metadata"]["resourceVersion"] = str(100 + number)
        item.pop("kind", None)
        item.pop("apiVersion", None)
    kinds = {"v1/nodes": "Node", "v1/events": "Event", "v1/pods": "Pod"}
    kind = found[0]["kind"] if found else kinds.get(resource, "Thing")
    return {
        "source": "watch",
        "frame": "list",
        "resource": resource,
        "resource_version": "999",
        "more": False,
        "kind": kind,
        "items": items,
    }
