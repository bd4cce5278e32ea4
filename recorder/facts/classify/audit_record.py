"""Audit records, with the fields that drafts and facts are made of.

Records of ``audit.k8s.io/v1``, ``v1beta1`` and ``v1alpha1``; those in a batch
name no version.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec

from recorder.facts.classify.times import first_moment

GROUP = "audit.k8s.io/"
NEEDED = ("auditID", "stage", "verb")
"""Members without which a document is not a record, whatever it declares."""


class _Wire(msgspec.Struct, rename="camel", gc=False):
    """Absent or null fields are None."""


class User(_Wire):
    """A user that the API server knows."""

    username: str | None = None
    groups: list[str] | None = None
    extra: msgspec.Raw = msgspec.Raw()
    """Further attributes from the authenticator, in any form."""


class ObjectRef(_Wire):
    """The object of a request."""

    resource: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_group: str | None = None
    api_version: str | None = None
    resource_version: str | None = None
    subresource: str | None = None


class _ResponseStatus(_Wire):
    code: int | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str | None = None


class _Details(msgspec.Struct, gc=False):
    uid: str | None = None


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    name: str | None = None
    uid: str | None = None
    resource_version: str | None = None


class Body(msgspec.Struct, rename="camel", gc=False):
    """The object in a body; empty if the body is not an object."""

    kind: str | None = None
    api_version: str | None = None
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    details: _Details | None = None


_read_body = msgspec.json.Decoder(Body).decode


class AuditRecord(_Wire, dict=True, gc=True):
    """An ``audit.k8s.io`` Event."""

    kind: str | None = None
    api_version: str | None = None
    audit_id: str | None = msgspec.field(default=None, name="auditID")
    stage: str | None = None
    verb: str | None = None
    request_uri: str | None = msgspec.field(default=None, name="requestURI")
    user: User | None = None
    impersonated_user: User | None = None
    source_ips: list[str] | None = msgspec.field(
        default=None, name="sourceIPs"
    )
    user_agent: str | None = None
    object_ref: ObjectRef | None = None
    response_status: _ResponseStatus | None = None
    request_object: msgspec.Raw = msgspec.Raw()
    response_object: msgspec.Raw = msgspec.Raw()
    request_received_timestamp: str | None = None
    stage_timestamp: str | None = None
    timestamp: str | None = None
    """Of v1beta1 and v1alpha1."""

    @property
    def is_one(self) -> bool:
        """Whether it is a record, and not another document.

        A sender is trusted to send records; `is_audit_record` checks more.
        """
        return _is_record(self.kind, self.api_version, self.verb)

    @cached_property
    def asked(self) -> Body:
        """The body of the request."""
        return _body(self.request_object)

    @cached_property
    def answer(self) -> Body:
        """The body of the response."""
        return _body(self.response_object)


def _body(raw: msgspec.Raw) -> Body:
    if not bytes(raw):
        return Body()
    try:
        return _read_body(raw)
    except (ValueError, RecursionError):
        return Body()


class _Header(_Wire):
    kind: str | None = None
    api_version: str | None = None
    audit_id: str | None = msgspec.field(default=None, name="auditID")
    stage: str | None = None
    verb: str | None = None


_read_header = msgspec.json.Decoder(_Header).decode


def _is_record(kind: str | None, version: str | None, *needed: object) -> bool:
    if version is None:
        return kind in {None, "Event"} and all(needed)
    return kind == "Event" and version.startswith(GROUP) and all(needed)


def is_audit_record(raw: bytes) -> bool:
    """Return whether a document of a file is an audit record."""
    try:
        header = _read_header(raw)
    except (ValueError, RecursionError):
        return False
    return _is_record(
        header.kind,
        header.api_version,
        header.audit_id,
        header.stage,
        header.verb,
    )


def lacks_of_record(document: Mapping[str, Any]) -> str:
    """Return what a document lacks of a record, as text; empty if it is one.

    The document is decoded JSON.
    """
    kind, version = document.get("kind"), document.get("apiVersion")
    if not all(o is None or isinstance(o, str) for o in (kind, version)):
        return "a kind"
    needed = {name: document.get(name) for name in NEEDED}
    missing = [n for n, o in needed.items() if not (o and isinstance(o, str))]
    if missing:
        return ", ".join(missing)
    return "" if _is_record(kind, version) else "a kind"


read_audit = msgspec.json.Decoder(AuditRecord).decode


class _Stamps(msgspec.Struct, rename="camel"):
    request_received_timestamp: str | None = None
    stage_timestamp: str | None = None
    timestamp: str | None = None


_read_stamps = msgspec.json.Decoder(_Stamps).decode


def record_moment(raw: bytes) -> datetime | None:
    """Return when the request of an audit record was received."""
    stamps = _stamps(raw)
    return first_moment(
        stamps.request_received_timestamp,
        stamps.stage_timestamp,
        stamps.timestamp,
    )


def record_made(raw: bytes) -> datetime | None:
    """Return when the API server made an audit record."""
    stamps = _stamps(raw)
    return first_moment(stamps.stage_timestamp, stamps.timestamp)


def _stamps(raw: bytes) -> _Stamps:
    try:
        return _read_stamps(raw)
    except (ValueError, RecursionError):
        return _Stamps()
