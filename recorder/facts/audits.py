"""Requests: what an audit record says of who asked for what.

Only audit names a person. A user agent is what the client says of itself,
and is kept for what it is worth.
"""

from typing import Any

import msgspec

from recorder.classify.times import first_moment
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.facts.wire import AuditRecord
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import ObjectIdentity

__all__ = ["request"]

KINDS = {"nodes": "Node", "pods": "Pod", "namespaces": "Namespace"}
"""Of what verdicts ask after; other resources keep their plural."""


def request(record: AuditRecord) -> Fact:
    """Return the fact that an audit record is."""
    about = record.object_ref
    user = record.user
    acted = record.impersonated_user
    who = user.username if user is not None else None
    detail: dict[str, Any] = {
        "verb": record.verb,
        "stage": record.stage,
        "user": who,
        "as": acted.username if acted is not None else None,
        "groups": user.groups if user is not None else None,
        "user_agent": record.user_agent,
        "source_ips": record.source_ips,
        "code": (
            record.response_status.code
            if record.response_status is not None
            else None
        ),
        "audit_id": record.audit_id,
        "body": _body(record.request_object),
        "resource_version": _version(record.response_object),
    }
    if about is not None:
        detail |= {
            "resource": about.resource,
            "subresource": about.subresource,
            "namespace": about.namespace,
            "name": about.name,
        }
    return Fact(
        kind=FactKind.REQUESTED,
        node=_node(record),
        object=_object(record),
        occurred_at=first_moment(
            record.request_received_timestamp, record.stage_timestamp
        ),
        actor=_person(who, detail["as"]),
        detail={name: value for name, value in detail.items() if value},
    )


def _person(who: str | None, acted_as: str | None) -> str | None:
    """Return who asked: somebody who acts as another is still who they are.

    A proxy that lets people in acts as them, and is nobody itself.
    """
    if acted_as is None or acted_as.startswith("system:"):
        return who
    is_proxy = who is None or who.startswith("system:serviceaccount:")
    return acted_as if is_proxy else who


def _object(record: AuditRecord) -> ObjectIdentity | None:
    about = record.object_ref
    if about is None or not (about.name or about.uid):
        return None
    plural = about.resource or ""
    return ObjectIdentity(
        about.api_group or "",
        KINDS.get(plural, plural),
        about.namespace or "",
        about.name or "",
        about.uid,
    )


def _node(record: AuditRecord) -> str | None:
    """Find the node that a request concerns."""
    about = record.object_ref
    if about is None:
        return None
    if about.resource == "nodes":
        if about.name:
            return about.name
        return _named(record.request_object)
    if about.resource == "pods":
        return _spec(record.response_object).node_name
    return None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    name: str | None = None
    resource_version: str | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata | None = None
    spec: _Spec | None = None


def _read(raw: msgspec.Raw) -> _Object:
    if not bytes(raw):
        return _Object()
    try:
        return msgspec.json.decode(raw, type=_Object)
    except (ValueError, RecursionError):
        return _Object()


def _named(raw: msgspec.Raw) -> str | None:
    metadata = _read(raw).metadata
    return metadata.name if metadata is not None else None


def _version(raw: msgspec.Raw) -> str | None:
    metadata = _read(raw).metadata
    return metadata.resource_version if metadata is not None else None


def _spec(raw: msgspec.Raw) -> _Spec:
    return _read(raw).spec or _Spec()


def _body(raw: msgspec.Raw) -> str | None:
    """Return the beginning of what was sent; all of it is in the entry."""
    text = bytes(raw).decode(errors="replace")
    return text[:TEXT_CHARACTERS_MAX] or None
