"""The other nodes at the time: what failed together has one cause.

Losses that coincide distinguish trouble of a rack, the network or the control
plane from trouble of one machine. A fleet is indexed once and asked for every
verdict: what was lost about a time and what is at a place is looked up.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta
from typing import Final, Self

from recorder.explain.knowledge import Knowledge, shipped
from recorder.explain.signals import signals_of
from recorder.explain.signals.signal import Signal, Subject
from recorder.explain.thresholds import LIMITS
from recorder.facts.bearing import wide_place_of
from recorder.facts.classify.times import moment
from recorder.facts.topology import Topology, cable_of, labelled, places_of
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    Appeared,
    BootChanged,
    ConditionChanged,
    Cordoned,
    Detail,
    LabelChanged,
    LeaseSilent,
    Uncordoned,
)
from recorder.model.moment import FIRST, shifted
from recorder.model.outcomes import Role
from recorder.model.place import Place, PlaceKind
from recorder.model.state import ObjectState

SHUTTING_DOWN: Final = "node is shutting down"
"""A part of the last message of a kubelet when its system shuts down."""


class Moments:
    """When something began for nodes, or ended: all is added, then found."""

    def __init__(self) -> None:
        self._all: list[tuple[datetime, str]] = []
        self._of: dict[str, list[tuple[datetime, bool]]] = defaultdict(list)
        self._near: dict[tuple[datetime, timedelta], frozenset[str]] = {}

    def add(self, node: str, at: datetime, *, begins: bool = True) -> None:
        """Add that it began, or ended, for a node."""
        self._all.append((at, node))
        self._of[node].append((at, begins))
        self._near.clear()

    def of(self, node: str) -> Iterator[datetime]:
        """Yield when it began or ended for a node."""
        yield from (at for at, _ in self._of.get(node, ()))

    def last(self, node: str, before: datetime) -> bool | None:
        """Return whether it held just before a time; None if not known."""
        turns = [one for one in self._of.get(node, ()) if one[0] < before]
        return max(turns)[1] if turns else None

    def near(self, at: datetime, within: timedelta) -> frozenset[str]:
        """Return the nodes for which it began or ended about a time."""
        if not self._near:
            self._all.sort()
        found = self._near.get((at, within))
        if found is None:
            first = bisect_left(self._all, (shifted(at, -within),))
            last = bisect_right(self._all, shifted(at, within), key=_time)
            found = frozenset(node for _, node in self._all[first:last])
            self._near[at, within] = found
        return found


def _time(one: tuple[datetime, str]) -> datetime:
    return one[0]


class Fleet:
    """What is known about all nodes around a time."""

    _down: frozenset[str] = frozenset()
    _cordoned: frozenset[str] = frozenset()

    def __init__(
        self,
        facts: Iterable[StoredFact],
        labels: Mapping[str, Mapping[str, str]] | None = None,
        knowledge: Knowledge | None = None,
        relations: Topology | None = None,
    ) -> None:
        """Take facts about Nodes in the order of the log.

        Args:
            facts: of Nodes and their Leases.
            labels: the labels of the known nodes, by name; those of places
                suffice.
            knowledge: the rules for claims about places.
            relations: what is behind what besides the labels.
        """
        self._relations = relations or Topology()
        self._knowledge = knowledge or shipped()
        self._faults: dict[Place, list[Signal]] = {}
        """What was claimed to be broken, other than nodes."""

        self._mended: dict[tuple[Place, Subject], list[datetime]] = {}
        """When that was claimed to be over."""

        self._unplugged = Moments()
        """When a port of a node lost its neighbor."""

        self._labels = dict(labels or {})
        self._lost = Moments()
        self._renewed = Moments()
        self._booted = Moments()
        self._boots: dict[str, str] = {}
        """The last boot ID of each node."""

        self._heard = Moments()
        """When a node began or ceased to be heard from."""

        self._healed = Moments()
        """When the return of a lost node was observed, by our own clock."""

        self._in_order = Moments()
        """When a node was lost that had announced its shutdown."""

        self._aside = Moments()
        """When a node was cordoned or uncordoned."""

        self.dpus: Mapping[str, Sequence[Signal]] = {}
        """What the DPUs of hosts reported, by host."""

        self.unseen_dpus: Mapping[str, str] = {}
        """Where the DPUs of hosts are recorded that were not found."""

        for stored in facts:
            self._take(stored)
        self._index()

    def _index(self) -> None:
        self.nodes = frozenset(self._labels)
        """The known nodes."""

        there: dict[Place, set[str]] = defaultdict(set)
        for node, labels in self._labels.items():
            for place in places_of(labels).values():
                there[place].add(node)
        self._there = {p: frozenset(nodes) for p, nodes in there.items()}
        """The nodes whose labels name a place."""

    def _take(self, stored: StoredFact) -> None:
        fact = stored.fact
        place = wide_place_of(fact)
        if place is not None:
            self._claim(stored, labelled(place))
        if fact.node is None:
            return
        match fact.detail:
            case LeaseSilent():
                self._renewed.add(fact.node, stored.at)
            case BootChanged(old=old) if old:
                self._boots[fact.node] = fact.detail.new or ""
                self._booted.add(fact.node, stored.observed_at)
                self._heard.add(fact.node, stored.observed_at)
            case LabelChanged(key=key, old=str()) if cable_of(key):
                self._unplugged.add(fact.node, stored.at)
            case ConditionChanged(type="Ready") as detail:
                self._turn(fact.node, stored, detail)
            case Cordoned() | Uncordoned() as turn:
                begins = isinstance(turn, Cordoned)
                self._aside.add(fact.node, stored.observed_at, begins=begins)
            case detail:
                self._see(fact.node, stored, detail)

    def _claim(self, stored: StoredFact, place: Place) -> None:
        for sign in signals_of(stored, self._knowledge, node=""):
            if sign.role is Role.FAULT:
                self._faults.setdefault(place, []).append(
                    sign._replace(place=place)
                )
            elif sign.over:
                key = place, sign.subject
                self._mended.setdefault(key, []).append(stored.at)

    def _see(self, node: str, stored: StoredFact, detail: Detail) -> None:
        if not isinstance(detail, Appeared) or stored.fact.about != "Node":
            return
        state = detail.state
        self._labels[node] = state.labels
        if state.fields.get("unschedulable"):
            # Since when is not known.
            self._aside.add(node, FIRST)
        self._was_lost(node, state)

    def _turn(
        self, node: str, stored: StoredFact, detail: ConditionChanged
    ) -> None:
        old, new = (
            side is not None and side.status == "Unknown"
            for side in (detail.old, detail.new)
        )
        if new and not old:
            # The time it was declared lost: a list may show it much later.
            self._lost.add(node, stored.at)
            self._heard.add(node, stored.at, begins=False)
            said = detail.old.message if detail.old is not None else None
            if SHUTTING_DOWN in (said or ""):
                self._in_order.add(node, stored.at)
        elif old and not new:
            self._heard.add(node, stored.at)
            self._healed.add(node, stored.observed_at)

    def _was_lost(self, node: str, state: ObjectState) -> None:
        """Record a node that is already lost when it is first seen."""
        ready = state.conditions.get("Ready")
        if ready is None or ready.status != "Unknown":
            return
        since = moment(ready.since)
        if since is not None:
            self._lost.add(node, since)
            self._heard.add(node, since, begins=False)

    def knowing(
        self,
        down: Iterable[str],
        aside: Iterable[str] = (),
        labels: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Self:
        """Return it with the nodes that were down or cordoned before a loss.

        And with the labels of those that had others at another time.
        """
        other = copy(self)
        vars(other).update(_down=frozenset(down), _cordoned=frozenset(aside))
        if labels:
            vars(other).update(_labels={**self._labels, **labels})
            other._index()  # noqa: SLF001 - it is one of us
        return other

    def set_aside(self, nodes: frozenset[str], at: datetime) -> frozenset[str]:
        """Return which of some nodes were cordoned at a time."""
        by = shifted(at, timedelta.resolution)
        cordoned = {node for node in nodes if self._aside.last(node, by)}
        return nodes & self._cordoned | cordoned

    def down_before(
        self, nodes: frozenset[str], at: datetime
    ) -> frozenset[str]:
        """Return which of some nodes were already down before a time."""
        before, heard = at - LIMITS.together, self._heard
        silent = {n for n in nodes if heard.last(n, before) is False}
        return nodes & self._down | silent

    def struck_with(
        self, lost: datetime, renewed: datetime, changed: datetime
    ) -> frozenset[str]:
        """Return the nodes that were lost, or lost a port, at once.

        One that had announced its shutdown went down in order.

        Args:
            lost: when a node was declared lost.
            renewed: when it was last heard from.
            changed: when it, or its port, was last seen to change.
        """
        found = (
            self._lost.near(lost, LIMITS.together)
            | self._renewed.near(renewed, LIMITS.together)
            | self._unplugged.near(changed, LIMITS.moment)
        )
        since, until = renewed - LIMITS.together, renewed + LIMITS.patience
        return found - {
            node
            for node in found
            if any(since <= time <= until for time in self._in_order.of(node))
        }

    def booted_after(
        self, nodes: frozenset[str], at: datetime
    ) -> frozenset[str]:
        """Return which nodes that were lost at a time came back by a boot.

        A node that was heard from again before it booted was not down: that
        boot is of another time.
        """
        found = set()
        for node in nodes:
            boots = (t for t in self._booted.of(node) if t >= at)
            boot = min(boots, default=at)
            since, until = at + LIMITS.together, boot - LIMITS.together
            healed = self._healed.of(node)
            if boot > at and not any(since <= t < until for t in healed):
                found.add(node)
        return frozenset(found)

    def of_one_machine(self, node: str) -> list[str]:
        """Return the other nodes with the same boot ID as one."""
        boot = self._boots.get(node)
        same = (
            n for n, other in self._boots.items() if boot and other == boot
        )
        return sorted(n for n in same if n != node)

    def faults_above(self, node: str) -> list[Signal]:
        """Return the faults that were claimed of what a node is behind."""
        return [
            sign
            for place, signs in self._faults.items()
            for sign in signs
            if node in self.nodes_behind(place, sign.at)
        ]

    def is_over(self, sign: Signal, at: datetime) -> bool:
        """Return whether a fault of a place was over by a time."""
        assert sign.place is not None, "it is of a place"
        ends = self._mended.get((sign.place, sign.subject), ())
        return any(sign.at < end <= at for end in ends)

    def places(self, node: str, at: datetime) -> Sequence[Place]:
        """Return what a node was behind at a time, the narrowest first."""
        own = {*places_of(self._labels.get(node, {})).values()}
        for place in [Place(PlaceKind.NODE, node), *own]:
            own |= self._relations.above(place, at)
        return sorted(own, key=lambda p: (len(self.nodes_behind(p, at)), p))

    def nodes_behind(self, place: Place, at: datetime) -> frozenset[str]:
        """Return the known nodes that were behind a place at a time."""
        there = self._relations.at_or_behind(place, at)
        named = {p.name for p in there if p.kind is PlaceKind.NODE}
        return frozenset(named & self.nodes).union(
            *(self._there.get(one, ()) for one in there)
        )
