"""Types in which a log returns what answers need."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import Flag, auto
from typing import NamedTuple

import msgspec

from recorder.model.document import Document
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.reference import ObjectIdentity, Resource
from recorder.model.window import Window


def is_about_events(resource: str | None) -> bool:
    """Return whether ``group/version/plural`` is the resource of Events."""
    if resource is None or resource.count("/") not in {1, 2}:
        return False
    parsed = Resource.parse(resource)
    return parsed.plural == "events" and parsed.group in {"", "events.k8s.io"}


class Part(Flag):
    """Parts of an entry that are read only if needed."""

    RESOURCE = auto()
    NODE = auto()
    WORDS = auto()
    """The reason and the actor."""

    OBJECT = auto()
    SUMMARY = auto()
    """The document of Events, and of entries by the recorder itself."""

    DOCUMENT = auto()
    """The document of every entry."""

    LISTED = RESOURCE | NODE | WORDS | OBJECT | SUMMARY
    OPENED = LISTED | DOCUMENT


@dataclass(frozen=True, slots=True)
class Version:
    """An object as one entry shows it."""

    identity: ObjectIdentity
    resource: str
    raw: bytes
    gone: bool = False
    """Whether it is the last one: the object was deleted."""

    position: int = 0
    """Of the entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which entries to return; None is no filter."""

    node: str | None = None
    objects: tuple[int, ...] | None = None
    """Numbers of the incarnations of one object."""

    source: str | None = None
    reason: str | None = None
    actor: str | None = None
    since: datetime | None = None
    """Inclusive; by ``observed_at``."""

    until: datetime | None = None
    """Exclusive."""

    operations: tuple[Operation, ...] | None = None
    """Only for entries; facts have kinds."""

    kinds: tuple[FactKind, ...] | None = None
    """Only for facts; entries have operations."""

    versions: bool = False
    """Only versions of the objects themselves, no Events about them."""

    resource_versions: tuple[str, ...] | None = None
    """Only entries with these resource versions."""

    beside: tuple[int, ...] = ()
    """Positions of entries to return in addition to those about the node."""

    code: int | None = None
    """Only audited requests with this status code."""

    occurred: Window | None = None
    """Only entries with ``occurred_at`` in this window; not indexed."""


@dataclass(frozen=True, slots=True)
class Incarnation:
    """One incarnation of an object that the log names."""

    number: int
    identity: ObjectIdentity


class Place(NamedTuple):
    """Objects to search: those of a kind, in a namespace."""

    group: str
    kind: str
    namespace: str | None
    """None for all; empty for objects without a namespace."""


Places = Collection[Place] | None
"""Where to search; None for everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomKind:
    """A kind that a CustomResourceDefinition of the log defines."""

    group: str
    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...] = field(default=())
    namespaced: bool = True


class Heartbeats(Document, frozen=True):
    """Updates that were counted instead of stored."""

    count: int
    last_at: datetime | None
    resource_version: str | None = msgspec.field(name="_resource_version")


class WorkloadLife(NamedTuple):
    """The top of an owner chain, and the span of its Pods.

    Without Pods, the object itself and its own span.
    """

    top: ObjectIdentity
    began_at: datetime
    """When the first of its Pods was observed first."""

    position: int
    """Of the entry that showed it."""

    ended_at: datetime | None
    """When the last of them had ended; None while any has not."""

    has_pods: bool
    """Whether one of its Pods was bound, or has an owner."""

    def joined(self, later: "WorkloadLife") -> "WorkloadLife":
        """Join the parts of a life in the archive and in the database."""
        return WorkloadLife(
            self.top,
            min(self.began_at, later.began_at),
            min(self.position, later.position),
            later.ended_at,
            self.has_pods or later.has_pods,
        )
