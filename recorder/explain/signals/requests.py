"""Requests: they name the author of a change, and show what no watch did.

The author is that of the audit record, else the field manager.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from recorder.explain.signals.actor import Actor
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Cordoned, Requested, Uncordoned
from recorder.model.outcomes import Role
from recorder.model.reference import EntryName

_ORDER = re.compile(r'"\$setElementOrder/conditions":\s*\[[^\]]*\]')
_CORDON = re.compile(r'"(?:/spec/)?unschedulable"[^{}]*true')
_UNCORDON = re.compile(
    r'"(?:/spec/)?unschedulable"[^{}]*(?:null|false)'
    r'|"op":\s*"remove"[^{}]*"/spec/unschedulable"'
)

_OF_NODE = frozenset(
    {
        Topic.CORDON,
        Topic.CONDITION,
        Topic.IDENTITY,
        Topic.DELETION,
        Topic.METADATA,
        Topic.TAINT,
    }
)
_CHANGES = frozenset({"update", "patch"})
_OF_OBJECT = frozenset({Topic.EVICTION, Topic.OBJECT, Topic.OBJECT_END})


def unwatched(facts: Iterable[StoredFact]) -> Mapping[EntryName, bool]:
    """Return the requests to cordon a Node that no version of it shows.

    Nor that it was uncordoned, which is False here: both were in a gap of the
    watch, and the Node is listed as it was before. Only both together are
    certain: a request alone may have changed nothing.
    """
    turns: list[tuple[StoredFact, bool]] = []
    watched = []
    for stored in facts:
        if isinstance(stored.fact.detail, Cordoned | Uncordoned):
            watched.append(stored.at)
        elif (turn := _turned(stored)) is not None:
            turns.append((stored, turn))
    found: dict[EntryName, bool] = {}
    for (began, cordons), (ended, stays) in pairwise(turns):
        since = began.at - LIMITS.same_write
        until = ended.at + LIMITS.same_write
        if (
            cordons
            and not stays
            and not any(since <= at <= until for at in watched)
        ):
            found |= {began.entry: True, ended.entry: False}
    return found


def _turned(stored: StoredFact) -> bool | None:
    """Return whether a request cordoned its Node; None if it did neither."""
    detail = stored.fact.detail
    if (
        not isinstance(detail, Requested)
        or detail.resource != "nodes"
        or detail.verb not in _CHANGES
        or detail.is_refused
    ):
        return None
    if _CORDON.search(detail.body or ""):
        return True
    return False if _UNCORDON.search(detail.body or "") else None


def cordons_by(requests: Iterable[Signal], *, ended: bool) -> list[Signal]:
    """Return that a Node was cordoned, or no longer, by requests for it."""
    role = Role.RECOVERY if ended else Role.ACT
    subject = Subject(Topic.CORDON)
    return [
        r._replace(role=role, subject=subject, over=ended) for r in requests
    ]


def author_of(change: Signal, signals: Iterable[Signal]) -> Actor | None:
    """Return who made a change: by audit, else by its field manager."""
    request = request_of(change, signals)
    return change.actor if request is None else request.actor


def request_of(change: Signal, signals: Iterable[Signal]) -> Signal | None:
    """Return the audit record of the request that made a change."""
    near = [
        (abs(other.at - change.at), other.position, other)
        for other in signals
        if other.topic is Topic.REQUEST
        and abs(other.at - change.at) <= LIMITS.same_write
        and _made(other, change)
    ]
    return min(near)[2] if near else None


def _made(request: Signal, change: Signal) -> bool:
    detail, topic = request.detail, change.topic
    if not isinstance(detail, Requested):
        return False
    thing = change.stored.fact.object
    if topic is Topic.METADATA and thing and thing.kind != "Node":
        key = change.subject.name.rpartition(" ")[2]
        return _about(request) == _about(change) and key in (detail.body or "")
    if topic in _OF_NODE:
        return detail.resource == "nodes" and _says(change, detail)
    evicts = detail.subresource == "eviction"
    return (
        topic in _OF_OBJECT
        and detail.verb in _verbs(change)
        and detail.subresource != "binding"
        and evicts == (topic is Topic.EVICTION)
        and _about(request) == _about(change)
    )


def _verbs(change: Signal) -> Collection[str]:
    """Return the verbs of requests that can have changed an object."""
    ended = change.over or change.kind is FactKind.DELETION_REQUESTED
    if ended or change.topic is Topic.OBJECT_END:
        return {"delete"}
    of_pod = change.stored.fact.about == "Pod"  # that is bound afterwards
    made = change.kind is FactKind.APPEARED or of_pod
    return {"create"} if made or change.topic is Topic.EVICTION else _CHANGES


def _says(change: Signal, detail: Requested) -> bool:
    """Whether a request to change a Node has this change."""
    body = detail.body or ""
    match change.topic:
        case Topic.CORDON:
            if change.over and detail.verb == "update":
                # It states the whole Node: what it leaves out is removed.
                return '"spec":' in body and not _CORDON.search(body)
            words = _UNCORDON if change.over else _CORDON
            return words.search(body) is not None
        case Topic.CONDITION:
            # A condition quoted elsewhere is not set, and kubelets name all
            # conditions in every patch, to order them.
            named = f'"{change.subject.name}"' in _ORDER.sub("", body)
            return named and detail.subresource == "status"
        case Topic.IDENTITY | Topic.DELETION:
            return detail.verb == "delete"
        case _:
            return change.subject.name in body


def _about(sign: Signal) -> tuple[str, str, str] | None:
    """Return what names its object in a request, which knows no kind."""
    thing = sign.stored.fact.object
    return thing and (thing.group, thing.namespace, thing.name)
