"""The fields of an audit record that drafts and facts are made of."""

from functools import cached_property

import msgspec

__all__ = ["AuditRecord", "Body", "ObjectRef", "User", "read_audit"]


class _Wire(msgspec.Struct, rename="camel", gc=False):
    """What is absent or null is None."""


class User(_Wire):
    """Somebody whom the API server knows."""

    username: str | None = None
    groups: list[str] | None = None
    extra: msgspec.Raw = msgspec.Raw()
    """What whoever let it in says more of it, in any form."""


class ObjectRef(_Wire):
    """What somebody asked for."""

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
    """What a body says of itself; nothing where it is none of an object."""

    kind: str | None = None
    api_version: str | None = None
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    details: _Details | None = None


_read_body = msgspec.json.Decoder(Body).decode


class AuditRecord(_Wire, dict=True, gc=True):
    """An ``audit.k8s.io`` Event."""

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

    @cached_property
    def asked(self) -> Body:
        """The body of the request."""
        return _body(self.request_object)

    @cached_property
    def answer(self) -> Body:
        """The body of the answer."""
        return _body(self.response_object)


def _body(raw: msgspec.Raw) -> Body:
    if not bytes(raw):
        return Body()
    try:
        return _read_body(raw)
    except (ValueError, RecursionError):
        return Body()


read_audit = msgspec.json.Decoder(AuditRecord).decode
