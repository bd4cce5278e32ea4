"""Requesters: who made a request, with which client, as far as known.

A client chooses its own user agent and field manager.
"""

from urllib.parse import parse_qs, urlsplit

import msgspec

from recorder.facts.classify.audit_record import AuditRecord, User
from recorder.facts.classify.requests import asked_by, occurred, verb_of
from recorder.facts.classify.text import clean
from recorder.model.author import Author, KnownBy
from recorder.model.reference import EntryName

POD_NAME = "authentication.kubernetes.io/pod-name"
SERVICE_ACCOUNT = "system:serviceaccount:"
MANAGER_CHARACTERS_MAX = 128
"""To which API servers truncate a user agent."""

_UNKNOWN = User()
_Extra = dict[str, list[str]]
_read_extra = msgspec.json.Decoder(_Extra).decode


def requester(record: AuditRecord, entry: EntryName | None) -> Author:
    """Return who made a request; ``entry`` is its place in the log."""
    user = record.user or _UNKNOWN
    who, as_whom = asked_by(record)
    return Author(
        known_by=KnownBy.AUDIT,
        name=clean(who),
        on_behalf_of=clean(as_whom),
        client=client_of(record),
        user_agent=clean(record.user_agent),
        address=clean(record.source_ips[-1] if record.source_ips else None),
        pod=_pod(user),
        verb=clean(verb_of(record)),
        entry=entry,
        at=occurred(record),
    )


def client_of(record: AuditRecord) -> str | None:
    """Return the program that made a request, as people name it.

    kubectl names its command as a field manager, if at all; of its commands
    only `drain` evicts.
    """
    program = _program(record)
    manager = _given_manager(record)
    if manager is not None and manager.startswith("kubectl-"):
        return clean(manager.replace("-", " ", 1))
    about = record.object_ref
    if (
        program == "kubectl"
        and about is not None
        and about.subresource == "eviction"
    ):
        return "kubectl drain"
    return clean(program or manager)


def manager_of(record: AuditRecord) -> str | None:
    """Return the field manager that the API server uses for a write."""
    given = _given_manager(record)
    if given is not None:
        return given
    program = _program(record)
    return program and program[:MANAGER_CHARACTERS_MAX]


def _program(record: AuditRecord) -> str | None:
    return (record.user_agent or "").partition("/")[0] or None


def _given_manager(record: AuditRecord) -> str | None:
    uri = record.request_uri or ""
    if "fieldManager=" not in uri:
        return None
    try:
        given = parse_qs(urlsplit(uri).query).get("fieldManager")
    except ValueError:
        return None
    return given[0] if given else None


def _pod(user: User) -> str | None:
    """Return the Pod of a service account, as ``namespace/name``."""
    name = user.username or ""
    if not name.startswith(SERVICE_ACCOUNT) or not bytes(user.extra):
        return None
    try:
        pods = _read_extra(user.extra).get(POD_NAME)
    except (ValueError, RecursionError):
        return None
    if not pods:
        return None
    namespace = name.removeprefix(SERVICE_ACCOUNT).partition(":")[0]
    return clean(f"{namespace}/{pods[0]}")
