"""Folds sightings of relations of places into a topology with its times.

A sighting is what one witness shows at one time: that a place is behind a
parent, or behind none any more. Of several witnesses of one relation the later
sighting holds; if it ends, the latest one that another witness still shows
holds again. What contradicts it is kept, so that both can be shown.

Pure: the same sightings give the same topology in any order. Sightings of one
time are ordered by witness and parent.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from recorder.model.moment import LAST
from recorder.model.place import Place
from recorder.model.reference import EntryName


class Relation(StrEnum):
    """How a child is related to its parent."""

    BEHIND = "behind"
    """What befalls the parent can befall the child."""

    HOST_OF = "host of"
    """The parent is the machine that the child is built into."""


class Sighting(NamedTuple):
    """What a witness shows of one relation at a time."""

    at: datetime
    child: Place
    relation: Relation
    slot: str
    """Which of its parents: a child has one of each slot, such as a rack, a
    PDU of feed B, or what the port mlx5_0 leads to."""

    parent: Place | None
    """None if it is no longer behind one."""

    witness: str
    """What shows it: the key of a label, the source of a claim, a file."""

    entry: EntryName | None = None
    """The entry that proves it; None of a file of the site."""


class Edge(NamedTuple):
    """A relation that held for a time."""

    child: Place
    relation: Relation
    slot: str
    parent: Place
    since: datetime
    until: datetime | None
    """None while it holds."""

    witness: str
    entry: EntryName | None


class Conflict(NamedTuple):
    """Two witnesses that show different parents at one time."""

    holds: Sighting
    other: Sighting


Slot = tuple[Place, Relation, str]


class Topology:
    """Relations of places, each with the time in which it held."""

    def __init__(self, sightings: Iterable[Sighting] = ()) -> None:
        """Fold sightings, which may come in any order."""
        found: dict[Slot, list[Sighting]] = {}
        for one in set(sightings):
            found.setdefault((one.child, one.relation, one.slot), []).append(
                one
            )
        self._standing: dict[Slot, list[_Standing]] = {}
        self._children: dict[Place, set[Slot]] = {}
        self._slots: dict[Place, set[Slot]] = {}
        for slot, seen in found.items():
            self._standing[slot] = _standing(seen)
            self._slots.setdefault(slot[0], set()).add(slot)
            for one in seen:
                if one.parent is not None:
                    self._children.setdefault(one.parent, set()).add(slot)

    @property
    def places(self) -> Sequence[Place]:
        """Everything that a sighting names, in order."""
        return sorted({*self._slots, *self._children})

    def edges(self, place: Place) -> Sequence[Edge]:
        """Return all relations of a place as child and parent, with times."""
        slots = self._slots.get(place, set()) | self._children.get(
            place, set()
        )
        return sorted(
            edge
            for slot in slots
            for edge in self._edges(slot)
            if place in {edge.child, edge.parent}
        )

    def parents(
        self, place: Place, at: datetime, relation: Relation = Relation.BEHIND
    ) -> Sequence[Place]:
        """Return what a place was directly behind at a time, in order."""
        found = {
            holds.parent
            for slot in self._slots.get(place, ())
            if slot[1] is relation
            and (holds := self._holding(slot, at)) is not None
        }
        return sorted(one for one in found if one is not None)

    def children(
        self, place: Place, at: datetime, relation: Relation = Relation.BEHIND
    ) -> Sequence[Place]:
        """Return what was directly behind a place at a time, in order."""
        return sorted(
            {
                slot[0]
                for slot in self._children.get(place, ())
                if slot[1] is relation
                and (holds := self._holding(slot, at)) is not None
                and holds.parent == place
            }
        )

    def behind(self, place: Place, at: datetime) -> frozenset[Place]:
        """Return everything that was behind a place, at any distance.

        A place is not behind itself, even if sightings form a ring.
        """
        return self._reached(place, at, self.children)

    def at_or_behind(self, place: Place, at: datetime) -> frozenset[Place]:
        """Return a place, and everything that was behind it."""
        return self.behind(place, at) | {place}

    def ever_behind(self, place: Place) -> frozenset[Place]:
        """Return everything that was ever behind a place."""
        return self._reached(
            place,
            LAST,
            lambda one, _: sorted(
                slot[0]
                for slot in self._children.get(one, ())
                if slot[1] is Relation.BEHIND
            ),
        )

    def above(self, place: Place, at: datetime) -> frozenset[Place]:
        """Return everything that a place was behind, at any distance."""
        return self._reached(place, at, self.parents)

    def conflicts(self, at: datetime) -> Sequence[Conflict]:
        """Return what witnesses contradict at a time, and what holds."""
        return sorted(
            Conflict(holds, other)
            for slot in self._standing
            if (holds := self._holding(slot, at)) is not None
            for other in self._at(slot, at).values()
            if other.parent != holds.parent
        )

    @staticmethod
    def _reached(
        place: Place,
        at: datetime,
        step: Callable[[Place, datetime], Sequence[Place]],
    ) -> frozenset[Place]:
        found: set[Place] = set()
        new = [place]
        while new:
            near = {one for last in new for one in step(last, at)}
            new = sorted(near - found)
            found.update(new)
        return frozenset(found - {place})

    def _at(self, slot: Slot, at: datetime) -> Mapping[str, Sighting]:
        """Return what witnesses still show, by witness."""
        states = self._standing[slot]
        index = bisect_right(states, at, key=lambda state: state.at)
        return states[index - 1].shown if index else {}

    def _holding(self, slot: Slot, at: datetime) -> Sighting | None:
        return max(self._at(slot, at).values(), key=_order, default=None)

    def _edges(self, slot: Slot) -> Iterator[Edge]:
        held: Edge | None = None
        for state in self._standing[slot]:
            now = max(state.shown.values(), key=_order, default=None)
            if (
                held is not None
                and now is not None
                and now.parent == held.parent
            ):
                continue
            if held is not None:
                yield held._replace(until=state.at)
                held = None
            if now is not None and now.parent is not None:
                held = Edge(
                    *slot, now.parent, state.at, None, now.witness, now.entry
                )
        if held is not None:
            yield held


class _Standing(NamedTuple):
    """What witnesses of one slot still show from a time on."""

    at: datetime
    shown: Mapping[str, Sighting]


def _order(one: Sighting) -> tuple[datetime, str, str, str]:
    return one.at, one.witness, str(one.parent or ""), str(one.entry or "")


def _standing(seen: Iterable[Sighting]) -> list[_Standing]:
    states: list[_Standing] = []
    shown: dict[str, Sighting] = {}
    for one in sorted(seen, key=_order):
        if one.parent is None:
            shown.pop(one.witness, None)
        else:
            shown[one.witness] = one
        if states and states[-1].at == one.at:
            states.pop()
        states.append(_Standing(one.at, dict(shown)))
    return states
