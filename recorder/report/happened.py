"""What happened to nodes: facts of a log to verdicts.

A question about a window looks a day further back, because what broke or was
decided comes before what happened; and it begins with the node as it was then.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from recorder.explain.chains import Chain, chains_of
from recorder.explain.fleet import Fleet
from recorder.explain.judging import Hole, judge
from recorder.explain.verdict import Verdict
from recorder.facts import appearance
from recorder.knowledge import Knowledge
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.observation import AUDIT
from recorder.projections import NodeState, advance
from recorder.report.coverage import Coverage
from recorder.report.ports import Reading, Selection
from recorder.report.window import Window

__all__ = [
    "LOOKBACK",
    "NODE_RESOURCES",
    "Node",
    "node_of",
    "nodes_of",
    "verdicts_of",
]

LOOKBACK = timedelta(days=1)
"""How far before a window its causes are looked for."""

NODE = ("", "Node")
"""Group and name of the kind."""

AROUND = timedelta(minutes=2)
AFTER = timedelta(minutes=30)
"""Before and after a happening: what the other nodes did."""

NODE_RESOURCES = frozenset(
    {
        "v1/nodes",
        "v1/events",
        "v1/pods",
        "coordination.k8s.io/v1/leases",
    }
)
"""What verdicts rest on; without others they may say less, never wrong."""


class Node:
    """One node, its facts in a span, and the node before them."""

    def __init__(
        self, name: str, facts: Sequence[StoredFact], base: NodeState
    ) -> None:
        self.name = name
        self.facts = facts
        self.base = base

    def chains(self, knowledge: Knowledge) -> list[Chain]:
        """Give what belongs together, in order."""
        return chains_of(self.name, self.facts, knowledge, self.base)


async def node_of(
    reading: Reading,
    name: str,
    *,
    since: datetime | None,
    until: datetime | None,
    knowledge: Knowledge,
) -> Node:
    """Read one node; its facts from a time on, and its state before."""
    nodes = await nodes_of(
        reading, [name], since=since, until=until, knowledge=knowledge
    )
    return nodes[0]


async def nodes_of(
    reading: Reading,
    names: Sequence[str],
    *,
    since: datetime | None,
    until: datetime | None,
    knowledge: Knowledge,
) -> list[Node]:
    """Read several nodes at once."""
    found = await reading.facts.of_nodes(names, since=since, until=until)
    nodes = []
    for name in names:
        own = [s for s in found if is_about(s, name, knowledge)]
        base = NodeState()
        if since is not None:
            base = await _state_at(reading, name, since)
        nodes.append(Node(name, own, base))
    return nodes


def is_about(stored: StoredFact, name: str, knowledge: Knowledge) -> bool:
    """Tell whether a fact concerns a node: a lock may name it."""
    fact = stored.fact
    if fact.node is not None:
        return fact.node == name
    if fact.kind is not FactKind.ANNOTATION_CHANGED or fact.object is None:
        return False
    rule = knowledge.lock(fact.object.kind, fact.detail["key"])
    return rule is not None and any(
        rule.holder(fact.detail[side]) == name for side in ("new", "old")
    )


async def _state_at(reading: Reading, name: str, at: datetime) -> NodeState:
    """Give a node as it was, by its newest version before a time."""
    found = await reading.things([NODE], namespace=None, name=name)
    if not found:
        return NodeState()
    numbers = tuple(thing.number for thing in found)
    line = await reading.newest(
        Selection(objects=numbers, until=at, versions=True)
    )
    if line is None or line.raw is None or line.resource is None:
        return NodeState()
    detail = appearance(line.raw, line.resource)
    if detail is None:
        return NodeState()
    fact = Fact(
        kind=FactKind.APPEARED,
        node=name,
        object=line.identity,
        detail=detail,
    )
    return advance(NodeState(), fact)


async def verdicts_of(
    reading: Reading,
    chains: Iterable[Chain],
    window: Window,
    coverage: Coverage,
    fleet: Fleet | None = None,
) -> list[Verdict]:
    """Judge the chains that a window touches, in order.

    ``fleet`` is for who has read it already, for the whole window.
    """
    asked = [chain for chain in chains if _touches(chain, window)]
    if not asked:
        return []
    labels = {} if fleet else await reading.facts.node_labels()
    holes = [*holes_of(coverage), *await _earlier(reading, window)]
    audited = any(stream.source == AUDIT for stream in reading.streams)
    found = []
    for chain in asked:
        began = chain.began.at
        last = max(s.stored.observed_at for s in chain.signs)
        others = fleet
        if others is None:
            around = await reading.facts.signs(
                began - AROUND, _least(last + AFTER, window.until)
            )
            others = Fleet(around, labels)
        verdict = judge(chain, others, holes=holes, audited=audited)
        if verdict is not None:
            found.append(verdict)
    return sorted(found, key=lambda v: (v.effect.stored.at, v.effect.position))


def holes_of(coverage: Coverage) -> list[Hole]:
    """Give the times that the log cannot vouch for."""
    spans = [(gap.since, gap.to) for gap in coverage.gaps]
    spans += [(hole.since, hole.to) for hole in coverage.holes]
    return [Hole(since, until) for since, until in spans if since is not None]


async def _earlier(reading: Reading, window: Window) -> list[Hole]:
    """Give the gaps before a window that its chains may reach into.

    They make no answer incomplete, for nobody asked about that time; but what
    they hide may have been decided in them.
    """
    if window.since is None:
        return []
    return [
        Hole(gap.since, gap.to)
        async for gap in reading.gaps(window.since - LOOKBACK)
        if gap.since is not None
        and not gap.healed
        and gap.resource in NODE_RESOURCES
    ]


def _touches(chain: Chain, window: Window) -> bool:
    if not chain.signs:
        return False
    last = max(s.stored.at for s in chain.signs)
    ended = None if chain.back is None else max(last, chain.back.at)
    if window.until is not None and chain.began.at >= window.until:
        return False
    return window.since is None or ended is None or ended >= window.since


def _least(at: datetime, until: datetime | None) -> datetime:
    return at if until is None else min(at, until)
