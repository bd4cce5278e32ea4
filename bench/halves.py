"""The load of `writing` as a tape: half new Events, half patches of Nodes.

What an API server would show of it, without one: the Nodes are listed, and
each change is the object as it is stored, with who wrote which of its fields.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from bench import writing
from bench.fleet import BEGAN
from recorder.model.observation import ListPage, Observation, WatchFrame
from recorder.model.reference import Resource
from recorder.sources.tape import TapeHeader, TapeWriter

__all__ = ["write_halves"]

NODES, EVENTS = Resource.parse("v1/nodes"), Resource.parse("v1/events")
PACE = timedelta(milliseconds=2)
CHUNK = 500
MANAGER = "bench"


def write_halves(path: Path, *, documents: int) -> int:
    """Write a tape of so many changes; return the bytes of all of them."""
    header = TapeHeader(
        cluster="bench-halves",
        cluster_uid="bench-halves",
        kubernetes="v1.36.3",
        started_at=BEGAN,
    )
    nodes = [_node(number) for number in range(writing.MACHINES)]
    with TapeWriter(path, header) as tape:
        tape.write(_lists(nodes))
        size, chunk = 0, []
        for frame in _changes(nodes, documents):
            size += len(frame.object)
            chunk.append(frame)
            if len(chunk) == CHUNK:
                tape.write(chunk)
                chunk = []
        tape.write(chunk)
    return size


def _lists(nodes: list[dict[str, Any]]) -> Iterator[Observation]:
    for resource, items in ((NODES, nodes), (EVENTS, [])):
        yield ListPage(
            observed_at=BEGAN,
            resource=resource,
            resource_version=str(writing.MACHINES),
            items=[_dumped(item) for item in items],
            more=False,
        )


def _changes(
    nodes: list[dict[str, Any]], documents: int
) -> Iterator[WatchFrame]:
    for number in range(documents):
        half, is_event = divmod(number, 2)
        at = BEGAN + (number + 1) * PACE
        version = str(writing.MACHINES + 1 + number)
        if is_event:
            document, resource = _event(half, at, version), EVENTS
        else:
            document = nodes[half % writing.MACHINES]
            _patch(document, half, at, version)
            resource = NODES
        yield WatchFrame(
            observed_at=at,
            resource=resource,
            type="ADDED" if is_event else "MODIFIED",
            object=_dumped(document),
        )


def _node(number: int) -> dict[str, Any]:
    body = writing.node(writing.name(number))
    metadata = {
        "name": body["metadata"]["name"],
        "uid": str(UUID(int=number)),
        "resourceVersion": str(number + 1),
        "creationTimestamp": _time(BEGAN),
        "labels": body["metadata"]["labels"],
        "managedFields": [
            _written({"f:metadata": {"f:labels": {}}}, BEGAN),
            _written({"f:status": {"f:conditions": {}}}, BEGAN, "status"),
        ],
    }
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {},
        "status": body["status"],
    }


def _patch(
    node: dict[str, Any], number: int, at: datetime, version: str
) -> None:
    """Put a condition into a Node, as the API server does."""
    *_, body, _ = writing.patch(number, "halves")
    (condition,) = json.loads(body)["status"]["conditions"]
    conditions = node["status"]["conditions"]
    *_, last = conditions
    since = last.get("lastTransitionTime")
    if last["type"] != "Ready":
        conditions.append(condition)
    if last["status"] != condition["status"]:
        since = _time(at)
    conditions[-1] = {
        **condition,
        "lastTransitionTime": since or _time(at),
    }
    fields: dict[str, Any] = {f"f:{name}": {} for name in conditions[-1]}
    path = {"f:conditions": {'k:{"type":"Ready"}': {".": {}, **fields}}}
    managed = node["metadata"]["managedFields"]
    managed[1] = _written({"f:status": path}, at, "status")
    node["metadata"]["resourceVersion"] = version


def _event(number: int, at: datetime, version: str) -> dict[str, Any]:
    _, _, body, _ = writing.event(number, "halves")
    event = json.loads(body)
    fields: dict[str, Any] = {
        f"f:{member}": {} for member in event if member != "metadata"
    }
    metadata = {
        **event.pop("metadata"),
        "uid": str(UUID(int=(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835
                        % (1 << 128))),
        "resourceVersion": version,
        "creationTimestamp": _time(at),
        "managedFields": [_written(fields, at)],
    }  # fmt: skip
    event |= {
        "firstTimestamp": _time(at),
        "lastTimestamp": _time(at),
    }
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": metadata,
        **event,
        "eventTime": None,
        "reportingComponent": "gpu-monitor",
        "reportingInstance": event["source"]["host"],
    }


def _written(
    fields: dict[str, Any], at: datetime, subresource: str | None = None
) -> dict[str, Any]:
    entry = {
        "manager": MANAGER,
        "operation": "Update",
        "apiVersion": "v1",
        "time": _time(at),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return entry if subresource is None else {
        **entry, "subresource": subresource,
    }  # fmt: skip


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _dumped(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
