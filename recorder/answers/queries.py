"""Queries that answers make to a log, by purpose.

A query selects what an answer needs, not all facts about a node: most facts
of a fleet are routine changes of Pods. The port has one method for each
family of queries, so that wrappers handle a family alike; the store has one
statement for each query.
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
    WorkloadLife,
)
from recorder.explain.needs import ObjectName
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.reference import ObjectIdentity

ALWAYS = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""The span of all times; the database allows a day more at both ends."""

Span = tuple[datetime | None, datetime | None]
Labels = Mapping[str, str]
"""Labels of a node: values by key."""

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")


def once(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    """Return the first item of each key, in order."""
    found: dict[Hashable, Item] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Stay:
    """A node, and the span in which to search for its Pods."""

    node: str
    since: datetime
    until: datetime


class Purpose(Enum):
    """The purpose of reading facts; it determines which fields are used."""

    ALL = auto()
    """All facts about the nodes, and about locks that may name them."""

    EVIDENCE = auto()
    """Facts that may explain episodes of the nodes: without routine changes
    and disruptions of their Pods."""

    DISRUPTION = auto()
    """Disruptions of Pods during the stays, which must not overlap for one
    node."""

    REQUESTS = auto()
    """Audited requests for the objects, which name no node themselves, and
    what was claimed of them."""

    REPORTS = auto()
    """Events about the objects, which name no node themselves."""

    SIGNS = auto()
    """Facts about Nodes themselves, of the whole fleet."""

    LOSSES = auto()
    """Signs of losses, arrivals and boots. Nodes that appeared have at least
    the labels of their place, and whether Ready was Unknown."""

    RELATIONS = auto()
    """Claims that relate places, whenever they say that it was."""

    MOVES = auto()
    """Labels of the Nodes that name a place, and changes of their labels,
    without the rest of how they appeared."""

    LABELS = auto()
    """Labels of the Nodes as they appeared, and changes of them."""

    LIVES = auto()
    """Creation and deletion of the objects with the UIDs."""

    FAMILY = auto()
    """Facts about the objects with the UIDs and what they control, without
    Events and requests."""

    FAMILIES = auto()
    """Facts about the objects with the UIDs, their owners and their Pods."""

    ENTRIES = auto()
    """Facts derived from the entries."""


OF_UIDS = {Purpose.LIVES, Purpose.FAMILY, Purpose.FAMILIES}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """Facts for a purpose, in log order."""

    purpose: Purpose
    nodes: Collection[str] = ()
    locks: Collection[str] = ()
    """Keys of annotations that are locks; may contain ``*``."""

    stays: Collection[Stay] = ()
    objects: Collection[ObjectName] = ()
    uids: Collection[str] = ()
    entries: Mapping[int, datetime] | None = None
    """When each entry was recorded, by position."""

    since: datetime | None = None
    """Inclusive; by when the fact happened."""

    until: datetime | None = None
    """Exclusive."""

    @property
    def span(self) -> Span | None:
        """The span of the query; None for all days that are open."""
        is_of_a_time = self.purpose not in {
            *OF_UIDS,
            Purpose.ENTRIES,
            Purpose.MOVES,
            Purpose.RELATIONS,
        }
        return (self.since, self.until) if is_of_a_time else None

    @property
    def of_whole_days(self) -> bool:
        """Whether the database has all of it for thinned days."""
        return self.purpose in {Purpose.DISRUPTION, Purpose.LIVES}


@dataclass(frozen=True, slots=True)
class ListQuery(Generic[Item]):
    """A list in log order, read page by page."""

    selection: Selection

    def place(self, one: Item) -> tuple[int, int]:
        """Return the place of an item: position and index of the fact."""
        raise NotImplementedError

    def counted(self) -> "ListQuery[Item]":
        """Return the query that reads no more than counting needs."""
        return self

    async def newest(
        self, pages: AsyncIterator[Sequence[Item]], count: int
    ) -> int | None:
        """Return the position after which the newest ``count`` items are.

        None if there are no more than that.
        """
        places: deque[int] = deque(maxlen=count + 1)
        async for page in pages:
            places.extend(self.place(one)[0] for one in page)
        return places[0] if len(places) > count else None


@dataclass(frozen=True, slots=True)
class EntryQuery(ListQuery[Entry]):
    """Entries that match the selection."""

    parts: Part = Part.LISTED
    """Parts to read; the others are empty."""

    def place(self, one: Entry) -> tuple[int, int]:
        """Return the place of an entry."""
        return one.entry.position, 0

    def counted(self) -> "EntryQuery":
        """Return the query without parts."""
        return EntryQuery(self.selection, Part(0))


@dataclass(frozen=True, slots=True)
class FactListQuery(ListQuery[StoredFact]):
    """Facts that match the selection."""

    def place(self, one: StoredFact) -> tuple[int, int]:
        """Return the place of a fact."""
        return one.entry.position, one.index


class NameQuery(Generic[Item]):
    """Names: of nodes, objects, kinds, or UIDs of Pods."""

    __slots__ = ()
    of_whole_days: ClassVar[bool] = False
    """Whether the database has all of it for thinned days, which lack only
    Events, audit records and silences."""

    @property
    def span(self) -> Span | None:
        """The span of the query; None for all days that are open."""
        return None

    def identity(self, one: Item) -> Hashable:
        """Return the key by which two names are the same."""
        return one

    def both(self, old: Sequence[Item], new: Sequence[Item]) -> Sequence[Item]:
        """Merge the names in both halves of a log, each once."""
        return self._once(old, new)

    def _once(self, *halves: Sequence[Item]) -> list[Item]:
        return once((one for half in halves for one in half), self.identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveNodes(NameQuery[str]):
    """Nodes with facts other than that they exist."""

    since: datetime | None
    until: datetime | None
    observed_since: datetime | None

    @property
    def span(self) -> Span:
        """The span of the query."""
        return self.since, self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveNodesNear(NameQuery[str]):
    """Nodes with activity near any of some times, of these names."""

    names: Collection[str]
    times: Collection[datetime]
    within: timedelta


@dataclass(frozen=True, slots=True)
class NodeNames(NameQuery[str]):
    """Nodes that entries concern."""

    names: Collection[str] | None = None
    """Only these; None for all, limited to what suggestions need."""

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Merge the names, sorted."""
        return sorted(self._once(old, new))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesLike(NameQuery[str]):
    """Nodes whose names contain a text; those that begin with it first."""

    text: str
    limit: int
    anywhere: bool = True
    """False for only those that begin with it."""

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Merge the halves, the newer one first."""
        return self._once(new, old)[: self.limit]


@dataclass(frozen=True, slots=True)
class PodsOn(NameQuery[str]):
    """UIDs of Pods that may have been on nodes during stays."""

    of_whole_days = True
    stays: Collection[Stay]


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplacedPods(NameQuery[str]):
    """UIDs of Pods on nodes that may have been evicted or preempted."""

    of_whole_days = True
    nodes: Collection[str]
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsLike(NameQuery[ObjectIdentity]):
    """Objects whose names contain a text, each once for all its UIDs."""

    text: str
    kind: str | None
    limit: int
    within: Places = None

    def identity(self, one: ObjectIdentity) -> Hashable:
        """Return its group, kind, namespace and name."""
        return one.group, one.kind, one.namespace, one.name

    def both(
        self, old: Sequence[ObjectIdentity], new: Sequence[ObjectIdentity]
    ) -> Sequence[ObjectIdentity]:
        """Merge the halves, the newer one first."""
        return self._once(new, old)[: self.limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incarnations(NameQuery[Incarnation]):
    """The incarnations of the objects with a name."""

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
        """Merge the incarnations, sorted by number."""
        return sorted(self._once(old, new), key=self.identity)


@dataclass(frozen=True, slots=True)
class ObjectNames(NameQuery[tuple[str, str]]):
    """Namespace and name of objects, limited to what suggestions need."""

    kinds: Collection[tuple[str, str]]

    def both(
        self, old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
    ) -> Sequence[tuple[str, str]]:
        """Merge the names, sorted."""
        return sorted(self._once(old, new))


@dataclass(frozen=True, slots=True)
class Kinds(NameQuery[tuple[str, str]]):
    """Group and name of all kinds in the log."""


@dataclass(frozen=True, slots=True)
class CustomKinds(NameQuery[CustomKind]):
    """Kinds defined by CustomResourceDefinitions in the log."""

    def identity(self, one: CustomKind) -> Hashable:
        """Return its group and name."""
        return one.group, one.kind

    def both(
        self, old: Sequence[CustomKind], new: Sequence[CustomKind]
    ) -> Sequence[CustomKind]:
        """Merge the halves, the newer one first."""
        return self._once(new, old)


@dataclass(frozen=True, slots=True)
class WordsNear(NameQuery[str]):
    """Reasons and actors similar to a word; none if the log has the word."""

    word: str

    def both(self, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
        """Merge the words; none if one half has the word."""
        return self._once(old, new) if old and new else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadLives(NameQuery[WorkloadLife]):
    """Workloads of a window, as far as owner chains of Pods show.

    Gangs without Pods, and Pods that were never bound, unless nodes are named.

    Labels that name a workload are not read. The result may contain workloads
    whose Pods ended before, if that is not known.
    """

    of_whole_days = True
    since: datetime | None
    until: datetime | None
    nodes: Collection[str] | None = None
    """Only those with Pods on these nodes."""

    struck: Collection[str] | None = None
    """Only those that may have lost Pods in the window: one of them ended or
    had to go, or was on one of these nodes."""

    @property
    def span(self) -> Span:
        """The span of the query."""
        return self.since, self.until

    def both(
        self, old: Sequence[WorkloadLife], new: Sequence[WorkloadLife]
    ) -> Sequence[WorkloadLife]:
        """Merge the lives of each workload, the first begun first."""
        found: dict[ObjectIdentity, WorkloadLife] = {}
        for life in (*old, *new):
            known = found.get(life.top)
            found[life.top] = life if known is None else known.joined(life)
        return sorted(
            found.values(), key=lambda life: (life.began_at, life.position)
        )


class StateQuery(Generic[Key, Found]):
    """A state for each of some keys."""

    __slots__ = ()
    of_whole_days: ClassVar[bool] = True

    @property
    def span(self) -> Span | None:
        """The span of the query; None for all days that are open."""
        return None

    def both(self, old: Found, new: Found) -> Found:
        """Merge the states of one key in both halves of a log."""
        del old
        return new


@dataclass(frozen=True, slots=True)
class LastSign(StateQuery[str, datetime]):
    """When the last sign about a node was."""

    of_whole_days = False
    node: str

    def both(self, old: datetime, new: datetime) -> datetime:
        """Return the later time."""
        return max(old, new)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLabels(StateQuery[str, Sequence[Labels]]):
    """All sets of labels that nodes had in a span, in order.

    Of nodes that ever had this value of a key, or of any key that names a
    place; the result may contain other nodes. A node has its first labels
    before it was observed, and its last ones after it was deleted, because
    its failure may have effects later.
    """

    value: str
    key: str | None = None
    since: datetime | None
    until: datetime | None

    @property
    def span(self) -> Span:
        """The span of the query."""
        return self.since, self.until

    def both(
        self,
        old: Sequence[Labels],
        new: Sequence[Labels],
    ) -> Sequence[Labels]:
        """Merge the sets of labels, each once."""
        return [*old, *(labels for labels in new if labels not in old)]


@dataclass(frozen=True, slots=True)
class NodePlaces(StateQuery[str, Labels]):
    """The labels of nodes that name their place, as of their appearance."""

    names: Collection[str] | None = None
    """None for all nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesBefore(StateQuery[str, Version]):
    """The newest version of each Node before a time."""

    names: Collection[str]
    at: datetime

    @property
    def span(self) -> Span:
        """The span of the query."""
        return self.at, self.at

    def both(self, old: Version, new: Version) -> Version:
        """Return the version of the archive, which has all of dropped days."""
        del new
        return old


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsBefore(StateQuery[tuple[str, str], Version]):
    """The newest version of each object before a time.

    By namespace and name, of a kind with all names under which it is filed.
    """

    kinds: Sequence[tuple[str, str]]
    names: Collection[str]
    namespace: str | None
    """None for any."""

    at: datetime

    @property
    def span(self) -> Span:
        """The span of the query."""
        return self.at, self.at

    def both(self, old: Version, new: Version) -> Version:
        """Return the later version."""
        return max(old, new, key=lambda version: version.position)


@dataclass(frozen=True, slots=True)
class HeartbeatsOf(StateQuery[int, Heartbeats]):
    """Counted heartbeats of live objects, by number of `Incarnation`."""

    numbers: Collection[int]


@dataclass(frozen=True, slots=True)
class Tenants(StateQuery[str, Collection[str]]):
    """Namespaces of all Pods that nodes ran, by node."""

    names: Collection[str]

    def both(self, old: Collection[str], new: Collection[str]) -> set[str]:
        """Return the union."""
        return {*old, *new}
