"""Other nodes around an episode of one: their losses, places and states."""

from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import datetime, timedelta

from recorder.answers.loading.dpus import dpus_of
from recorder.answers.loading.places import Whereabouts, relations_of
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    FactQuery,
    NodeLabels,
    NodePlaces,
    NodesBefore,
    Purpose,
)
from recorder.explain.breadth import (
    beside,
    needs_every_place,
    seen_with_others,
    shared_places,
    together,
)
from recorder.explain.knowledge import Knowledge
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.tracks.transition import Transition
from recorder.facts import appearance
from recorder.facts.classify.times import moment
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import NodeState, advance
from recorder.facts.topology import Topology, label_of
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import Claimed
from recorder.model.moment import shifted
from recorder.model.observation import LEASES, NODES
from recorder.model.window import Window

LOOKBACK = timedelta(days=1)
"""How far before a window causes are searched for."""

PLACES_MAX = 64
"""Places whose arrivals are read, the narrowest first."""

AROUND = timedelta(minutes=2)
AFTER = timedelta(minutes=30)
"""How long before and after an episode other nodes are examined."""

HIDING_RETURNS = frozenset({None, NODES, LEASES})
"""Resources whose gaps may hide that a Node came back; None for all."""


async def states_at(
    reading: Reading, names: Collection[str], at: datetime | None
) -> dict[str, NodeState]:
    """Return the states of nodes by their newest versions before a time."""
    if at is None or not names:
        return {}
    states = {}
    versions = await reading.states(NodesBefore(names=names, at=at))
    for name, version in versions.items():
        detail = appearance(version.raw, version.resource)
        if detail is None:
            continue
        fact = Fact(
            kind=FactKind.APPEARED,
            node=name,
            object=version.identity,
            detail=detail,
        )
        states[name] = advance(NodeState(), fact)
    return states


class FleetContext:
    """The other nodes around episodes."""

    def __init__(
        self,
        reading: Reading,
        window: Window,
        holes: Sequence[Hole],
        knowledge: Knowledge,
        *,
        everywhere: bool,
    ) -> None:
        self._knowledge = knowledge
        self._reading = reading
        self._holes = holes
        self._window = window
        self._everywhere = everywhere
        self._losses: list[StoredFact] = []
        self._down: dict[Episode, set[str]] = {}
        self._aside: dict[Episode, set[str]] = {}
        self._relations = Topology()
        self._moves: dict[str, Whereabouts] = {}
        """Of nodes that had other places at another time."""

        self._place({})

    async def read(self, chains: Iterable[Episode]) -> None:
        """Read what episodes need; what several need is read once."""
        seeing = [c for c in chains if seen_with_others(c, self._fleet)]
        for since, until in self._spans(seeing):
            self._losses += await self._reading.facts(
                FactQuery(purpose=Purpose.LOSSES, since=since, until=until)
            )
        if not seeing:
            return
        # Only what was claimed of a place may have befallen what is behind it.
        if any(isinstance(s.fact.detail, Claimed) for s in self._losses):
            self._relations = await relations_of(
                self._reading, self._knowledge
            )
        self._place({})
        lost = {
            name
            for transition in self._seen(seeing)
            for name in together(transition)
        }
        self._place(await self._reading.states(NodePlaces(lost)))
        await self._read_moves(lost)
        placed = [
            one.episode for one in self._seen(seeing) if needs_every_place(one)
        ]
        if placed:
            self._place(await self._reading.states(NodePlaces()))
            await self._read_moved_behind(placed)
        for transition in self._seen(placed):
            await self._read_beside(transition)
        spans = [self._span(chain) for chain in seeing]
        dpus = await dpus_of(
            self._reading,
            {chain.node for chain in seeing},
            self._knowledge,
            since=min(since for since, _ in spans),
            until=max(until for _, until in spans),
        )
        self._fleet.dpus = dpus.signals
        self._fleet.unseen_dpus = dpus.unseen

    async def _read_moved_behind(self, chains: Iterable[Episode]) -> None:
        """Read what else was behind the places of nodes that were lost."""
        whole = len(self._fleet.nodes)
        places = dict.fromkeys(
            place
            for one in self._seen(chains)
            for place in shared_places(one)
            if len(self._fleet.nodes_behind(place, one.episode.began.at))
            < whole
        )
        for place in list(places)[:PLACES_MAX]:
            value = label_of(place)
            had = await self._reading.states(
                NodeLabels(value=value, since=None, until=None)
            )
            moved = {name for name, sets in had.items() if len(sets) > 1}
            await self._read_moves(moved - self._moves.keys())

    async def _read_moves(self, names: Collection[str]) -> None:
        """Read which places nodes had before and after they moved."""
        if not names:
            return
        facts = await self._reading.facts(
            FactQuery(purpose=Purpose.MOVES, nodes=sorted(names))
        )
        of = Whereabouts(facts, self._relations)
        self._moves |= dict.fromkeys(of.moved, of)

    async def _read_beside(self, transition: Transition) -> None:
        """Read which nodes were down, or cordoned, before the episode."""
        chain, at = transition.episode, transition.lost_at
        states = await states_at(self._reading, beside(transition), at)
        self._down[chain] = {
            name for name, state in states.items() if self._is_down(state, at)
        }
        self._aside[chain] = {
            name for name, state in states.items() if state.cordoned
        }

    def _is_down(self, state: NodeState, at: datetime) -> bool:
        """Return whether a node was lost and no gap may hide its return."""
        ready = state.conditions.get("Ready")
        since = None if ready is None else moment(ready.since)
        return (
            state.ready == "Unknown"
            and since is not None
            and not any(
                hole.begin <= at and (hole.until is None or hole.until > since)
                for hole in self._holes
                if hole.resource in HIDING_RETURNS
            )
        )

    def _place(self, places: Mapping[str, Mapping[str, str]]) -> None:
        """Build the fleet from all losses, with the places of nodes."""
        # Built once: it is large, and serves every episode.
        self._fleet = Fleet(
            self._losses, places, self._knowledge, self._relations
        )

    def _seen(self, chains: Iterable[Episode]) -> Iterator[Transition]:
        seen = (seen_with_others(one, self.around(one)) for one in chains)
        yield from filter(None, seen)

    def around(self, chain: Episode) -> Fleet:
        """Return the fleet, with what was read for one episode."""
        at = chain.began.at
        return self._fleet.knowing(
            self._down.get(chain, ()),
            self._aside.get(chain, ()),
            {name: of.labels(name, at) for name, of in self._moves.items()},
        )

    def _spans(
        self, chains: Sequence[Episode]
    ) -> Sequence[tuple[datetime | None, datetime | None]]:
        if not (chains and self._everywhere):
            return joined(self._span(chain) for chain in chains)
        since = self._window.since
        first = since and shifted(since, -LOOKBACK)
        return [(first, self._window.until)]

    def _span(self, chain: Episode) -> tuple[datetime, datetime]:
        last = max(s.stored.observed_at for s in chain.signals) + AFTER
        if self._window.until is not None:
            last = min(last, self._window.until)
        return chain.began.at - AROUND, last


def joined(
    spans: Iterable[tuple[datetime, datetime]],
) -> list[tuple[datetime, datetime]]:
    """Return spans merged, so that none overlap."""
    found: list[tuple[datetime, datetime]] = []
    for since, until in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], until)
        else:
            found.append((since, until))
    return found
