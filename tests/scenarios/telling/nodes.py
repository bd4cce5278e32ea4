"""Changes of the parts of a Node."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.scenarios.telling.parts import clock

__all__ = [
    "condition",
    "path_of",
    "put",
    "status_of",
    "taint",
    "texts",
    "turned",
]


def texts(
    node: dict[str, Any], where: str, wanted: Mapping[str, str | None]
) -> Iterator[tuple[str, ...]]:
    """Change labels or annotations; yield the fields that are written."""
    for key, value in wanted.items():
        put(node["metadata"][where], key, value)
        path = ("f:metadata", f"f:{where}", f"f:{key}")
        yield path if value is not None else ("-", *path)


def path_of(kind: str) -> tuple[str, ...]:
    """Name a condition as managedFields do."""
    place = f'k:{{"type":"{kind}"}}'
    return ("f:status", "f:conditions", place, "f:status")


def condition(
    at: float, kind: str, value: tuple[str, str, str]
) -> dict[str, Any]:
    """Return a condition that turned at a time."""
    status, reason, message = value
    return {
        "type": kind,
        "status": status,
        "lastHeartbeatTime": clock(at),
        "lastTransitionTime": clock(at),
        "reason": reason,
        "message": message,
    }


def turned(
    at: float,
    conditions: list[dict[str, Any]],
    kind: str,
    value: tuple[str, str, str] | None,
) -> None:
    """Turn a condition, or take it away."""
    old = next((c for c in conditions if c["type"] == kind), None)
    if old is not None:
        conditions.remove(old)
    if value is None:
        return
    new = condition(at, kind, value)
    if old is not None and old["status"] == new["status"]:
        new["lastTransitionTime"] = old["lastTransitionTime"]
    conditions.append(new)


def status_of(node: dict[str, Any], kind: str) -> str | None:
    """Return the status of a condition."""
    found = (c for c in node["status"]["conditions"] if c["type"] == kind)
    return next((str(c["status"]) for c in found), None)


def put(where: dict[str, Any], key: str, value: Any) -> None:
    """Set a member, or take it away."""
    if value is None:
        where.pop(key, None)
    else:
        where[key] = value


def taint(
    at: float, spec: dict[str, Any], taints: Mapping[str, str | None]
) -> None:
    """Add taints, or take them away."""
    kept = [
        one
        for one in spec.get("taints", [])
        if f"{one['key']}:{one['effect']}" not in taints
    ]
    for name, value in taints.items():
        if value is None:
            continue
        key, _, effect = name.rpartition(":")
        made = {"key": key, "effect": effect, "timeAdded": clock(at)}
        kept.append(made | ({"value": value} if value else {}))
    spec["taints"] = kept
