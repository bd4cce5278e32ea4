"""The fields of a document that drafts are made of.

The first attempt assumes the types of the API and also takes the fields that
facts are made of, so that the document is decoded only once. A document that
does not fit is parsed for its draft alone, and if it does not fit those types
either, field by field: a number is taken for its digits, everything else of
the wrong type counts as absent.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from recorder.facts.classify import shapes
from recorder.facts.classify.shapes import Shape
from recorder.model.validity import UnreadableError, decode_loosely


class Metadata(shapes.Naming):
    """Identifies an object and its version."""

    resource_version: str | None = None


class Spec(Shape):
    """Where some objects name the node that they concern."""

    node_name: str | None = None
    holder_identity: str | None = None


class WireObject(Shape):
    """Any object except an Event."""

    metadata: Metadata | None = None
    kind: str | None = None
    api_version: str | None = None
    spec: Spec | None = None


class Regarding(Shape):
    """What an Event is about."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None


class Reporter(Shape):
    """The reporter of an Event, in the older of its two forms."""

    component: str | None = None
    host: str | None = None


class Series(Shape):
    """How often an Event was repeated."""

    last_observed_time: str | None = None


class WireEvent(Shape):
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


# Decoded values are never modified, so a field may be narrower below than in
# the shape that it comes from.


class FullMetadata(shapes.Metadata):
    """What every object carries."""

    resource_version: str | None = None


class FullEvent(shapes.Event):
    """An Event as the API defines it."""

    metadata: Metadata | None = None  # type: ignore[mutable-override]
    kind: str | None = None
    api_version: str | None = None
    involved_object: Regarding | None = None
    regarding: Regarding | None = None
    reporting_component: str | None = None
    reporting_controller: str | None = None
    reporting_instance: str | None = None
    deprecated_last_timestamp: str | None = None
    deprecated_first_timestamp: str | None = None


class FullNode(shapes.Node):
    """A Node as the API defines it."""

    metadata: FullMetadata | None = None  # type: ignore[mutable-override]
    kind: str | None = None
    api_version: str | None = None


class FullPod(shapes.Pod):
    """A Pod as the API defines it."""

    metadata: FullMetadata | None = None  # type: ignore[mutable-override]
    kind: str | None = None
    api_version: str | None = None


class _FullSpec(shapes.AnySpec):
    node_name: str | None = None
    holder_identity: str | None = None


class FullObject(shapes.AnyObject):
    """Any other object, in the usual form."""

    metadata: FullMetadata | None = None  # type: ignore[mutable-override]
    kind: str | None = None
    api_version: str | None = None
    spec: _FullSpec | None = None  # type: ignore[mutable-override]


_decode_object = msgspec.json.Decoder(WireObject).decode
_decode_event = msgspec.json.Decoder(WireEvent).decode
_decode_full_event = msgspec.json.Decoder(FullEvent).decode
_DECODE_FULL: dict[str, Callable[[bytes], FullNode | FullPod]] = {
    "v1/nodes": msgspec.json.Decoder(FullNode).decode,
    "v1/pods": msgspec.json.Decoder(FullPod).decode,
}
_decode_full_object = msgspec.json.Decoder(FullObject).decode
_W = TypeVar("_W", bound=Shape)


def read_full_object(
    raw: bytes, resource: str
) -> FullNode | FullPod | FullObject | WireObject:
    """Parse any object except an Event; in full if it has the usual form.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    try:
        return _DECODE_FULL.get(resource, _decode_full_object)(raw)
    except (ValueError, RecursionError):
        return read_wire_object(raw)


def read_full_event(raw: bytes) -> FullEvent | WireEvent:
    """Parse an Event; in full if it has the usual form.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    try:
        return _decode_full_event(raw)
    except (ValueError, RecursionError):
        return read_wire_event(raw)


def read_wire_object(raw: bytes) -> WireObject:
    """Parse any object except an Event.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    try:
        return _decode_object(raw)
    except (ValueError, RecursionError):
        return _read_loosely(raw, WireObject)


def read_wire_event(raw: bytes) -> WireEvent:
    """Parse an Event.

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
    """Keep the members of the right type; numbers have come as text."""
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


def _structure_of(annotation: Any) -> type[Shape] | None:
    """Return the structure in an annotation such as ``Spec | None``."""
    first = annotation.__args__[0]
    return first if issubclass(first, Shape) else None
