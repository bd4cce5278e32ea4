"""Who is behind a change: the request that audit saw, else the writer."""

import re
from collections.abc import Iterable

from recorder.explain.signals.actor import Actor
from recorder.explain.signals.signal import Signal, Topic
from recorder.explain.thresholds import LIMITS

__all__ = ["author_of"]

_ORDER = re.compile(r'"\$setElementOrder/conditions":\s*\[[^\]]*\]')
_CORDON = re.compile(r'"(?:/spec/)?unschedulable"[^{}]*true')


def author_of(change: Signal, signals: Iterable[Signal]) -> Actor | None:
    """Return who made a change: by audit, else by its field manager."""
    near = [
        (abs(other.stored.at - change.stored.at), other.position, other)
        for other in signals
        if other.topic is Topic.REQUEST
        and abs(other.stored.at - change.stored.at) <= LIMITS.same_write
        and _made(other, change)
    ]
    return min(near)[2].actor if near else change.actor


def _made(request: Signal, change: Signal) -> bool:
    """Whether a request can have made a change."""
    detail = request.stored.fact.detail
    of_node = detail.get("resource") == "nodes"
    body = str(detail.get("body") or "")
    match change.topic:
        case Topic.CORDON:
            return of_node and _CORDON.search(body) is not None
        case Topic.CONDITION:
            # Kubelets name all conditions in every patch, to order them.
            named = f'"{change.subject.name}"' in _ORDER.sub("", body)
            return of_node and named
        case Topic.IDENTITY | Topic.DELETION:
            return of_node and detail.get("verb") == "delete"
        case Topic.LABEL | Topic.ANNOTATION | Topic.TAINT:
            return of_node and change.subject.name in body
        case Topic.EVICTION:
            return detail.get("subresource") == "eviction" and _is_about(
                request, change
            )
        case Topic.OBJECT:
            verb = "delete" if change.over else "create"
            return detail.get("verb") == verb and _is_about(request, change)
        case Topic.OBJECT_END:
            return detail.get("verb") == "delete" and _is_about(
                request, change
            )
        case _:
            return False


def _is_about(request: Signal, change: Signal) -> bool:
    """Whether a request is about the object that changed."""
    asked, thing = request.stored.fact.object, change.stored.fact.object
    return (
        asked is not None
        and thing is not None
        and asked.name == thing.name
        and asked.namespace == thing.namespace
        and asked.group == thing.group
    )
