"""Observations with boring defaults, so that a test shows what matters."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from recorder.model.observation import (
    ListPage,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource

__all__ = [
    "EVENTS",
    "LEASES",
    "NAMESPACES",
    "NODES",
    "PODS",
    "START",
    "a_bookmark",
    "a_closed_stream",
    "a_frame",
    "a_lease",
    "a_list",
    "a_node",
    "an_event",
    "an_object",
    "at",
]

PODS = Resource.parse("v1/pods")
NODES = Resource.parse("v1/nodes")
EVENTS = Resource.parse("v1/events")
LEASES = Resource.parse("coordination.k8s.io/v1/leases")
NAMESPACES = Resource.parse("v1/namespaces")

KINDS = {
    PODS: "Pod",
    NODES: "Node",
    EVENTS: "Event",
    LEASES: "Lease",
    NAMESPACES: "Namespace",
}

START = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def at(seconds: float = 0) -> datetime:
    """A time, in seconds from the start of every story."""
    return START + timedelta(seconds=seconds)


def an_object(
    name: str, version: int, *, uid: str | None = None, **more: Any
) -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "train",
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
    }
    return {"metadata": metadata, **more}


def a_node(
    name: str, version: int, *, ready: str = "True", beat: int = 0
) -> dict[str, Any]:
    condition = {
        "type": "Ready",
        "status": ready,
        "lastHeartbeatTime": f"2026-11-21T03:00:{beat:02}Z",
    }
    node = an_object(name, version, status={"conditions": [condition]})
    del node["metadata"]["namespace"]
    return node


def a_lease(node: str, version: int, *, renewed: float) -> dict[str, Any]:
    time = at(renewed).isoformat(timespec="microseconds")
    lease = an_object(
        node,
        version,
        uid=f"lease-{node}",
        spec={
            "holderIdentity": node,
            "renewTime": time.replace("+00:00", "Z"),
        },
    )
    lease["metadata"]["namespace"] = "kube-node-lease"
    return lease


def an_event(
    name: str, version: int, *, count: int = 1, pod: str = "pod-1"
) -> dict[str, Any]:
    return an_object(
        name,
        version,
        involvedObject={
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": "train",
            "name": pod,
            "uid": f"uid-{pod}",
        },
        reason="Started",
        count=count,
        lastTimestamp="2026-11-21T02:59:59Z",
        source={"component": "kubelet", "host": "gpu-001"},
    )


def a_list(
    resource: Resource,
    version: int,
    *documents: dict[str, Any],
    when: float = 0,
    more: bool = False,
) -> ListPage:
    return ListPage(
        observed_at=at(when),
        resource=resource,
        resource_version=str(version),
        items=[orjson.dumps(document) for document in documents],
        more=more,
        kind=KINDS.get(resource),
    )


def a_frame(
    resource: Resource,
    type_: str,
    document: dict[str, Any],
    *,
    when: float = 0,
    late: bool = False,
) -> WatchFrame:
    whole = {
        "kind": KINDS.get(resource, "Thing"),
        "apiVersion": resource.api_version,
        **document,
    }
    return WatchFrame(
        observed_at=at(when),
        resource=resource,
        type=type_,
        object=orjson.dumps(whole),
        late=late,
    )


def a_bookmark(
    resource: Resource, version: int, *, when: float = 0
) -> WatchFrame:
    document = {"metadata": {"resourceVersion": str(version)}}
    return a_frame(resource, "BOOKMARK", document, when=when)


def a_closed_stream(
    resource: Resource, reason: str, *, when: float = 0
) -> StreamClosed:
    return StreamClosed(observed_at=at(when), resource=resource, reason=reason)
