"""Which object a document is: what intake needs first."""

import msgspec

from recorder.facts.classify.text import clean
from recorder.facts.classify.wire import (
    FullEvent,
    FullNode,
    FullObject,
    FullPod,
    Metadata,
    WireEvent,
    WireObject,
    read_full_event,
    read_full_object,
    read_wire_object,
)
from recorder.model.reference import Resource

EVENT_GROUPS = frozenset({"", "events.k8s.io"})
"""The two groups that serve the same Events."""

_NO_METADATA = Metadata()


class DocumentHead(msgspec.Struct, frozen=True, gc=False):
    """Identifies a version of an object.

    For a Kubernetes Event it names the Event, not its object. Texts are fit to
    be stored; absent and empty texts are None.
    """

    uid: str | None
    resource_version: str | None
    namespace: str | None
    name: str | None
    kind: str | None
    api_version: str | None


Wire = FullEvent | FullNode | FullPod | FullObject | WireEvent | WireObject


class KubeObject(msgspec.Struct, frozen=True, gc=False):
    """A document, decoded as far as a draft and its facts need it."""

    raw: bytes
    resource: Resource
    head: DocumentHead
    wire: Wire


def read_object(raw: bytes, *, resource: Resource) -> KubeObject:
    """Decode a document, once for its head, its draft and its facts.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    wire: Wire
    if resource.plural == "events" and resource.group in EVENT_GROUPS:
        wire = read_full_event(raw)
    else:
        wire = read_full_object(raw, str(resource))
    return KubeObject(raw, resource, _head_of(wire), wire)


def read_head(raw: bytes) -> DocumentHead:
    """Parse only what identifies a version.

    Raises:
        UnreadableError: the bytes are not a JSON object.
    """
    return _head_of(read_wire_object(raw))


def _head_of(wire: Wire) -> DocumentHead:
    metadata = wire.metadata or _NO_METADATA
    return DocumentHead(
        clean(metadata.uid),
        clean(metadata.resource_version),
        clean(metadata.namespace),
        clean(metadata.name),
        clean(wire.kind),
        clean(wire.api_version),
    )
