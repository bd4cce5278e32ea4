"""Objects that other objects name: they may have come and gone unseen.

An Event names the object that it is about, often with its version then, and an
object names its owners. If no list shows that object any more, it is requested
by name, at the version of its witness.

Bounded: the object that was named longest ago is forgotten first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import as_int64

WITNESSED = 50_000
"""Objects that are remembered, 20 MB; a busy cluster names a hundred new ones
a second, for the minutes that etcd keeps."""

PART = 10
"""One part in so many is forgotten at a time."""


@dataclass(slots=True)
class Witness:
    """An object, and versions at which it is named."""

    uid: str
    held: HeldVersion
    """Its name; the version is unknown."""

    versions: tuple[int, ...]
    """Those at which it probably existed, the most probable first."""


class _Reference(msgspec.Struct):
    kind: str = ""
    apiVersion: str = ""  # noqa: N815 - the API's own names
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815


class _Metadata(msgspec.Struct):
    namespace: str = ""
    resourceVersion: str = ""  # noqa: N815
    ownerReferences: list[_Reference] | None = None  # noqa: N815


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    involvedObject: _Reference | None = None  # noqa: N815
    regarding: _Reference | None = None


_decode = msgspec.json.Decoder(_Object).decode


class Witnesses:
    """Remembers the objects that any resource names."""

    def __init__(self) -> None:
        self._named: dict[tuple[str, str, str], Witness] = {}

    def event(self, raw: bytes) -> None:
        """Note what an Event is about."""
        if (event := _read(raw)) is None:
            return
        about = event.involvedObject or event.regarding
        if about is not None:
            versions = about.resourceVersion, event.metadata.resourceVersion
            self._note(about, about.namespace, versions)

    def owned(self, raw: bytes) -> None:
        """Note the owners of an object."""
        if (found := _read(raw)) is None:
            return
        metadata = found.metadata
        for owner in metadata.ownerReferences or ():
            # An owner is in the same namespace, or in none.
            version = metadata.resourceVersion
            self._note(owner, metadata.namespace, (version,))

    def of(self, target: Target) -> Iterator[Witness]:
        """Yield the named objects of a target."""
        wanted = target.resource.group, target.kind
        for (group, kind, _), witness in [*self._named.items()]:
            if (group, kind) != wanted:
                continue
            if not target.namespaced:
                witness.held = witness.held._replace(namespace="")
            elif target.namespace not in {None, witness.held.namespace}:
                continue
            yield witness

    def _note(
        self, about: _Reference, namespace: str, at: tuple[str, ...]
    ) -> None:
        versions = [as_int64(version) for version in at]
        known = tuple(version for version in versions if version)
        if not (about.uid and about.name and known):
            return
        group = about.apiVersion.rpartition("/")[0]
        key = group, about.kind, about.uid
        if len(self._named) >= WITNESSED:
            for old in [*islice(self._named, WITNESSED // PART)]:
                del self._named[old]
        self._named.pop(key, None)
        held = HeldVersion(namespace, about.name, "")
        self._named[key] = Witness(about.uid, held, known)


def _read(raw: bytes) -> _Object | None:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None
