"""Requests: what an audit record says of who asked for what.

Only audit names a person. A user agent is what the client says of itself,
and is kept for what it is worth.
"""

import msgspec

from recorder.classify.times import first_moment
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.facts.wire import AuditRecord, ObjectRef, User
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Requested
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.model.reference import ObjectIdentity

__all__ = ["request"]

_NOTHING = ObjectRef()
_NOBODY = User()

NOT_OF_THE_OBJECT = frozenset({"Status", "DeleteOptions"})
"""Kinds of bodies that are no version of the object."""


def request(record: AuditRecord) -> Fact:
    """Return the fact that an audit record is."""
    about = record.object_ref or _NOTHING
    user = record.user or _NOBODY
    acted = record.impersonated_user or _NOBODY
    answered = record.response_status
    detail = Requested(
        verb=record.verb or None,
        stage=record.stage or None,
        user=user.username or None,
        acted_as=acted.username or None,
        groups=user.groups or None,
        user_agent=record.user_agent or None,
        source_ips=record.source_ips or None,
        code=(answered.code if answered is not None else None) or None,
        audit_id=record.audit_id or None,
        body=_body(record.request_object),
        resource_version=_version(record.response_object) or None,
        resource=about.resource or None,
        subresource=about.subresource or None,
        namespace=about.namespace or None,
        name=about.name or None,
    )
    return Fact(
        kind=FactKind.REQUESTED,
        node=_node(record),
        object=_object(record),
        occurred_at=first_moment(
            record.request_received_timestamp, record.stage_timestamp
        ),
        actor=_person(user.username, acted.username),
        detail=detail,
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
    group = about.api_group or ""
    known = BUILT_IN_KINDS.get(f"{group}/{plural}" if group else plural)
    return ObjectIdentity(
        group,
        known or _kind(record, group) or plural,
        about.namespace or "",
        about.name or "",
        about.uid,
    )


def _kind(record: AuditRecord, group: str) -> str | None:
    """Return the kind that a body of a request about an object says.

    None where there is no body, or it is of something else, as a binding is:
    then whoever asks for the object finds it by its UID or its plural.
    """
    about = record.object_ref
    if about is None or about.subresource not in {None, "", "status"}:
        return None
    for raw in (record.response_object, record.request_object):
        said = _read(raw)
        of, slash, _ = (said.api_version or "").partition("/")
        if (
            said.kind
            and said.kind not in NOT_OF_THE_OBJECT
            and (of if slash else "") == group
        ):
            return said.kind
    return None


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
    kind: str | None = None
    api_version: str | None = msgspec.field(default=None, name="apiVersion")
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
