"""What answers ask of a log: each query says what is wanted, and for what.

Questions ask for what can answer them, and not for all there is of a node:
most facts of a fleet are the daily life of Pods. The port has one method for
each family of queries, so that a wrapper treats a family alike; the store has
one statement for each query.
"""

from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import ClassVar, Generic, TypeVar

from recorder.answers.nouns import (
    CustomKind,
    Heartbeats,
    Incarnation,
    Part,
    Places,
    Selection,
    Version,
)
from recorder.explain.needs import ObjectName
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.reference import ObjectIdentity

__all__ = [
    "ALWAYS",
    "ActiveNodes",
    "ActiveNodesNear",
    "CustomKinds",
    "EntryQuery",
    "FactListQuery",
    "FactQuery",
    "HeartbeatsOf",
    "Incarnations",
    "Kinds",
    "Labels",
    "LastSign",
    "ListQuery",
    "NameQuery",
    "NodeLabels",
    "NodeNames",
    "NodePlaces",
    "NodesBefore",
    "NodesLike",
    "ObjectNames",
    "ObjectsLike",
    "PodsOn",
    "PreemptedPods",
    "Purpose",
    "Span",
    "StateQuery",
    "Stay",
    "Tenants",
    "WordsNear",
    "once",
]

ALWAYS = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""A span that holds every time; the database has room for a day more."""

Span = tuple[datetime | None, datetime | None]
Labels = Mapping[str, str]
"""Of a node, by their keys."""

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")


def once(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    """Return items without those of a key that was there before."""
    found: dict[Hashable, Item] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Stay:
    """A node, and the time in which its Pods are asked about."""

    node: str
    since: datetime
    until: datetime


class Purpose(Enum):
    """What facts are read for, and which field of the query they are of."""

    ALL = auto()
    """Everything about the nodes, and locks that may name one of them."""

    EVIDENCE = auto()
    """What may explain what happened to the nodes: not the daily life of
    their Pods, nor that these had to go."""

    DISRUPTION = auto()
    """That Pods had to go, seen during the stays, which may not overlap for
    one node."""

    REQUESTS = auto()
    """What audit says of the objects, which name no node themselves."""

    SIGNS = auto()
    """What is about nodes as such, of the whole fleet."""

    LOSSES = auto()
    """The signs that show losses, arrivals and boots. Of Nodes that appeared
    at least the labels of their place, and whether Ready was Unknown."""

    LIVES = auto()
    """How the objects of the UIDs came and went."""

    FAMILY = auto()
    """Everything about the objects of the UIDs and what they control, except
    what Events and audit say of them."""

    FAMILIES = auto()
    """The lives of the objects of the UIDs, of their owners and their Pods."""

    ENTRIES = auto()
    """What the entries say."""


OF_UIDS = {Purpose.LIVES, Purpose.FAMILY, Purpose.FAMILIES}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """Facts for a purpose, returned in the order of the log."""

    purpose: Purpose
    nodes: Collection[str] = ()
    locks: Collection[str] = ()
    """Keys of annotations that are locks, which may hold ``*``."""

    stays: Collection[Stay] = ()
    objects: Collection[ObjectName] = ()
    uids: Collection[str] = ()
    entries: Mapping[int, datetime] | None = None
    """When the entries at these positions were recorded."""

    since: datetime | None = None
    """Inclusive; by when it happened."""

    until: datetime | None = None
    """Exclusive."""

    @property
    def span(self) -> Span | None:
        """The time that is asked about; None for whatever is open."""
        is_of_a_time = self.purpose not in {*OF_UIDS, Purpose.ENTRIES}
        return (self.since, self.until) if is_of_a_time else None

    @property
    def of_whole_days(self) -> bool:
        """Whether thinned days have nothing of it that the database lacks."""
        return self.purpose in {Purpose.DISRUPTION, Purpose.LIVES}


@dataclass(frozen=True, slots=True)
class ListQuery(Generic[Item]):
    """A list in the order of the log, which is read page by page."""

    selection: Selection

    def place(self, one: Item) -> tuple[int, int]:
        """Return the place of an item: its entry, and which of its facts."""
        raise NotImplementedError

    def counted(self) -> "ListQuery[Item]":
        """Return the query for items that are only counted."""
        return self

    async def newest(
        self, pages: AsyncIterator[Sequence[Item]], count: int
    ) -> int | None:
        """Return the position after which the newest of some pages lie.

        None where there are no more than that.
        """
        places: deque[int] = deque(maxlen=count + 1)
        async for page in pages:
            places.extend(self.place(one)[0] for one in page)
        return places[0] if len(places) > count else None


@dataclass(frozen=True, slots=True)
class EntryQuery(ListQuery[Entry]):
    """Entries."""

    parts: Part = Part.LISTED
    """What is read of each; the rest is left empty."""

    def place(self, one: Entry) -> tuple[int, int]:
        """Return the place of an entry."""
        return one.entry.position, 0

    def counted(self) -> "EntryQuery":
        """Return the query without parts."""
        return EntryQuery(self.selection, Part(0))


@dataclass(frozen=True, slots=True)
class FactListQuery(ListQuery[StoredFact]):
    """Facts, whatever they are for."""

    def place(self, one: StoredFact) -> tuple[int, int]:
        """Return the place of a fact."""
        return one.entry.position, one.index


class NameQuery(Generic[Item]):
    """Names: of nodes, objects, kinds, or UIDs of Pods."""

    __slots__ = ()
    of_whole_days: ClassVar[bool] = False
    """Whether thinned days have nothing of it that is not in the database:
    they lack only Events, audit records and silences."""

    @property
    def span(self) -> Span | None:
        """The time that is asked about; None for whatever is open."""
        return None

    def identity(self, one: Item) -> Hashable:
        """Return what makes two of the names the same."""
        return one

    def both(self, old: Sequence[Item], new: Sequence[Item]) -> Sequence[Item]:
        """Return the names in both halves of a log, each once."""
        return self._once(old, new)

    def _once(self, *halves: Sequence[Item]) -> list[Item]:
        return once((one for half in halves for one in half), self.identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveNodes(NameQuery[str]):
    """Nodes of which the log says more than that they exist."""

    since: datetime | None
    until: datetime | None
    observed_since: datetime | None

    @property
    def span(self) -> Span:
        """The time that is asked about."""
        return self.since, self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveNodesNear(NameQuery[str]):
    """Those of some nodes to which something happened near some times."""

    names: Collection[str]
    times: Collection[datetime]
    within: timedelta


@dataclass(frozen=True, slots=True)
class NodeNames(NameQuery[str]):
    """Nodes that any entry concerns."""

    names: Collection[str] | None = None
    """Those of some; None for all, as many as are useful to compare with."""

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Return the names in order."""
        return sorted(self._once(old, new))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesLike(NameQuery[str]):
    """Nodes with a text in their names, those first that begin with it."""

    text: str
    limit: int
    anywhere: bool = True
    """False for those alone that begin with it."""

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Return those of the newer half first."""
        return self._once(new, old)[: self.limit]


@dataclass(frozen=True, slots=True)
class PodsOn(NameQuery[str]):
    """UIDs of all Pods that may have been on nodes during some stays."""

    of_whole_days = True
    stays: Collection[Stay]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptedPods(NameQuery[str]):
    """UIDs of all Pods of nodes that may have made room for others."""

    of_whole_days = True
    nodes: Collection[str]
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsLike(NameQuery[ObjectIdentity]):
    """Objects with a text in their names, each once, whatever its UIDs."""

    text: str
    kind: str | None
    limit: int
    within: Places = None

    def identity(self, one: ObjectIdentity) -> Hashable:
        """Return all but the UID."""
        return one.group, one.kind, one.namespace, one.name

    def both(
        self, old: Sequence[ObjectIdentity], new: Sequence[ObjectIdentity]
    ) -> Sequence[ObjectIdentity]:
        """Return those of the newer half first."""
        return self._once(new, old)[: self.limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incarnations(NameQuery[Incarnation]):
    """The objects of a name, one for each incarnation."""

    kinds: Collection[tuple[str, str]]
    namespace: str | None
    """None for any."""

    name: str

    def identity(self, one: Incarnation) -> int:
        """Return its number."""
        return one.number

    def both(
        self, old: Sequence[Incarnation], new: Sequence[Incarnation]
    ) -> Sequence[Incarnation]:
        """Return the incarnations by number."""
        return sorted(self._once(old, new), key=self.identity)


@dataclass(frozen=True, slots=True)
class ObjectNames(NameQuery[tuple[str, str]]):
    """Namespace and name of objects, as many as are useful to compare with."""

    kinds: Collection[tuple[str, str]]

    def both(
        self, old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
    ) -> Sequence[tuple[str, str]]:
        """Return the names in order."""
        return sorted(self._once(old, new))


@dataclass(frozen=True, slots=True)
class Kinds(NameQuery[tuple[str, str]]):
    """Group and name of every kind."""


@dataclass(frozen=True, slots=True)
class CustomKinds(NameQuery[CustomKind]):
    """The kinds that the cluster's definitions define."""

    def identity(self, one: CustomKind) -> Hashable:
        """Return its group and name."""
        return one.group, one.kind

    def both(
        self, old: Sequence[CustomKind], new: Sequence[CustomKind]
    ) -> Sequence[CustomKind]:
        """Return those of the newer half first."""
        return self._once(new, old)


@dataclass(frozen=True, slots=True)
class WordsNear(NameQuery[str]):
    """Reasons and actors to compare with one; none if the log has it."""

    word: str

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Return none if one half has the word."""
        return self._once(old, new) if old and new else ()


class StateQuery(Generic[Key, Found]):
    """Something that the log knows of each of some things."""

    __slots__ = ()
    of_whole_days: ClassVar[bool] = True

    @property
    def span(self) -> Span | None:
        """The time that is asked about; None for whatever is open."""
        return None

    def both(self, old: Found, new: Found) -> Found:
        """Return what both halves of a log know of one thing."""
        del old
        return new


@dataclass(frozen=True, slots=True)
class LastSign(StateQuery[str, datetime]):
    """When the last sign about a node was, if there was one."""

    of_whole_days = False
    node: str

    def both(self, old: datetime, new: datetime) -> datetime:
        """Return the later one."""
        return max(old, new)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLabels(StateQuery[str, Sequence[Labels]]):
    """All labels that nodes had in a time, in their order.

    Of the nodes that ever had this value: of a key, or of any that says where
    a node stands; a few more may be among them. Before it was first seen a
    node has its first labels, and when it is gone its last: what happened to
    it may have effects after it.
    """

    value: str
    key: str | None = None
    since: datetime | None
    until: datetime | None

    @property
    def span(self) -> Span:
        """The time that is asked about."""
        return self.since, self.until

    def both(
        self,
        old: Sequence[Labels],
        new: Sequence[Labels],
    ) -> Sequence[Labels]:
        """Return all of them, each once."""
        return [*old, *(labels for labels in new if labels not in old)]


@dataclass(frozen=True, slots=True)
class NodePlaces(StateQuery[str, Labels]):
    """Of the labels with which nodes appeared, those of their place."""

    names: Collection[str] | None = None
    """None for all nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesBefore(StateQuery[str, Version]):
    """The newest version of each Node before a time."""

    names: Collection[str]
    at: datetime

    @property
    def span(self) -> Span:
        """The time that is asked about."""
        return self.at, self.at

    def both(self, old: Version, new: Version) -> Version:
        """Return the older: in days that were dropped, some others are new."""
        del new
        return old


@dataclass(frozen=True, slots=True)
class HeartbeatsOf(StateQuery[int, Heartbeats]):
    """Heartbeats that were counted of live objects, by `Incarnation`."""

    numbers: Collection[int]


@dataclass(frozen=True, slots=True)
class Tenants(StateQuery[str, Collection[str]]):
    """Of nodes the namespaces of all Pods that they ran."""

    names: Collection[str]

    def both(self, old: Collection[str], new: Collection[str]) -> set[str]:
        """Return all of them."""
        return {*old, *new}
