"""A document on its way in: decoded once, used several times."""

from datetime import datetime

from recorder.facts.classify import (
    KubeObject,
    draft,
    node_ready,
    read_object,
    substance,
)
from recorder.intake.state import HeadKey
from recorder.model.entry import Draft, Operation
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.model.observation import WATCH
from recorder.model.reference import Resource

BEATING = frozenset({"nodes", "coordination.k8s.io/leases"})
"""Collections whose objects are updated as a sign of life."""


def is_events(resource: Resource) -> bool:
    """Return whether a resource is that of Kubernetes Events."""
    return resource.plural == "events" and resource.group in {
        "",
        "events.k8s.io",
    }


def collection_of(resource: Resource) -> str:
    """Return a resource without its version, as the key of a head has it."""
    if resource.group:
        return f"{resource.group}/{resource.plural}"
    return resource.plural


class Document:
    """One version of one object, as a source delivered it."""

    __slots__ = (
        "_kind",
        "_object",
        "_ready",
        "_substance",
        "is_event",
        "key",
        "name",
        "namespace",
        "raw",
        "resource",
        "resource_version",
        "wire",
    )

    def __init__(self, read: KubeObject, kind: str | None) -> None:
        """Process what was read."""
        head, resource = read.head, read.resource
        self._object = read
        self.wire = read.wire
        self._substance: bytes | None = None
        self._ready: str | None = None
        collection = collection_of(resource)
        self._kind = kind or BUILT_IN_KINDS.get(collection)
        self.raw = read.raw
        self.resource = resource
        self.is_event = is_events(resource)
        self.resource_version = head.resource_version or ""
        self.namespace = head.namespace or ""
        self.name = head.name or ""
        uid = head.uid or f"{self.namespace}/{self.name}"
        self.key: HeadKey = (collection, uid)

    @property
    def substance(self) -> bytes | None:
        """Digest of all except the heartbeat fields; None for most kinds."""
        if self._substance is None and self.key[0] in BEATING:
            self._substance = substance(self.raw, self.resource)
        return self._substance

    @property
    def ready(self) -> bool:
        """Whether a Node reports that it is ready."""
        return self._readiness == "True"

    @property
    def is_unheard(self) -> bool:
        """Whether a Node is silent, as the node controller sees it."""
        return self._readiness == "Unknown"

    @property
    def _readiness(self) -> str:
        if self._ready is None:
            self._ready = node_ready(self.raw, self.wire) or ""
        return self._ready

    def draft(
        self,
        operation: Operation,
        *,
        observed_at: datetime,
        source: str = WATCH,
    ) -> Draft:
        """Make the draft of an entry that holds this document."""
        return draft(
            self._object,
            kind=self._kind,
            operation=operation,
            observed_at=observed_at,
            source=source,
        )


def read(
    raw: bytes, *, resource: Resource, kind: str | None = None
) -> Document:
    """Read a document.

    Raises:
        InputError: the bytes are not a JSON object.
    """
    return Document(read_object(raw, resource=resource), kind)
