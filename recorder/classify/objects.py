"""Which object a document is: what intake asks before anything else."""

import msgspec

from recorder.classify.text import clean
from recorder.classify.wire import (
    Metadata,
    WireEvent,
    WireObject,
    read_wire_event,
    read_wire_object,
)
from recorder.model.reference import Resource

__all__ = ["DocumentHead", "KubeObject", "read_head", "read_object"]

EVENT_GROUPS = frozenset({"", "events.k8s.io"})
"""The two groups that show the same Events."""

_NO_METADATA = Metadata()


class DocumentHead(msgspec.Struct, frozen=True, gc=False):
    """What tells a version of an object from every other.

    Of a Kubernetes Event it names the Event, not what the Event is about.
    Texts are fit to be stored; what is absent is None, and an empty text
    counts as absent.
    """

    uid: str | None
    resource_version: str | None
    namespace: str | None
    name: str | None
    kind: str | None
    api_version: str | None


class KubeObject(msgspec.Struct, frozen=True, gc=False):
    """A document, decoded as far as a draft needs it."""

    raw: bytes
    resource: Resource
    head: DocumentHead
    wire: WireEvent | WireObject


def read_object(raw: bytes, *, resource: Resource) -> KubeObject:
    """Decode a document, once for its head and its draft.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    wire: WireEvent | WireObject
    if resource.plural == "events" and resource.group in EVENT_GROUPS:
        wire = read_wire_event(raw)
    else:
        wire = read_wire_object(raw)
    return KubeObject(raw, resource, _head_of(wire), wire)


def read_head(raw: bytes) -> DocumentHead:
    """Read only what identifies a version.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    return _head_of(read_wire_object(raw))


def _head_of(wire: WireEvent | WireObject) -> DocumentHead:
    metadata = wire.metadata or _NO_METADATA
    return DocumentHead(
        clean(metadata.uid),
        clean(metadata.resource_version),
        clean(metadata.namespace),
        clean(metadata.name),
        clean(wire.kind),
        clean(wire.api_version),
    )
