"""Requests: which object, node and person an audit record is about.

The object of a request is named by the plural of its resource; its kind is
looked up, or taken from a body. Its UID is often only in the response.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from recorder.facts.classify.audit_record import (
    AuditRecord,
    Body,
    ObjectRef,
    User,
    read_audit,
)
from recorder.facts.classify.text import clean
from recorder.facts.classify.times import first_moment
from recorder.model.entry import Draft, Operation
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.model.observation import AUDIT
from recorder.model.reference import ObjectIdentity

NOT_OF_THE_OBJECT = frozenset({"Status", "DeleteOptions"})
"""Kinds of bodies that are not a version of the object."""

READS = frozenset({"get", "list", "watch"})
REFUSED = 400
"""The lowest code of a response that rejects a request."""

_NOTHING = ObjectRef()
_UNKNOWN = User()

LOGINS = ("sessionName", "username", "oid")
"""Members of ``user.extra`` that name the login of a shared user: of EKS
(aws-iam-authenticator), of Rancher, of AKS."""

ARN = "arn"
_MACHINE_MADE = re.compile(
    r"\d+|i-[0-9a-f]{8,}|(?:aws|botocore|eks)-[\w.-]*\d{6,}[\w.-]*"
)
"""Session names that programs and machines choose."""

_read_extra = msgspec.json.Decoder(dict[str, Any]).decode


def occurred(record: AuditRecord) -> datetime | None:
    """Return when a request was received."""
    return first_moment(
        record.request_received_timestamp,
        record.stage_timestamp,
        record.timestamp,
    )


def cluster_shown(raw: bytes) -> str | None:
    """Return the UID of kube-system, if a record shows it.

    It identifies a cluster.
    """
    if b'"kube-system"' not in raw or b'"namespaces"' not in raw:
        return None
    record = read_record(raw)
    about = (record and record.object_ref) or _NOTHING
    if record is None or about.resource != "namespaces" or about.subresource:
        return None
    return uid_of(record) if about.name == "kube-system" else None


def verb_of(record: AuditRecord) -> str | None:
    """Return the verb, with the subresource if there is one.

    As RBAC writes it: ``create pods/eviction`` is ``create/eviction``.
    """
    about = record.object_ref or _NOTHING
    if not record.verb:
        return None
    if not about.subresource:
        return record.verb
    return f"{record.verb}/{about.subresource}"


def is_answered(record: AuditRecord) -> bool:
    """Return whether the API server carried out the request."""
    status = record.response_status
    code = None if status is None else status.code
    return code is not None and code < REFUSED


def version_made(record: AuditRecord) -> str | None:
    """Return the version that a request made; None if it made none.

    A dry run returns the existing version, and so does a write that changes
    nothing; the record does not show the latter.
    """
    if record.verb in READS or not is_answered(record) or is_dry_run(record):
        return None
    return version_shown(record)


def is_dry_run(record: AuditRecord) -> bool:
    """Return whether a request only asked what it would do."""
    return "dryRun=" in (record.request_uri or "")


def version_shown(record: AuditRecord) -> str | None:
    """Return the version of the object in a response."""
    metadata = record.answer.metadata
    return (
        metadata.resource_version if metadata is not None else None
    ) or None


def uid_of(record: AuditRecord) -> str | None:
    """Return the UID of the object, from the request or from its response."""
    about = record.object_ref or _NOTHING
    if about.uid or about.subresource not in {None, "", "status"}:
        return about.uid
    answer = record.answer
    if answer.kind == "Status":
        return answer.details.uid if answer.details is not None else None
    return answer.metadata.uid if answer.metadata is not None else None


def acted_by(record: AuditRecord) -> str | None:
    """Return who made the request; impersonating others does not change it.

    An authenticating proxy impersonates its users, and is not counted as one.
    """
    user = (record.user or _UNKNOWN).username
    acted_as = (record.impersonated_user or _UNKNOWN).username
    who, as_whom = asked_by(record)
    if acted_as is None or acted_as.startswith("system:"):
        return who
    is_proxy = user is None or user.startswith("system:serviceaccount:")
    return as_whom if is_proxy else who


def asked_by(record: AuditRecord) -> tuple[str | None, str | None]:
    """Return who made the request, and as whom.

    For a user that several people share, the record may name the login: then
    that made the request, as the user.
    """
    user = record.user or _UNKNOWN
    login, acted = _login(user), record.impersonated_user
    who = login or user.username
    if acted is not None and acted.username is not None:
        return who, _login(acted) or acted.username
    return who, user.username if login else None


def _login(user: User) -> str | None:
    name = user.username or ""
    if name.startswith("system:") or not bytes(user.extra):
        return None
    try:
        extra = _read_extra(user.extra)
    except (ValueError, RecursionError):
        return None
    found = next((t for key in LOGINS if (t := _text(extra, key))), None)
    if found is None:
        found = (_text(extra, ARN) or "").rpartition("/")[2]
    if not found or found == name or _MACHINE_MADE.fullmatch(found):
        return None
    # An object id says less than the name of a person.
    return None if "@" in name and "@" not in found else found


def _text(extra: Mapping[str, Any], key: str) -> str | None:
    value = extra.get(key)
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) and value else None


def object_of(record: AuditRecord) -> ObjectIdentity | None:
    """Return the object of a request.

    A client that creates an object may leave its name to the API server; then
    the response has it.
    """
    about = record.object_ref
    if about is None:
        return None
    return _object(record, about, _name(record, about), about.uid)


def _name(record: AuditRecord, about: ObjectRef) -> str | None:
    if about.name or about.subresource or record.verb != "create":
        return about.name
    return _named(record.answer)


def _object(
    record: AuditRecord, about: ObjectRef, name: str | None, uid: str | None
) -> ObjectIdentity | None:
    if not (name or uid):
        return None
    plural = about.resource or ""
    group = about.api_group or ""
    known = BUILT_IN_KINDS.get(f"{group}/{plural}" if group else plural)
    return ObjectIdentity(
        group,
        known or _kind(record, group) or plural,
        about.namespace or "",
        name or "",
        uid,
    )


def _kind(record: AuditRecord, group: str) -> str | None:
    """Return the kind in a body of a request about an object.

    None if there is no body, or it is of another kind, such as a binding: then
    queries find the object by its UID or its plural.
    """
    about = record.object_ref
    if about is None or about.subresource not in {None, "", "status"}:
        return None
    for said in (record.answer, record.asked):
        of, slash, _ = (said.api_version or "").partition("/")
        if (
            said.kind
            and said.kind not in NOT_OF_THE_OBJECT
            and (of if slash else "") == group
        ):
            return said.kind
    return None


def node_of(record: AuditRecord) -> str | None:
    """Return the node that a request concerns, if it names one."""
    about = record.object_ref
    if about is None:
        return None
    if about.resource == "nodes":
        if about.name:
            return about.name
        return _named(record.asked)
    if about.resource == "pods":
        spec = record.answer.spec
        return spec.node_name if spec is not None else None
    return None


def _named(body: Body) -> str | None:
    return body.metadata.name if body.metadata is not None else None


def request_draft(
    raw: bytes,
    *,
    observed_at: datetime,
    source: str,
    record: AuditRecord | None = None,
) -> Draft:
    """Return the draft of an audit record.

    A document that is not a record becomes a draft without columns: it is in
    the log all the same. ``record`` is the decoded document, if it was
    decoded.
    """
    if record is None:
        record = read_record(raw) or AuditRecord()
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


def read_record(raw: bytes) -> AuditRecord | None:
    """Parse an audit record; None if it is not one.

    A log may hold such documents from before they were rejected.
    """
    try:
        record = read_audit(raw)
    except (ValueError, RecursionError):
        return None
    return record if record.is_one else None


def _identity(record: AuditRecord) -> ObjectIdentity | None:
    """Return the object of a request, with the UID in its response."""
    about = record.object_ref or _NOTHING
    found = _object(record, about, _name(record, about), uid_of(record))
    if found is None:
        return None
    return ObjectIdentity(
        clean(found.group) or "",
        clean(found.kind) or "",
        clean(found.namespace) or "",
        clean(found.name) or "",
        clean(found.uid),
    )
