"""The namespaces that a text of a controller names.

In the forms ``train/llm-0``, kubelet's ``llm-0_train(UID)``, ``namespace
train`` with various punctuation, or ``ns/train``.
"""

import re
from collections.abc import Collection
from typing import Any

import orjson

LABEL = r"([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)"
FORMS = [
    re.compile(form)
    for form in (
        rf"(?<![-.\w]){LABEL}/",
        rf"_{LABEL}\(",
        rf"(?i:namespaces?|\bns)\W{{1,4}}{LABEL}",
    )
]


def namespaces_in(text: str) -> Collection[str]:
    """Return what may be the names of namespaces in a text."""
    return {name for form in FORMS for name in form.findall(text)}


def words_of_event(document: bytes | None) -> str:
    """Return the text of an Event, with the namespace of its other object.

    Includes its labels and annotations, which controllers write too.
    """
    try:
        event = orjson.loads(document or b"{}")
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(event, dict):
        return ""
    texts = [event.get("message"), event.get("note"), event.get("action")]
    about = _part(event, "metadata")
    for name in ("labels", "annotations"):
        texts += [f"{key}: {text}" for key, text in _part(about, name).items()]
    beside = _part(event, "related").get("namespace")
    texts.append(beside and f"namespace {beside}")
    return "\n".join(str(one) for one in texts if one)


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    part = document.get(name)
    return part if isinstance(part, dict) else {}
