"""The newest version of every live object, and which updates are heartbeats.

Decides for each document whether the log needs it: a list shows mostly what is
known, and nearly all updates of Nodes and Leases change only a time. Such
heartbeats are counted at their object. Of a Lease the last folded renewal is
kept, because it is the last sign of life when a node goes silent: it becomes
an entry when the next one comes late, when the node stops being ready or goes
silent while it is not, or when the node is deleted.

Events have no heads: an hour of them may be a million objects, and the log can
answer every query about them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from recorder.facts.classify import lease_renewed_at
from recorder.intake.document import Document, collection_of
from recorder.intake.state import Head, HeadKey, head_key
from recorder.intake.streams import compare_versions
from recorder.model.reference import ObjectIdentity, Resource

NODES = "nodes"
LEASES = "coordination.k8s.io/leases"
SILENCE = timedelta(seconds=20)
"""Twice the interval at which a kubelet renews its Lease."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """The last renewal of a Lease before a silence."""

    head: Head
    raw: bytes
    version: str
    observed_at: datetime


class Versions:
    """Heads of all live objects except Events."""

    def __init__(
        self, heads: Iterable[Head], *, full_fidelity: bool = False
    ) -> None:
        self._heads: dict[str, dict[HeadKey, Head]] = {}
        self._leases: dict[str, Head] = {}
        self._full_fidelity = full_fidelity
        self.changed: dict[HeadKey, Head] = {}
        self.gone: dict[HeadKey, Head] = {}
        for head in heads:
            resource = Resource.parse(head.resource)
            self._file(head_key(collection_of(resource), head.identity), head)

    def __len__(self) -> int:
        """Count the live objects."""
        return sum(map(len, self._heads.values()))

    def __iter__(self) -> Iterator[Head]:
        """Yield every head, in no order."""
        return chain.from_iterable(of.values() for of in self._heads.values())

    def get(self, key: HeadKey) -> Head | None:
        """Return the head of a live object."""
        heads = self._heads.get(key[0])
        return None if heads is None else heads.get(key)

    def of(self, collection: str) -> Mapping[HeadKey, Head]:
        """Return the live objects of one collection, as they come and go."""
        return self._heads.get(collection, {})

    def fold(
        self, head: Head, document: Document, at: datetime, epoch: int
    ) -> tuple[bool, Renewal | None]:
        """Count a heartbeat at its head, if the update is nothing else.

        Returns whether it was counted, and a renewal that must become an entry
        now because this one came late.
        """
        key = document.key
        if (
            self._full_fidelity
            or head.substance is None
            or head.epoch != epoch
            or document.substance != head.substance
        ):
            return False, None
        silence = None
        if key[0] == LEASES:
            silence = self._silence(head, document)
            head.renewal = document.raw
        head.resource_version = document.resource_version
        head.heartbeats += 1
        head.heartbeat_at = at
        self.changed[key] = head
        return True, silence

    def silenced(self, head: Head, document: Document) -> Renewal | None:
        """Take the last renewal of a node that stops being ready.

        Or that goes silent while it is not: its kubelet was alive until then.
        """
        if document.key[0] != NODES or document.ready:
            return None
        if not head.ready and not document.is_unheard:
            return None
        return self.last_renewal(head.identity.name)

    def store(
        self,
        before: Head | None,
        document: Document,
        identity: ObjectIdentity | None,
        epoch: int,
        position: int,
    ) -> None:
        """Note a version that becomes an entry, and its previous head.

        A document without a name has no head: it is always new.
        """
        if identity is None:
            return
        key = document.key
        head = Head(
            resource=str(document.resource),
            identity=identity,
            epoch=epoch,
            resource_version=document.resource_version,
            position=position,
        )
        if before is not None:
            head.heartbeats = before.heartbeats
            head.heartbeat_at = before.heartbeat_at
        head.substance = document.substance
        if key[0] == NODES:
            head.ready = document.ready
        self._file(key, head)
        self.changed[key] = head
        self.gone.pop(key, None)

    def remove(self, key: HeadKey) -> Renewal | None:
        """Note that an object was deleted.

        Returns the last renewal of the deleted Lease, or of the Lease of the
        deleted node.
        """
        head = self.get(key)
        if head is None:
            return None
        del self._heads[key[0]][key]
        self.changed.pop(key, None)
        self.gone[key] = head
        silence = None
        if key[0] in (NODES, LEASES):
            silence = self.last_renewal(head.identity.name)
        if key[0] == LEASES:
            self._leases.pop(head.identity.name, None)
        return silence

    def last_renewal(self, node: str) -> Renewal | None:
        """Take the folded renewal of a node's Lease, if there is one."""
        head = self._leases.get(node)
        if head is None or head.renewal is None:
            return None
        assert head.heartbeat_at is not None, "a renewal was observed"
        renewal = Renewal(
            head, head.renewal, head.resource_version, head.heartbeat_at
        )
        head.renewal = None
        key = head_key(LEASES, head.identity)
        if self.get(key) is not None:
            self.changed[key] = head
        return renewal

    def _silence(self, head: Head, document: Document) -> Renewal | None:
        if head.renewal is None:
            return None
        before = lease_renewed_at(head.renewal)
        after = lease_renewed_at(document.raw)
        if before is None or after is None or after - before <= SILENCE:
            return None
        return self.last_renewal(head.identity.name)

    def _file(self, key: HeadKey, head: Head) -> None:
        self._heads.setdefault(key[0], {})[key] = head
        if key[0] == LEASES:
            self._leases[head.identity.name] = head


def is_known(head: Head, version: str, epoch: int) -> bool:
    """Return whether the log holds a version of an object, or a newer one."""
    return (
        bool(version)
        and head.epoch == epoch
        and compare_versions(head.resource_version, version) >= 0
        and (
            head.resource_version == version
            or head.resource_version.isdecimal()
        )
    )
