"""Where nodes were at a time: by their labels, by claims and by the site.

Labels of a Node change: those of the hour that a question is about decide,
and before the first ones that the log has, those.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Final

from recorder.answers.places import Labels as Selector
from recorder.answers.places import rack_of
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    FactQuery,
    Labels,
    NodeLabels,
    NodeNames,
    Purpose,
)
from recorder.explain.knowledge import Knowledge
from recorder.facts.topology import (
    Sighting,
    Topology,
    claimed_relation,
    is_among,
    labelled,
    level_of,
)
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Detail, LabelChanged, Vanished
from recorder.model.place import Place

NONE: Final[Labels] = {}


class Whereabouts:
    """The places of some nodes, at any time."""

    def __init__(
        self, moves: Iterable[StoredFact], relations: Topology
    ) -> None:
        """Take how labels of nodes were and changed, in log order."""
        self._relations = relations
        self._labels: dict[str, list[tuple[datetime, Labels]]] = {}
        for stored in moves:
            node, detail = stored.fact.node, stored.fact.detail
            is_of_place = (
                not isinstance(detail, LabelChanged)
                or level_of(detail.key) is not None
            )
            if node is not None and is_of_place:
                known = self._labels.setdefault(node, [])
                now = labels_after(detail, known[-1][1] if known else NONE)
                known.append((stored.at, now))
        for known in self._labels.values():
            known.sort(key=itemgetter(0))

    @property
    def moved(self) -> list[str]:
        """The nodes whose places changed."""
        return [
            node
            for node, known in self._labels.items()
            if any(labels != known[0][1] for _, labels in known)
        ]

    def labels(self, node: str, at: datetime) -> Labels:
        """Return the labels of a node that name a place, at a time."""
        known = self._labels.get(node)
        if not known:
            return NONE
        return known[max(0, bisect_right(known, at, key=itemgetter(0)) - 1)][1]

    def rack(self, node: str, at: datetime) -> str | None:
        """Return the rack of a node at a time, or the narrowest place."""
        return rack_of(self.labels(node, at))

    def has_one_behind(
        self, place: Place, nodes: Iterable[str], at: datetime
    ) -> bool:
        """Return whether one of some nodes was behind a place at a time."""
        there = self._relations.at_or_behind(labelled(place), at)
        return any(
            is_among(there, node, self.labels(node, at)) for node in nodes
        )


def labels_after(detail: Detail, before: Labels) -> Labels:
    """Return the labels of a Node after a fact about it; else the same."""
    match detail:
        case Appeared(state=state):
            return state.labels
        case Vanished():
            return NONE
        case LabelChanged(key=key, new=None):
            return {name: v for name, v in before.items() if name != key}
        case LabelChanged(key=key, new=str(new)):
            return {**before, key: new}
        case _:
            return before


async def whereabouts_of(
    reading: Reading, nodes: Collection[str], knowledge: Knowledge
) -> Whereabouts:
    """Return where nodes were, by all that the log has."""
    moves: Sequence[StoredFact] = ()
    if nodes:
        moves = await reading.facts(
            FactQuery(purpose=Purpose.MOVES, nodes=sorted(nodes))
        )
    return Whereabouts(moves, await relations_of(reading, knowledge))


async def relations_of(reading: Reading, knowledge: Knowledge) -> Topology:
    """Return the relations of places that claims and the site state."""
    return Topology(await stated(reading, knowledge))


async def stated(reading: Reading, knowledge: Knowledge) -> Sequence[Sighting]:
    """Return what claims and the site state of relations of places."""
    claims = await reading.facts(FactQuery(purpose=Purpose.RELATIONS))
    seen = (one for stored in claims for one in claimed_relation(stored))
    return [*knowledge.places, *seen]


class Selected:
    """Nodes that a selector matches, also by what was behind its place."""

    def __init__(self, selector: Selector, relations: Topology) -> None:
        self._selector = selector
        self._relations = relations

    def fits(self, node: str, labels: Labels, at: datetime) -> bool:
        """Return whether it matches a node with these labels at a time."""
        chosen = self._selector
        if chosen.place is not None:
            there = self._relations.at_or_behind(labelled(chosen.place), at)
            chosen = replace(chosen, behind=there)
        return chosen.fit(labels, node)

    async def nodes(
        self, reading: Reading, since: datetime | None, until: datetime | None
    ) -> dict[str, bool]:
        """Return what it matched at any time, and whether it always did.

        What a claim or the site placed there may have been elsewhere at
        another time.
        """
        chosen, place = self._selector, self._selector.place
        if place is not None:
            there = self._relations.ever_behind(labelled(place))
            chosen = replace(chosen, behind=there)
        found: dict[str, bool] = {}
        for key, value in chosen.shared:
            had = await reading.states(
                NodeLabels(value=value, key=key, since=since, until=until)
            )
            for name, sets in had.items():
                now = [chosen.fit(labels, name) for labels in sets]
                if any(now):
                    found[name] = all(now) and not chosen.behind
        if chosen.named:
            known = await reading.names(NodeNames(chosen.named))
            found |= dict.fromkeys(known, False)
        return found


async def selected(
    reading: Reading, selector: Selector, knowledge: Knowledge
) -> Selected:
    """Return what matches a selector, with the relations that it needs."""
    if selector.place is None:
        return Selected(selector, Topology())
    return Selected(selector, await relations_of(reading, knowledge))
