"""Heartbeats: updates of Nodes and Leases in which nothing happened.

A kubelet reports every few minutes that its Node is unchanged, and every ten
seconds that it is alive; of the updates of a Node that is all but one in
twenty. They are counted, not stored, and whether an update is one is decided
here by data alone: its *substance*, which is everything except a closed list
of fields, equals that of the previous version.

The list is closed on purpose. A field that is not on it, of a future API for
example, is substance.
"""

import hashlib
from datetime import datetime

import msgspec

from recorder.facts.classify.shapes import Node, Shape
from recorder.facts.classify.times import moment
from recorder.model.reference import Resource

DIGEST_SIZE_BYTES = 16
LEASE_GROUP = "coordination.k8s.io"

_Members = dict[str, msgspec.Raw]
_Member = _Members | list[msgspec.Raw] | str | int | float | bool | None
_decode_root = msgspec.json.Decoder(dict[str, _Member]).decode
_decode_list = msgspec.json.Decoder(list[_Members]).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def substance(raw: bytes, resource: Resource) -> bytes | None:
    """Return a digest of what is not heartbeat in a Node or a Lease.

    An item of a list and an object of a watch have the same one, though only
    the latter names its kind. None for every other resource, and for a
    document of an unexpected form: these are never folded.
    """
    try:
        if resource.plural == "nodes" and not resource.group:
            return _digest_of_node(raw)
        if resource.plural == "leases" and resource.group == LEASE_GROUP:
            return _digest_of_lease(raw)
    except (ValueError, RecursionError):
        return None
    return None


def _digest_of_node(raw: bytes) -> bytes | None:
    root = _root_without_metadata_noise(raw)
    status = root.get("status")
    if isinstance(status, dict):
        status.pop("images", None)
        conditions = status.get("conditions")
        if conditions is not None:
            items = _decode_list(conditions)
            for item in items:
                item.pop("lastHeartbeatTime", None)
            status["conditions"] = msgspec.Raw(_encode(items))
    return _digest(root)


def _digest_of_lease(raw: bytes) -> bytes | None:
    root = _root_without_metadata_noise(raw)
    spec = root.get("spec")
    if isinstance(spec, dict):
        spec.pop("renewTime", None)
    return _digest(root)


def _root_without_metadata_noise(raw: bytes) -> dict[str, _Member]:
    root = _decode_root(raw)
    # Items of a list lack these two, and the resource implies them.
    root.pop("kind", None)
    root.pop("apiVersion", None)
    metadata = root.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("resourceVersion", None)
        managed = metadata.get("managedFields")
        if managed is not None:
            items = _decode_list(managed)
            for item in items:
                item.pop("time", None)
            metadata["managedFields"] = msgspec.Raw(_encode(items))
    return root


def _digest(root: dict[str, _Member]) -> bytes:
    return hashlib.sha256(_encode(root)).digest()[:DIGEST_SIZE_BYTES]


class _LeaseSpec(msgspec.Struct, rename="camel"):
    renew_time: str | None = None


class _Lease(msgspec.Struct):
    spec: _LeaseSpec | None = None


class _Condition(msgspec.Struct):
    type: str | None = None
    status: str | None = None


class _NodeStatus(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Node(msgspec.Struct):
    status: _NodeStatus | None = None


_decode_lease = msgspec.json.Decoder(_Lease).decode
_decode_node = msgspec.json.Decoder(_Node).decode


def lease_renewed_at(raw: bytes) -> datetime | None:
    """Return when a Lease was renewed, by its own field."""
    try:
        lease = _decode_lease(raw)
    except (ValueError, RecursionError):
        return None
    return moment(lease.spec.renew_time) if lease.spec else None


def node_ready(raw: bytes, read: Shape | None = None) -> str | None:
    """Return the status of a Node's Ready condition: True, False, Unknown.

    ``read`` is the decoded document, if it was decoded.
    """
    node: Node | _Node
    if isinstance(read, Node):
        node = read
    else:
        try:
            node = _decode_node(raw)
        except (ValueError, RecursionError):
            return None
    if node.status is None:
        return None
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            return condition.status
    return None
