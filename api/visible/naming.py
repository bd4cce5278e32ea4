"""Which namespaces a text of a controller names, as such texts write objects.

``train/llm-0``, kubelet's ``llm-0_train(UID)``, or ``namespace train``.
"""

import re
from collections.abc import Collection

import orjson

__all__ = ["namespaces_in", "words_of_event"]

LABEL = r"([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)"
FORMS = [
    re.compile(form)
    for form in (
        rf"(?<![-.\w]){LABEL}/",
        rf"_{LABEL}\(",
        rf"namespace\W{{1,3}}{LABEL}",
    )
]


def namespaces_in(text: str) -> Collection[str]:
    """Return what may be the names of namespaces in a text."""
    return {name for form in FORMS for name in form.findall(text)}


def words_of_event(document: bytes | None) -> str:
    """Return the text of an Event, with the namespace of its other object."""
    try:
        event = orjson.loads(document or b"{}")
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(event, dict):
        return ""
    related = event.get("related")
    beside = related.get("namespace") if isinstance(related, dict) else None
    said = event.get("message") or event.get("note") or ""
    return f"{said} namespace {beside}" if beside else str(said)
