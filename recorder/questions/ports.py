"""What answers need from the log, and the nouns in which they get it.

`Reading` is one log as it stood when it was opened: the log only grows, so
everything up to that size stays as it was seen, however long the answer takes.
"""

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import datetime
from enum import Flag, auto
from typing import NamedTuple, Protocol

from recorder.coverage.ports import Record
from recorder.model.entry import Operation
from recorder.model.fact import FactKind, StoredFact
from recorder.model.reference import EntryName, ObjectIdentity, Resource
from recorder.model.window import Window
from recorder.questions.fact_ports import Facts, Gangs

__all__ = [
    "CustomKind",
    "FactPages",
    "Heartbeats",
    "Line",
    "OnDay",
    "Part",
    "Place",
    "Places",
    "Reading",
    "Selection",
    "Incarnation",
    "Version",
    "is_about_events",
]


def is_about_events(resource: str | None) -> bool:
    """Return whether a resource, in its written form, is that of Events."""
    if resource is None or resource.count("/") not in {1, 2}:
        return False
    parsed = Resource.parse(resource)
    return parsed.plural == "events" and parsed.group in {"", "events.k8s.io"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry as it is listed."""

    entry: EntryName
    operation: Operation
    source: str
    resource: str | None
    identity: ObjectIdentity | None
    resource_version: str | None
    node: str | None
    reason: str | None
    actor: str | None
    occurred_at: datetime | None
    observed_at: datetime
    recorded_at: datetime
    raw: bytes | None
    """The document, where it was asked for or is needed to tell what the
    entry says: of Events and of what the recorder says itself."""

    told: str = ""
    """What the others say in words, where that was asked for."""


class Part(Flag):
    """What is read of a line only if somebody needs it."""

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


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """Updates of an object that were counted instead of stored."""

    count: int
    last_at: datetime | None
    resource_version: str | None


OnDay = Callable[[datetime], None]
"""Gets the days that are looked through, where no index leads to what is
asked for: each may take some seconds."""


class FactPages(Protocol):
    """The facts of one log, to be listed."""

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return a position behind which about the newest facts lie."""

    def pages(
        self, selection: Selection, *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Yield facts behind a position, in pages of the limit at most."""

    async def of_lines(self, lines: Sequence[Line]) -> Sequence[StoredFact]:
        """Return the facts of some entries, in log order."""


class Reading(Record, Protocol):
    """One log, as it stood at one moment."""

    @property
    def facts(self) -> Facts:
        """What happened, as the entries tell it."""

    @property
    def gangs(self) -> Gangs:
        """Who was where, and with whom."""

    @property
    def fact_pages(self) -> FactPages:
        """The same, to be listed."""

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare to be asked about a time, which may lie in the archive.

        Without a beginning that is what is kept outside of it, if anything
        is.
        """

    def as_of(self, position: int) -> "Reading":
        """Return the log as it was when it ended at a position."""

    async def pinned(self, position: int) -> "Reading":
        """Return the log as if nothing had come behind a position.

        Its record ends there, so that the same is answered at any time.
        """

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest ``count`` lines lie.

        Zero where there are no more than that.
        """

    def lines(
        self,
        selection: Selection,
        *,
        after: int,
        parts: Part = Part.LISTED,
        limit: int | None = None,
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield lines in log order, page by page, in bounded memory.

        What is none of the parts is left empty. A page has no more lines than
        the limit, so that who needs a few does not wait for many.
        """

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Line | None:
        """Return the newest line of a selection, with its document.

        Of the whole log, or of what lies before a position.
        """

    async def nodes_before(
        self, names: Collection[str], at: datetime
    ) -> Mapping[str, Version]:
        """Return the newest version of each Node before a time, by name."""

    async def known_nodes(self, names: Collection[str]) -> Collection[str]:
        """Return those nodes that any entry concerns."""

    async def node_names(self) -> Sequence[str]:
        """Return the nodes that entries concern, as far as it is useful."""

    async def search_nodes(
        self, text: str, *, limit: int, anywhere: bool = True
    ) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning."""

    async def search_objects(
        self, text: str, *, kind: str | None, limit: int, within: Places = None
    ) -> Sequence[ObjectIdentity]:
        """Return objects with a text in their names, each once, of a kind.

        Of some places, or of all.
        """

    async def kinds(self) -> Collection[tuple[str, str]]:
        """Return group and name of every kind."""

    async def custom_kinds(self) -> Sequence[CustomKind]:
        """Return the kinds that the cluster's definitions define."""

    async def incarnations(
        self,
        kinds: Collection[tuple[str, str]],
        *,
        namespace: str | None,
        name: str,
    ) -> Sequence[Incarnation]:
        """Return the objects of a name; in any namespace where it is None."""

    async def object_names(
        self, kinds: Collection[tuple[str, str]]
    ) -> Sequence[tuple[str, str]]:
        """Return namespace and name of objects, as far as it is useful."""

    async def heartbeats(
        self, objects: Collection[int]
    ) -> Mapping[int, Heartbeats]:
        """Return what was counted of live objects, by number."""

    async def words(self, wanted: str) -> Sequence[str]:
        """Return reasons and actors to compare with one.

        Empty where the log has the word.
        """
