"""From the facts of a log to verdicts on nodes.

A question about a window reads one day more before it, because faults and
decisions come before effects; it begins with the state of the node then.
"""

from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from datetime import datetime

import msgspec

from recorder.answers.loading.fleet import (
    LOOKBACK,
    FleetContext,
    joined,
    states_at,
)
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ALWAYS,
    FactQuery,
    NodeNames,
    Purpose,
    Stay,
)
from recorder.explain.answer import judge
from recorder.explain.contests import with_contests
from recorder.explain.knowledge import Knowledge
from recorder.explain.needs import (
    ObjectName,
    is_of_machine,
    is_request_about,
    machines_of,
    objects_asked_for,
)
from recorder.explain.signals import signals_of
from recorder.explain.signals.signal import Topic
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.episodes import episodes_of, may_begin
from recorder.explain.verdict import Verdict
from recorder.facts import DAILY_REPORTERS
from recorder.facts.coverage.account import Account, read_account
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import Record, Stream
from recorder.facts.metrics import METRICS
from recorder.facts.projections import NodeState
from recorder.model.fact import Fact, StoredFact
from recorder.model.moment import shifted
from recorder.model.observation import (
    AUDIT,
    CLOUDEVENTS,
    EVENTS,
    LEASES,
    NODES,
    PODS,
    SLURM,
    WATCH,
)
from recorder.model.window import Window

NODE_RESOURCES = frozenset({NODES, EVENTS, PODS, LEASES})
"""Resources that verdicts need; others only add detail."""

JOBS = "batch/v1/jobs"


def reads_nodes(source: str, resource: str) -> bool:
    """Return whether verdicts need a resource."""
    return source == WATCH and resource in NODE_RESOURCES


def reads_causes(source: str, resource: str) -> bool:
    """Return whether causes are found in a resource."""
    is_of_metrics = (source, resource) == (CLOUDEVENTS, METRICS)
    return is_of_metrics or reads_nodes(source, resource)


def is_authored(resource: str) -> bool:
    """Return whether verdicts name the author of a resource, by audit."""
    return resource in {NODES, PODS, JOBS}


def reads_workloads(source: str, resource: str) -> bool:
    """Return whether outcomes of workloads are derived from a resource."""
    return (
        reads_nodes(source, resource)
        or source == SLURM
        or (source, resource) == (WATCH, JOBS)
    )


async def account_of_work(
    record: Record,
    window: Window,
    *,
    now: datetime,
    needs: Collection[str] = (PODS,),
) -> Account:
    """Read what a log records about workloads in a window."""
    return await read_account(
        record,
        window,
        now=now,
        reads=reads_workloads,
        facts=True,
        needs=needs,
    )


class Node:
    """One node: its facts in a span, and its state before."""

    def __init__(
        self, name: str, facts: Sequence[StoredFact], base: NodeState
    ) -> None:
        self.name = name
        self.facts = facts
        self.base = base
        self._chains: list[Episode] | None = None

    def chains(self, knowledge: Knowledge) -> list[Episode]:
        """Return its episodes, in order."""
        if self._chains is None:
            self._chains = episodes_of(
                self.name, self.facts, knowledge, self.base
            )
        return self._chains


async def node_of(
    reading: Reading,
    name: str,
    *,
    since: datetime | None,
    until: datetime | None,
    knowledge: Knowledge,
) -> Node:
    """Read all facts of one node in a span, and its state before."""
    asked = FactQuery(
        purpose=Purpose.ALL,
        nodes=[name],
        locks=_locks(knowledge),
        since=since,
        until=until,
    )
    found = await reading.facts(asked)
    bases = await states_at(reading, [name], since)
    own = [stored for stored in found if is_about(stored, name, knowledge)]
    base = bases.get(name, NodeState())
    (node,) = await _with_machines(reading, [Node(name, own, base)], asked)
    (node,) = await _with_reports(reading, [node], asked)
    requests = await _requests(
        reading, objects_asked_for(node.facts), since=since, until=until
    )
    return Node(name, _ordered([*node.facts, *requests]), base)


async def nodes_of(
    reading: Reading,
    names: Sequence[str],
    *,
    since: datetime | None,
    until: datetime | None,
    knowledge: Knowledge,
) -> list[Node]:
    """Read several nodes at once, without routine facts of their Pods.

    Omits nodes to which nothing can have happened.
    """
    if not names:
        return []
    everything = knowledge.judges(DAILY_REPORTERS, about="Pod")
    asked = FactQuery(
        purpose=Purpose.ALL if everything else Purpose.EVIDENCE,
        nodes=names,
        locks=_locks(knowledge),
        since=since,
        until=until,
    )
    found = await reading.facts(asked)
    near: dict[str | None, list[StoredFact]] = {}
    for stored in found:
        near.setdefault(stored.fact.node, []).append(stored)
    chosen = {
        name: own
        for name in names
        if may_begin(name, own := _own(name, near, knowledge), knowledge)
    }
    bases = await states_at(reading, chosen, since)
    nodes = [
        Node(name, own, bases.get(name, NodeState()))
        for name, own in chosen.items()
    ]
    nodes = await _with_machines(reading, nodes, asked)
    nodes = await _with_reports(reading, nodes, asked)
    if not everything:
        stays = [stay for node in nodes for stay in _stays(node, knowledge)]
        gone = await reading.facts(
            FactQuery(
                purpose=Purpose.DISRUPTION,
                stays=stays,
                since=since,
                until=until,
            )
        )
        nodes = [_with(node, gone) for node in nodes]
    return await _with_requests(reading, nodes, since=since, until=until)


async def _with_machines(
    reading: Reading, nodes: list[Node], asked: FactQuery
) -> list[Node]:
    """Add what objects say that name the machine of a Node in its place.

    Such as the BareMetalHost or the instance in its provider ID.
    """
    named = [
        (machine, node.name)
        for node in nodes
        for machine in machines_of(node.facts, node.base)
    ]
    counts = Counter(machine for machine, _ in named)
    # Of clones nothing says which is meant.
    machines = {one: node for one, node in named if counts[one] == 1}
    others = machines.keys() - {node.name for node in nodes}
    known = await reading.names(NodeNames(others)) if others else ()
    if not known:
        return nodes
    found = await reading.facts(replace(asked, nodes=known, locks=()))
    own = [stored for stored in found if is_of_machine(stored.fact)]
    return _moved(nodes, own, lambda fact: machines.get(fact.node or ""))


async def _with_reports(
    reading: Reading, nodes: list[Node], asked: FactQuery
) -> list[Node]:
    """Add Events about objects that name one of the Nodes, as its Machine.

    An Event names its object alone.
    """
    named: dict[ObjectName, set[str]] = {}
    for node in nodes:
        for stored in node.facts:
            fact, thing = stored.fact, stored.fact.object
            if fact.node == node.name and is_of_machine(fact) and thing:
                place = thing.group, thing.namespace, thing.name
                named.setdefault(place, set()).add(node.name)
    alone = {place: min(of) for place, of in named.items() if len(of) == 1}
    query = replace(asked, purpose=Purpose.REPORTS, objects=alone, nodes=())
    found = await reading.facts(query) if alone else ()
    return _moved(
        nodes,
        found,
        lambda fact: (
            fact.object
            and alone.get(
                (fact.object.group, fact.object.namespace, fact.object.name)
            )
        ),
    )


def _moved(
    nodes: list[Node],
    found: Iterable[StoredFact],
    node_of_fact: Callable[[Fact], str | None],
) -> list[Node]:
    """Return the nodes with the facts that are about them too."""
    more: dict[str, list[StoredFact]] = {}
    for stored in found:
        name = node_of_fact(stored.fact)
        if name is not None:
            fact = msgspec.structs.replace(stored.fact, node=name)
            moved = msgspec.structs.replace(stored, fact=fact)
            more.setdefault(name, []).append(moved)
    return [
        Node(one.name, _ordered([*one.facts, *more[one.name]]), one.base)
        if one.name in more
        else one
        for one in nodes
    ]


async def _with_requests(
    reading: Reading,
    nodes: Sequence[Node],
    *,
    since: datetime | None,
    until: datetime | None,
) -> list[Node]:
    """Add audited requests for the objects that concern nodes."""
    if not _is_audited(reading):
        return list(nodes)
    wanted = {node.name: objects_asked_for(node.facts) for node in nodes}
    found = await _requests(
        reading, set().union(*wanted.values()), since=since, until=until
    )
    return [
        Node(
            node.name,
            _ordered(
                [
                    *node.facts,
                    *(
                        s
                        for s in found
                        if is_request_about(s.fact, wanted[node.name])
                    ),
                ]
            ),
            node.base,
        )
        if found
        else node
        for node in nodes
    ]


async def _requests(
    reading: Reading,
    objects: Collection[ObjectName],
    *,
    since: datetime | None,
    until: datetime | None,
) -> Sequence[StoredFact]:
    """Read audited requests for objects; none if audit is not recorded."""
    if not _is_audited(reading):
        return []
    return await reading.facts(
        FactQuery(
            purpose=Purpose.REQUESTS,
            objects=objects,
            since=since,
            until=until,
        )
    )


def _is_audited(reading: Reading) -> bool:
    return any(stream.source == AUDIT for stream in reading.streams)


def _locks(knowledge: Knowledge) -> Sequence[str]:
    """Return the keys of annotations that rules define as locks."""
    return sorted({key for rule in knowledge.locks.rules for key in rule.keys})


def _own(
    name: str,
    near: Mapping[str | None, Sequence[StoredFact]],
    knowledge: Knowledge,
) -> list[StoredFact]:
    """Return facts about a node, in order, with locks that it holds."""
    return _ordered(
        [
            *near.get(name, ()),
            *(s for s in near.get(None, ()) if is_about(s, name, knowledge)),
        ]
    )


def _ordered(facts: list[StoredFact]) -> list[StoredFact]:
    return sorted(facts, key=lambda s: (s.entry.position, s.index))


def _stays(node: Node, knowledge: Knowledge) -> list[Stay]:
    """Return when disruptions of Pods may belong to episodes of a node.

    They neither open an episode nor extend one, and there are very many.
    """
    found = [chain.reach() for chain in node.chains(knowledge)]
    spans = [(since, min(until, ALWAYS[1])) for since, until in found]
    return [Stay(node.name, *span) for span in joined(spans)]


def _with(node: Node, gone: Iterable[StoredFact]) -> Node:
    more = [stored for stored in gone if stored.fact.node == node.name]
    if not more:
        return node
    return Node(node.name, _ordered([*node.facts, *more]), node.base)


def is_about(stored: StoredFact, name: str, knowledge: Knowledge) -> bool:
    """Return whether a fact concerns a node, directly or in a lock."""
    fact = stored.fact
    if fact.node is not None:
        return fact.node == name
    signs = signals_of(stored, knowledge, node=name)
    return any(sign.topic is Topic.LOCK for sign in signs)


async def judge_nodes(
    reading: Reading,
    names: Sequence[str],
    window: Window,
    account: Account,
    knowledge: Knowledge,
) -> list[Verdict]:
    """Judge nodes in a window, with causes from up to a day before."""
    since = window.since and shifted(window.since, -LOOKBACK)
    nodes = await nodes_of(
        reading, names, since=since, until=window.until, knowledge=knowledge
    )
    return await verdicts_of(reading, nodes, window, account, knowledge)


async def verdicts_of(
    reading: Reading,
    nodes: Iterable[Node],
    window: Window,
    account: Account,
    knowledge: Knowledge,
    *,
    everywhere: bool = False,
) -> list[Verdict]:
    """Judge nodes in a window, node by node, each in order of time.

    ``everywhere`` is for questions about the whole fleet: it is read for the
    whole window then, else only around episodes.
    """
    asked = [
        [c for c in node.chains(knowledge) if _touches(c, window)]
        for node in nodes
    ]
    if not any(asked):
        return []
    holes = [*account.doubts(*NODE_RESOURCES), *await _gaps(reading, window)]
    absent = _absent(reading.streams)
    fleet = FleetContext(
        reading, window, holes, knowledge, everywhere=everywhere
    )
    await fleet.read([chain for chains in asked for chain in chains])
    verdicts: list[Verdict] = []
    for chains in asked:
        judged = [
            verdict
            for chain in chains
            for verdict in judge(
                chain,
                fleet.around(chain),
                holes=holes,
                absent=absent,
            )
        ]
        verdicts += sorted(
            with_contests(chains, judged),
            key=lambda v: (v.at, v.effect.position),
        )
    return verdicts


def hiding(verdicts: Iterable[Verdict]) -> Iterator[Hole]:
    """Yield the holes that reduce the confidence of verdicts."""
    for verdict in verdicts:
        yield from verdict.hiding


def _absent(streams: Iterable[Stream]) -> set[str]:
    """Return the resources that verdicts need and that were never recorded."""
    there = {s.resource if s.source == WATCH else s.source for s in streams}
    return {*NODE_RESOURCES, AUDIT} - there


async def _gaps(reading: Reading, window: Window) -> list[Hole]:
    """Return the gaps in a window and in the day before it.

    They may hide a fault or a decision.
    """
    since = window.since and shifted(window.since, -LOOKBACK)
    return [
        gap
        async for gap in reading.gaps(since)
        if gap.since is not None
        and not gap.healed
        and gap.resource in NODE_RESOURCES
    ]


def _touches(chain: Episode, window: Window) -> bool:
    if not chain.signals:
        return False
    last = max(s.stored.at for s in chain.signals)
    ended = None if chain.back is None else max(last, chain.back.at)
    if window.until is not None and chain.began.at >= window.until:
        return False
    return window.since is None or ended is None or ended >= window.since
