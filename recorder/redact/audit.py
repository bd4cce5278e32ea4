"""Whether an audit record carries what must not be recorded.

The body of a request need not say what it is: a patch of a Secret has no
kind. What the request was about tells, and is asked of every place that may
name it.
"""

import re

import msgspec
from stringzilla import find

from recorder.redact.gates import may_hide_letters

__all__ = ["GUARDED_MEMBERS", "is_about_secrets"]

GUARDED_MEMBERS = frozenset({"requestObject", "responseObject"})
"""The members of an audit record that hold bodies."""

_RESOURCE = re.compile(
    rb'"(?:resource"\s*:\s*"(?:secrets|tokenreviews)'
    rb'|subresource"\s*:\s*"token'
    rb'|requestURI"\s*:\s*"[^"?]*/(?:secrets|tokenreviews|token))'
    rb'["/?]'
)


class _Reference(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""


class _Record(msgspec.Struct, frozen=True):
    requestURI: str = ""  # noqa: N815 - the name on the wire
    objectRef: _Reference = _Reference()  # noqa: N815


_decode = msgspec.json.Decoder(_Record).decode


_NAMED = (b"/secrets", b'"secrets', b"/token", b'"token')
"""In what `_RESOURCE` finds there is one of these."""


def is_about_secrets(raw: bytes) -> bool:
    """Return whether a request was about Secrets or tokens."""
    if any(find(raw, name) >= 0 for name in _NAMED) and _RESOURCE.search(raw):
        return True
    if not may_hide_letters(raw):
        return False
    try:
        record = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        # Readable, but no audit record as we know them.
        return True
    plain = msgspec.json.encode(record)
    return _RESOURCE.search(plain) is not None
