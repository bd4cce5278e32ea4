"""Which request that audit saw can have made which change."""

import re

from recorder.explain.signs import Sign, Subject

__all__ = ["made"]

_ORDER = re.compile(r'"\$setElementOrder/conditions":\s*\[[^\]]*\]')
_CORDON = re.compile(r'"(?:/spec/)?unschedulable"[^{}]*true')


def made(request: Sign, change: Sign) -> bool:
    """Return whether a request can have made a change."""
    detail = request.stored.fact.detail
    body = detail.get("body") or ""
    verb, resource = detail.get("verb"), detail.get("resource")
    fact = change.stored.fact
    if change.subject == Subject.CORDON:
        return resource == "nodes" and _CORDON.search(body) is not None
    if change.subject.startswith("condition "):
        name = change.subject.removeprefix("condition ")
        # Kubelets name all conditions in every patch, to order them.
        body = _ORDER.sub("", body)
        return resource == "nodes" and f'"{name}"' in body
    if change.subject in {Subject.IDENTITY, Subject.DELETION}:
        return resource == "nodes" and verb == "delete"
    if change.subject == Subject.EVICTION:
        return detail.get("subresource") == "eviction"
    if change.subject.startswith(("label ", "annotation ", "taint ")):
        key = str(fact.detail.get("key"))
        return resource == "nodes" and key in body
    thing = fact.object
    return (
        verb == "create"
        and thing is not None
        and detail.get("name") == thing.name
    )
