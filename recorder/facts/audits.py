"""Requests: what an audit record says of who asked for what.

Only audit names a person. A user agent is what the client says of itself,
and is kept for what it is worth.
"""

import msgspec

from recorder.facts.classify.audit_record import AuditRecord, ObjectRef, User
from recorder.facts.classify.requests import (
    acted_by,
    asked_by,
    node_of,
    object_of,
    occurred,
    version_shown,
)
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Requested

_NOTHING = ObjectRef()
_NO_USER = User()


def request(record: AuditRecord) -> Fact:
    """Return the fact that an audit record is."""
    about = record.object_ref or _NOTHING
    user = record.user or _NO_USER
    who, as_whom = asked_by(record)
    answered = record.response_status
    detail = Requested(
        verb=record.verb or None,
        stage=record.stage or None,
        user=who or None,
        acted_as=as_whom or None,
        groups=user.groups or None,
        user_agent=record.user_agent or None,
        source_ips=record.source_ips or None,
        code=(answered.code if answered is not None else None) or None,
        audit_id=record.audit_id or None,
        body=_body(record.request_object),
        resource_version=version_shown(record),
        resource=about.resource or None,
        subresource=about.subresource or None,
        namespace=about.namespace or None,
        name=about.name or None,
    )
    return Fact(
        kind=FactKind.REQUESTED,
        node=node_of(record),
        object=object_of(record),
        occurred_at=occurred(record),
        actor=acted_by(record),
        detail=detail,
    )


def _body(raw: msgspec.Raw) -> str | None:
    """Return the beginning of what was sent; all of it is in the entry."""
    text = bytes(raw).decode(errors="replace")
    return text[:TEXT_CHARACTERS_MAX] or None
