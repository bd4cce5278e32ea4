"""The fields of a document that drafts are made of, and nothing else.

One structure for Events of both APIs and one for every other object, because
a decoder is fast only if it knows what to skip. The first attempt believes
the types of the API; a document that breaks them is read again, field by
field: a number is taken for its digits, everything else of the wrong type
counts as absent.
"""

from typing import Any, TypeVar

import msgspec

from recorder.redact import UnreadableError
from recorder.redact.validity import decode_loosely

__all__ = [
    "Metadata",
    "WireEvent",
    "WireObject",
    "read_wire_event",
    "read_wire_object",
]


class _Wire(msgspec.Struct, rename="camel", gc=False):
    """What is absent or null is None."""


class Metadata(_Wire):
    """What every object carries."""

    uid: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None


class Spec(_Wire):
    """Where some objects say which node they concern."""

    node_name: str | None = None
    holder_identity: str | None = None


class WireObject(_Wire):
    """Any object but an Event."""

    metadata: Metadata | None = None
    kind: str | None = None
    api_version: str | None = None
    spec: Spec | None = None


class Regarding(_Wire):
    """What an Event is about."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None


class Reporter(_Wire):
    """Who sent an Event, in the older of its two forms."""

    component: str | None = None
    host: str | None = None


class Series(_Wire):
    """What an Event says of its repetitions."""

    last_observed_time: str | None = None


class WireEvent(_Wire):
    """An Event, by the names of ``v1`` and of ``events.k8s.io/v1``."""

    metadata: Metadata | None = None
    kind: str | None = None
    api_version: str | None = None
    involved_object: Regarding | None = None
    regarding: Regarding | None = None
    reason: str | None = None
    source: Reporter | None = None
    deprecated_source: Reporter | None = None
    reporting_component: str | None = None
    reporting_controller: str | None = None
    reporting_instance: str | None = None
    series: Series | None = None
    event_time: str | None = None
    last_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None
    first_timestamp: str | None = None
    deprecated_first_timestamp: str | None = None


_decode_object = msgspec.json.Decoder(WireObject).decode
_decode_event = msgspec.json.Decoder(WireEvent).decode
_W = TypeVar("_W", bound=_Wire)


def read_wire_object(raw: bytes) -> WireObject:
    """Read any object but an Event.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    try:
        return _decode_object(raw)
    except (ValueError, RecursionError):
        return _read_loosely(raw, WireObject)


def read_wire_event(raw: bytes) -> WireEvent:
    """Read an Event.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    try:
        return _decode_event(raw)
    except (ValueError, RecursionError):
        return _read_loosely(raw, WireEvent)


def _read_loosely(raw: bytes, shape: type[_W]) -> _W:
    document = decode_loosely(raw)
    if not isinstance(document, dict):
        msg = "cannot read an object: the document is none"
        raise UnreadableError(msg)
    return _fitting(document, shape)


def _fitting(members: dict[str, Any], shape: type[_W]) -> _W:
    """Take what has the right type; numbers have come as text."""
    taken: dict[str, Any] = {}
    for member in msgspec.structs.fields(shape):
        value = members.get(member.encode_name)
        inner = _structure_of(member.type)
        if inner is None:
            if isinstance(value, str):
                taken[member.name] = value
        elif isinstance(value, dict):
            taken[member.name] = _fitting(value, inner)
    return shape(**taken)


def _structure_of(annotation: Any) -> type[_Wire] | None:
    """Give the structure in an annotation such as ``Spec | None``."""
    first = annotation.__args__[0]
    return first if issubclass(first, _Wire) else None
