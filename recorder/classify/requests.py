"""Requests: which object, node and person an audit record is about.

The object of a request is named by the plural of its resource; its kind is
looked up, or said by a body. Its UID is often only in the response.
"""

from datetime import datetime

import msgspec

from recorder.classify.audit_record import (
    AuditRecord,
    ObjectRef,
    User,
    read_audit,
)
from recorder.classify.text import clean
from recorder.classify.times import first_moment
from recorder.model.entry import Draft, Operation
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.model.observation import AUDIT
from recorder.model.reference import ObjectIdentity

__all__ = [
    "READS",
    "acted_by",
    "is_answered",
    "is_dry_run",
    "node_of",
    "object_of",
    "occurred",
    "request_draft",
    "uid_of",
    "verb_of",
    "version_made",
    "version_shown",
]

NOT_OF_THE_OBJECT = frozenset({"Status", "DeleteOptions"})
"""Kinds of bodies that are no version of the object."""

READS = frozenset({"get", "list", "watch"})
REFUSED = 400
"""The least code of an answer that refuses."""

_NOTHING = ObjectRef()
_NOBODY = User()


def occurred(record: AuditRecord) -> datetime | None:
    """Return when a request was received."""
    return first_moment(
        record.request_received_timestamp, record.stage_timestamp
    )


def verb_of(record: AuditRecord) -> str | None:
    """Return the verb, with the subresource where there is one.

    As RBAC writes it: ``create pods/eviction`` is ``create/eviction``.
    """
    about = record.object_ref or _NOTHING
    if not record.verb:
        return None
    if not about.subresource:
        return record.verb
    return f"{record.verb}/{about.subresource}"


def is_answered(record: AuditRecord) -> bool:
    """Return whether the API server did what was asked."""
    status = record.response_status
    code = None if status is None else status.code
    return code is not None and code < REFUSED


def version_made(record: AuditRecord) -> str | None:
    """Return the version that a request made; None if it made none.

    A dry run answers with the version that there is, and so does a write
    that changes nothing; the second cannot be told by its record.
    """
    if record.verb in READS or not is_answered(record) or is_dry_run(record):
        return None
    return version_shown(record)


def is_dry_run(record: AuditRecord) -> bool:
    """Return whether a request was only to show what it would do."""
    return "dryRun=" in (record.request_uri or "")


def version_shown(record: AuditRecord) -> str | None:
    """Return the version of the object that an answer shows."""
    return _version(record.response_object) or None


def uid_of(record: AuditRecord) -> str | None:
    """Return the UID of the object, from the request or from its answer."""
    about = record.object_ref or _NOTHING
    if about.uid or about.subresource not in {None, "", "status"}:
        return about.uid
    answer = _read(record.response_object)
    if answer.kind == "Status":
        return answer.details.uid if answer.details is not None else None
    return answer.metadata.uid if answer.metadata is not None else None


def acted_by(record: AuditRecord) -> str | None:
    """Return who asked: somebody who acts as another is still who they are.

    A proxy that lets people in acts as them, and is nobody itself.
    """
    who = (record.user or _NOBODY).username
    acted_as = (record.impersonated_user or _NOBODY).username
    if acted_as is None or acted_as.startswith("system:"):
        return who
    is_proxy = who is None or who.startswith("system:serviceaccount:")
    return acted_as if is_proxy else who


def object_of(record: AuditRecord) -> ObjectIdentity | None:
    """Return the object of a request, by what the request says of it."""
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


def node_of(record: AuditRecord) -> str | None:
    """Return the node that a request concerns, as far as it says so."""
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


class _Details(msgspec.Struct):
    uid: str | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    name: str | None = None
    uid: str | None = None
    resource_version: str | None = None


class _Object(msgspec.Struct):
    kind: str | None = None
    api_version: str | None = msgspec.field(default=None, name="apiVersion")
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    details: _Details | None = None


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


def request_draft(raw: bytes, *, observed_at: datetime, source: str) -> Draft:
    """Return the draft of an audit record.

    A document that is no record gives a draft without columns: it is in the
    log all the same.
    """
    try:
        record = read_audit(raw)
    except (ValueError, RecursionError):
        record = AuditRecord()
    return Draft(
        source=source,
        operation=Operation.AUDIT,
        observed_at=observed_at,
        raw=raw,
        resource=AUDIT,
        identity=_identity(record),
        resource_version=version_made(record),
        node=clean(node_of(record)),
        occurred_at=occurred(record),
        reason=clean(verb_of(record)),
        actor=clean(acted_by(record)),
    )


def _identity(record: AuditRecord) -> ObjectIdentity | None:
    """Return the object of a request, by what its answer says as well.

    Whoever makes an object may leave its name to the API server.
    """
    about = record.object_ref or _NOTHING
    name = about.name
    if not name and not about.subresource and record.verb == "create":
        name = _named(record.response_object)
    named = msgspec.structs.replace(about, name=name, uid=uid_of(record))
    found = object_of(msgspec.structs.replace(record, object_ref=named))
    if found is None:
        return None
    return ObjectIdentity(
        clean(found.group) or "",
        clean(found.kind) or "",
        clean(found.namespace) or "",
        clean(found.name) or "",
        clean(found.uid),
    )
