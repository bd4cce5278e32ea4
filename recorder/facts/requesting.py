"""Requests in words: who did what to which object, with which client."""

import re
from typing import Final

from recorder.model.facts import Requested
from recorder.model.reference import ObjectIdentity

REFUSED: Final = 400
FORBIDDEN: Final = 403

# What was done, and what was denied or failed.
_OF_SUBRESOURCES: Final = {
    ("create", "eviction"): ("evicted", "evict"),
    ("create", "binding"): ("bound", "bind"),
    ("create", "exec"): ("executed a command in", "execute a command in"),
    ("get", "exec"): ("executed a command in", "execute a command in"),
    ("create", "attach"): ("attached to", "attach to"),
    ("get", "attach"): ("attached to", "attach to"),
    ("create", "portforward"): ("forwarded a port of", "forward a port of"),
    ("get", "portforward"): ("forwarded a port of", "forward a port of"),
    ("get", "log"): ("read the log of", "read the log of"),
    ("create", "token"): ("requested a token of", "request a token of"),
}
_OF_VERBS: Final = {
    "create": ("created", "create"),
    "update": ("updated", "update"),
    "patch": ("patched", "patch"),
    "delete": ("deleted", "delete"),
    "deletecollection": ("deleted all", "delete all"),
    "get": ("read", "read"),
    "list": ("listed", "list"),
    "watch": ("watched", "watch"),
    "impersonate": ("impersonated", "impersonate"),
}
_CORDON: Final = re.compile(
    r'"(?:/spec/)?unschedulable"[^{}]*?(true|false|null)'
)
_TARGET: Final = re.compile(r'"target"\s*:\s*\{[^{}]*"name"\s*:\s*"([^"]+)"')


def says_request(detail: Requested, thing: ObjectIdentity | None) -> str:
    """Return a request as a sentence.

    For example ``alice@example.com evicted pod/search/embed-0 (kubectl
    drain)``. A request that was refused says so, with the code. A document
    that is no record, which older releases took for one, says that.
    """
    if detail.verb is None:
        return "not an audit record"
    done, do = _words(detail)
    who = detail.user or "an unknown user"
    if detail.acted_as:
        who = f"{who} as {detail.acted_as}"
    name, code = _name(detail, thing), detail.code or 0
    if code == FORBIDDEN:
        said = f"{who} was denied to {do} {name}"
    elif code >= REFUSED:
        said = f"{who} could not {do} {name}"
    else:
        said = f"{who} {done} {name}{_where(detail)}"
    beside = [_client(detail), f"{code}" if code >= REFUSED else None]
    notes = ", ".join(part for part in beside if part)
    return f"{said} ({notes})" if notes else said


def _words(detail: Requested) -> tuple[str, str]:
    verb, sub = detail.verb or "", detail.subresource
    if sub is None:
        cordon = _cordoned(detail)
        return cordon or _OF_VERBS.get(verb, (f"asked to {verb}", verb))
    if sub == "proxy":
        return ("connected through", "connect through")
    known = _OF_SUBRESOURCES.get((verb, sub))
    if known is not None:
        return known
    done, do = _OF_VERBS.get(verb, (f"asked to {verb}", verb))
    return f"{done} the {sub} of", f"{do} the {sub} of"


def _cordoned(detail: Requested) -> tuple[str, str] | None:
    """Return the words for a patch that is about scheduling on a node."""
    if detail.resource != "nodes" or detail.verb != "patch":
        return None
    found = _CORDON.search(detail.body or "")
    if found is None:
        return None
    if found[1] == "true":
        return "cordoned", "cordon"
    return "uncordoned", "uncordon"


def _where(detail: Requested) -> str:
    """Return the node of a binding."""
    if detail.subresource != "binding":
        return ""
    target = _TARGET.search(detail.body or "")
    return f" to node/{target[1]}" if target is not None else ""


def _name(detail: Requested, thing: ObjectIdentity | None) -> str:
    """Write the object as people name it; of all of a kind its plural."""
    namespace, name = detail.namespace, detail.name
    if thing is not None:
        namespace, name = thing.namespace, thing.name
    if not name:
        of = detail.resource or "objects"
        return f"{of} in {namespace}" if namespace else of
    word = detail.resource if thing is None else thing.kind.lower()
    return "/".join(part for part in (word, namespace, name) if part)


def _client(detail: Requested) -> str | None:
    """Return the program, as it names itself.

    Of the commands of kubectl only `drain` evicts.
    """
    program = (detail.user_agent or "").partition("/")[0]
    if program == "kubectl" and detail.subresource == "eviction":
        return "kubectl drain"
    return program or None
