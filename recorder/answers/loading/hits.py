"""Workloads affected by verdicts: Pods, owners, and nodes that failed too.

A gang is one whole on all its nodes. A question about one node of a rack that
failed returns the gang with its whole loss, because the others failed with it.
"""

from asyncio import TaskGroup
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from recorder.answers.loading.authors import deleter_of
from recorder.answers.loading.fleet import LOOKBACK
from recorder.answers.loading.nodes import (
    account_of_work,
    judge_nodes,
    nodes_of,
    verdicts_of,
)
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ActiveNodesNear,
    DisplacedPods,
    FactQuery,
    NameQuery,
    NodeNames,
    PodsOn,
    Purpose,
    Stay,
)
from recorder.explain.causes import LOST
from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import by_workload, failure_of, hits
from recorder.explain.knowledge import Knowledge
from recorder.explain.losses import Taking, displaced
from recorder.explain.pod_end import BY_TAINT
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.account import Account
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.fact import StoredFact
from recorder.model.facts import DeletionRequested, Vanished
from recorder.model.moment import LAST, shifted
from recorder.model.observation import PODS
from recorder.model.outcomes import HitBy
from recorder.model.window import Window

TOGETHER = timedelta(minutes=1)
"""Losses of nodes within this are one loss of a gang."""

DELETERS_MAX = 100
"""Hits whose deleters are read: they are read one after another."""

NEVER = datetime.min.replace(tzinfo=UTC)
"""The end of the record if nothing is vouched for: no losses count."""


NodeTime: TypeAlias = tuple[str, datetime]
"""A node, and a time at which it is asked about."""


class NodeSelection(NamedTuple):
    """The nodes that a question selects."""

    nodes: Sequence[str]
    moved: Container[str]
    """Those selected only part of the time, by labels that changed."""

    meant: Callable[[Collection[NodeTime]], Awaitable[Collection[NodeTime]]]
    """Returns when these were selected, of some times."""


@dataclass(frozen=True)
class _Gangs:
    """Facts about the Pods on nodes, and the gangs they belong to."""

    facts: Sequence[StoredFact]
    began: datetime | None = None
    """When the first list of Pods was complete."""

    @cached_property
    def placements(self) -> Sequence[Placement]:
        """The placements of its Pods."""
        return tuple(Placements(self.facts, began=self.began))

    @cached_property
    def workloads(self) -> Workloads:
        """The workloads that they belong to."""
        return Workloads(self.facts)

    @cached_property
    def members(self) -> Mapping[Workload, Sequence[Placement]]:
        """The placements of each workload."""
        found: dict[Workload, list[Placement]] = {}
        for pod in self.placements:
            workload = self.workloads.of(pod)
            if workload is not None:
                found.setdefault(workload, []).append(pod)
        return found

    def nodes(self) -> set[str]:
        """Return all nodes that these Pods were on."""
        return {
            placement.node
            for placement in self.placements
            if placement.node is not None
        }

    def hits(
        self,
        verdicts: Sequence[Verdict],
        scope: Scope,
        alone: Mapping[str, Workload] | None = None,
    ) -> list[Hit]:
        """Return each hit by verdicts, up to the end of the record."""
        return hits(
            verdicts,
            self.placements,
            self.workloads,
            scope=scope,
            alone=alone,
        )

    def times_of_losses(self, verdicts: Sequence[Verdict]) -> list[datetime]:
        """Return when nodes failed, and when their gangs lost other Pods.

        Only losses count by which a gang did not run in full when a node
        failed. Times of one loss are given once.
        """
        times = {verdict.lost_at for verdict in verdicts}
        gangs = {w: pods for w, pods in self.members.items() if w.is_gang}
        on: dict[str, list[tuple[Workload, Placement]]] = {}
        for workload, pods in gangs.items():
            for pod in pods:
                on.setdefault(pod.node or "", []).append((workload, pod))
        for verdict in verdicts:
            failure = failure_of(verdict)
            if failure is None:
                continue
            struck = {
                gang
                for gang, pod in on.get(verdict.node, ())
                if pod.was_on(failure.since, failure.seen)
            }
            for gang in struck:
                times.update(_lost_around(gangs[gang], failure.seen))
        found: list[datetime] = []
        for at in sorted(times):
            if not found or at - found[-1] > TOGETHER / 2:
                found.append(at)
        return found

    def displaced(self, nodes: Container[str]) -> Iterator[Taking]:
        """Yield what took Pods from nodes that stayed well."""
        for workload, pods in self.members.items():
            for pod in pods:
                if pod.node not in nodes:
                    continue
                found = displaced(pod, workload, self.workloads, pods)
                if found is not None:
                    yield found


async def hits_of(
    reading: Reading,
    nodes: Sequence[str],
    verdicts: Sequence[Verdict],
    window: Window,
    *,
    account: Account,
) -> list[Hit]:
    """Return each hit by verdicts, which must be all of the fleet."""
    gangs = await _gangs(reading, verdicts, window, account)
    unheard = await _unheard(reading, verdicts, window, account)
    scope = _scope(nodes, window, account, unheard)
    return gangs.hits(verdicts, scope)


async def hits_on(
    reading: Reading,
    facts: Sequence[StoredFact],
    pods: Sequence[Placement],
    until: datetime | None,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> tuple[list[Hit], list[Verdict]]:
    """Return each hit on workloads, and what happened to their nodes.

    Args:
        reading: the log.
        facts: about the workloads and all of their Pods.
        pods: those whose nodes are judged, from when the first was bound.
        until: the end of the window.
        knowledge: the rules.
        now: the present.
    """
    bound = [p for p in pods if p.node is not None and p.bound_at is not None]
    nodes = {p.node for p in bound if p.node is not None}
    known = sorted(await reading.names(NodeNames(nodes))) if nodes else []
    if not bound:
        return [], []
    begun = min(p.bound_at for p in bound if p.bound_at is not None)
    window = Window(begun, until)
    account = await account_of_work(reading, window, now=now)
    verdicts: list[Verdict] = []
    if known:
        verdicts = await judge_nodes(
            reading, known, window, account, knowledge
        )
    gangs = _Gangs(facts, account.began(PODS))
    unheard = await _unheard(reading, verdicts, window, account)
    scope = _scope(gangs.nodes(), window, account, unheard)
    alone = {
        one.key: Workload("Pod", one.pod.namespace, one.pod.name, one.pod.uid)
        for one in pods
    }
    found = gangs.hits(verdicts, scope, alone)
    return found, verdicts


async def all_hits_of(
    reading: Reading,
    asked: NodeSelection,
    verdicts: Sequence[Verdict],
    window: Window,
    *,
    account: Account,
    knowledge: Knowledge,
) -> tuple[list[Hit], Sequence[Verdict]]:
    """Return the workloads that some nodes' failures hit, each once.

    What was lost elsewhere with them belongs to it. Return the verdicts on the
    other nodes too.
    """
    displaced = DisplacedPods(
        nodes=asked.nodes,
        since=window.since and shifted(window.since, -LOOKBACK),
        until=window.until,
    )
    gangs = await _gangs(reading, verdicts, window, account, displaced)
    nodes = set(asked.nodes)
    others = gangs.nodes() - nodes
    times = gangs.times_of_losses(verdicts) if others else []
    companions = await _companions(
        reading, others, times, window, account, knowledge
    )
    near = (v for v in companions if _is_near(v.lost_at, times))
    every, everywhere = [*verdicts, *near], {*nodes, *others}
    gone = [*gangs.displaced(asked.moved)]
    meant = await asked.meant({(one.node, one.at) for one in gone})
    spared = [o.pod.key for o in gone if (o.node, o.at) not in meant]
    spared += await _lost_before(
        reading, gangs.displaced(everywhere), window, account, knowledge
    )
    unheard = await _unheard(reading, every, window, account)
    scope = _scope(everywhere, window, account, unheard, spared)
    found = gangs.hits(every, scope)
    # Chosen before they are merged: what another node lost at another time
    # is none of theirs.
    own = by_workload(hit for hit in found if nodes & {*hit.nodes})
    own = [hit.charged(nodes=nodes) for hit in own]
    return await _with_deleters(reading, own, gangs, knowledge), companions


async def _with_deleters(
    reading: Reading, found: list[Hit], gangs: _Gangs, knowledge: Knowledge
) -> list[Hit]:
    """Return hits that say who deleted the first Pod, where that is known."""
    deleted = [h for h in found if h.hit_by is HitBy.DELETION][:DELETERS_MAX]
    keys = frozenset().union(*(hit.pod_keys for hit in deleted))
    changes: dict[str, StoredFact] = {}
    for stored in gangs.facts if keys else ():
        thing = stored.fact.object
        if (
            isinstance(stored.fact.detail, DeletionRequested | Vanished)
            and thing is not None
            and thing.key in keys
        ):
            changes.setdefault(thing.key, stored)
    for hit in deleted:
        first = [c for key, c in changes.items() if key in hit.pod_keys][:1]
        actor = first and await deleter_of(reading, first[0], knowledge)
        if actor and actor.name is not None:
            says = f"{hit.says}; deleted by {actor.name}"
            found[found.index(hit)] = replace(hit, says=says)
    return found


async def _lost_before(
    reading: Reading,
    displaced: Iterable[Taking],
    window: Window,
    account: Account,
    knowledge: Knowledge,
) -> list[str]:
    """Return the keys of Pods evicted as their node was lost before a window.

    The taint manager evicts them because the node is not ready or unreachable:
    that is a part of this loss, and no eviction from a node that stayed well.
    """
    since = window.since
    evicted = [
        one
        for one in displaced
        if one.pod.disruption == BY_TAINT and since and one.at < since
    ]
    if not evicted:
        return []
    first = min(one.at for one in evicted)
    verdicts = await judge_nodes(
        reading,
        sorted({one.node for one in evicted}),
        Window(first - TOGETHER, window.until),
        account,
        knowledge,
    )
    losses = [
        failure
        for verdict in verdicts
        if verdict.happened in LOST
        and (failure := failure_of(verdict)) is not None
    ]
    return [
        one.pod.key
        for one in evicted
        if any(
            loss.verdict.node == one.node
            and loss.since <= one.at <= loss.until
            for loss in losses
        )
    ]


async def _companions(
    reading: Reading,
    others: set[str],
    times: Sequence[datetime],
    window: Window,
    account: Account,
    knowledge: Knowledge,
) -> list[Verdict]:
    """Judge other nodes of the gangs that may have failed at these times.

    That is when the nodes in question failed, and while their gangs were down
    for them: a window selects which losses are reported, not how large they
    are.
    """
    if not times or not others:
        return []
    near = ActiveNodesNear(names=others, times=times, within=TOGETHER)
    names = sorted(await reading.names(near))
    if not names:
        return []
    first = min(times)
    since = first - LOOKBACK
    if window.since is not None:
        window = Window(min(window.since, first - TOGETHER), window.until)
    nodes = await nodes_of(
        reading, names, since=since, until=window.until, knowledge=knowledge
    )
    return await verdicts_of(reading, nodes, window, account, knowledge)


def _is_near(at: datetime, times: Iterable[datetime]) -> bool:
    return any(abs(at - time) <= TOGETHER for time in times)


async def _gangs(
    reading: Reading,
    verdicts: Sequence[Verdict],
    window: Window,
    account: Account,
    *others: DisplacedPods,
) -> _Gangs:
    """Read the gangs that verdicts may have affected, and those of others.

    Of a whole fleet nothing else is read: what displaced a Pod from a node
    that stayed well is no incident.
    """
    stays = [
        Stay(verdict.node, failure.since, failure.seen)
        for verdict in verdicts
        if (failure := failure_of(verdict)) is not None
    ]
    asked: list[NameQuery[str]] = [PodsOn(stays), *others]
    try:
        async with TaskGroup() as group:
            found = [
                group.create_task(reading.names(query)) for query in asked
            ]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    uids = {uid for names in found for uid in names.result()}
    if not uids:
        return _Gangs([])
    facts = await reading.facts(
        FactQuery(purpose=Purpose.FAMILIES, uids=uids, until=window.until)
    )
    return _Gangs(facts, account.began(PODS))


async def _unheard(
    reading: Reading,
    verdicts: Iterable[Verdict],
    window: Window,
    account: Account,
) -> list[Hole]:
    """Return the gaps in the record of Pods, whatever the window.

    A window selects which losses are reported, not how large they are. The
    time before the first list is no gap here.
    """
    times = [f.since for v in verdicts if (f := failure_of(v)) is not None]
    since = window.since and min([shifted(window.since, -LOOKBACK), *times])
    closed = [
        gap
        async for gap in reading.gaps(since)
        if gap.resource == PODS and not gap.healed and gap.since is not None
    ]
    return [*closed, *account.doubts(PODS)]


def _scope(
    nodes: Iterable[str],
    window: Window,
    account: Account,
    unheard: Iterable[Hole],
    spared: Iterable[str] = (),
) -> Scope:
    """Return the scope of hits, up to the end of the record.

    A workload that is down costs until the end of the record. Its cost after
    the last proof is uncertain, which the coverage shows.
    """
    end, began = account.counted_until or NEVER, account.began(PODS)
    return Scope(
        nodes=frozenset(nodes),
        since=window.since,
        until=end,
        before=() if began is None else (Hole(until=began, resource=PODS),),
        unheard=[
            hole
            for hole in unheard
            if hole.opened is not None or (hole.until or LAST) < end
        ],
        spared=frozenset(spared),
    )


def _lost_around(pods: Iterable[Placement], at: datetime) -> list[datetime]:
    """Return when a gang lost Pods while it did not run in full.

    Args:
        pods: all Pods that it ever had.
        at: a time in that span; nothing is returned of other spans.
    """
    ran = [p for p in pods if p.running_at and p.phase != "Succeeded"]
    left = [p.left_at for p in ran if p.left_at is not None]
    changes = [(p.running_at, 1) for p in ran if p.running_at]
    changes = sorted(changes + [(gone, -1) for gone in left])
    counts = [*accumulate(change for _, change in changes)]
    size = max(counts, default=0)
    full = [changes[n][0] for n, count in enumerate(counts) if count == size]
    since = max((when for when in full if when <= at), default=at)
    until = min((when for when in full if when > at), default=LAST)
    return sorted(gone for gone in left if since <= gone <= until)
