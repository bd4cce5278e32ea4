"""The nouns in which answers get what they need from a log."""

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

__all__ = [
    "CustomKind",
    "Heartbeats",
    "Incarnation",
    "Part",
    "Place",
    "Places",
    "Selection",
    "Version",
    "is_about_events",
]


def is_about_events(resource: str | None) -> bool:
    """Return whether a resource, in its written form, is that of Events."""
    if resource is None or resource.count("/") not in {1, 2}:
        return False
    parsed = Resource.parse(resource)
    return parsed.plural == "events" and parsed.group in {"", "events.k8s.io"}


class Part(Flag):
    """What is read of an entry only if somebody needs it."""

    RESOURCE = auto()
    NODE = auto()
    WORDS = auto()
    """The reason and the actor."""

    OBJECT = auto()
    TOLD = auto()
    """The document, of Events and of what the recorder says itself."""

    DOCUMENT = auto()
    """The document of every line."""

    LISTED = RESOURCE | NODE | WORDS | OBJECT | TOLD
    OPENED = LISTED | DOCUMENT


@dataclass(frozen=True, slots=True)
class Version:
    """An object as one entry shows it."""

    identity: ObjectIdentity
    resource: str
    raw: bytes
    gone: bool = False
    """Whether it is the last, with which the object ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which entries are wanted; what is None does not narrow."""

    node: str | None = None
    objects: tuple[int, ...] | None = None
    """Numbers of `Incarnation`: the incarnations of one object."""

    source: str | None = None
    reason: str | None = None
    actor: str | None = None
    since: datetime | None = None
    """Inclusive, as everywhere; by ``observed_at``."""

    until: datetime | None = None
    """Exclusive."""

    operations: tuple[Operation, ...] | None = None
    """Of entries; facts have kinds."""

    kinds: tuple[FactKind, ...] | None = None
    """Of facts; entries have operations."""

    versions: bool = False
    """Only versions of the objects themselves, no Events about them."""

    resource_versions: tuple[str, ...] | None = None
    """Only entries of these versions."""

    beside: tuple[int, ...] = ()
    """Positions of entries that are wanted beside those about the node."""

    code: int | None = None
    """Only audited requests that were answered with this status code."""

    occurred: Window | None = None
    """Only entries that claim to be of this time; no index leads to them."""


@dataclass(frozen=True, slots=True)
class Incarnation:
    """An object that the log names, one for each incarnation."""

    number: int
    identity: ObjectIdentity


class Place(NamedTuple):
    """Where objects are looked for: those of a kind, in a namespace."""

    group: str
    kind: str
    namespace: str | None
    """None for any; empty where they have none."""


Places = Collection[Place] | None
"""None for all."""


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
