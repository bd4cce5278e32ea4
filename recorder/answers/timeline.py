"""A node's timeline: its facts in a window, its state as spans."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from msgspec import field

from recorder.answers.facts import ShownNode, shown_node
from recorder.answers.loading.dpus import dpu_nodes
from recorder.answers.loading.nodes import (
    is_authored,
    node_of,
    reads_nodes,
)
from recorder.answers.node_questions import TimelineQuestion
from recorder.answers.placed import concerns_node, requests_placed
from recorder.answers.ports import Reading
from recorder.answers.references import find_node
from recorder.answers.spanning.merging import union
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.account import read_account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import NodeState, advance
from recorder.facts.projections.lanes import (
    BOOT,
    CONDITION,
    CORDON,
    SERVICE,
    TAINT,
    Lanes,
    Span,
)
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed
from recorder.model.outcomes import ServiceState
from recorder.model.reference import EntryName
from recorder.model.window import Window

FACTS_MAX = 5000
"""Facts of one timeline; a node has a few hundred a day."""


class Ends(TypedDict):
    """When a span began and ended, and the entry that began it."""

    since: datetime | None
    to: datetime | None
    entry: EntryName | None


class ServiceSpan(Document, frozen=True, kw_only=True):
    """The service state of the node from one change to the next."""

    since: datetime | None = field(name="from")
    """Null if it began before the window."""

    to: datetime | None
    """Null if it lasts beyond the window."""

    state: ServiceState
    entry: EntryName | None
    """The entry that began it; null at the edge of the window."""


class ConditionSpan(Document, frozen=True, kw_only=True):
    """One status of one condition."""

    type: str
    since: datetime | None = field(name="from")
    """Null if it began before the window."""

    to: datetime | None
    """Null if it lasts beyond the window."""

    status: str
    """`True`, `False` or `Unknown`."""

    reason: str | None
    message: str | None
    is_fault: bool
    """Whether a rule calls this status a fault."""

    entry: EntryName | None


class BootSpan(Document, frozen=True, kw_only=True):
    """One boot of the machine."""

    boot_id: str
    since: datetime | None = field(name="from")
    """Null if it began before the window."""

    to: datetime | None
    """Null if it lasts beyond the window."""

    entry: EntryName | None


class TaintSpan(Document, frozen=True, kw_only=True):
    """One taint while it was there."""

    key: str
    effect: str
    value: str | None
    since: datetime | None = field(name="from")
    """Null if it began before the window."""

    to: datetime | None
    """Null if it lasts beyond the window."""

    actor: str | None
    """Who set it, if known."""

    entry: EntryName | None


class CordonSpan(Document, frozen=True, kw_only=True):
    """A time in which the node was cordoned."""

    since: datetime | None = field(name="from")
    """Null if it began before the window."""

    to: datetime | None
    """Null if it lasts beyond the window."""

    actor: str | None
    """Who set it, if known."""

    entry: EntryName | None


class Timeline(Document, frozen=True, kw_only=True):
    """What happened on a node in a window, and its state all along."""

    node: str
    log: int = field(name="_log")
    asked: Window = field(name="_asked")
    window: Window
    """With its ends as far as they are known."""

    before: ShownNode
    """The node as the window begins."""

    after: ShownNode
    """The node as the window ends."""

    service: Sequence[ServiceSpan]
    conditions: Sequence[ConditionSpan]
    """In order of their type, then of time."""

    boots: Sequence[BootSpan]
    taints: Sequence[TaintSpan]
    cordons: Sequence[CordonSpan]
    facts: Sequence[StoredFact]
    """In log order, Events among them; the first 5000."""

    unknown_types: Sequence[str]
    """Types of claims among the facts that are not known: they mean
    nothing."""

    more_facts: int
    """How many are not included: narrow the window, or page through
    `facts`."""

    gaps: Sequence[Hole]
    """Gaps that affect the timeline, without healed ones."""

    coverage: Coverage


class DpuTimeline(Document, frozen=True, kw_only=True):
    """A DPU that is built into the node, whose Node is in another cluster."""

    cluster: str | None
    """The cluster of its Node; null if no log that can be read has it."""

    node: str | None
    """The name of its Node; null if its log cannot be read, or has none."""

    service: Sequence[ServiceSpan]
    conditions: Sequence[ConditionSpan]


async def ask_timeline(
    reading: Reading,
    question: TimelineQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Timeline:
    """Return the facts of a node in a window, and its states over time.

    Raises:
        NotFoundError: the log has no such node.
    """
    name, window = question.node, question.window
    await reading.reach(window.since, window.until)
    await find_node(reading, name)
    node = await node_of(
        reading,
        name,
        since=window.since,
        until=window.until,
        knowledge=knowledge,
    )
    state = node.base
    lanes = Lanes(state, lambda one: service(one, knowledge))
    for stored in node.facts:
        if stored.fact.is_of_node:
            state = advance(state, stored.fact)
            lanes.take(stored, state)
    placed = await _requests(reading, name, window)
    account = await read_account(
        reading, window, now=now, reads=reads_nodes, facts=True
    )
    facts = union(node.facts, placed)
    coverage = cover(account, authored=is_authored)
    return Timeline(
        node=name,
        log=reading.log.id,
        asked=window,
        window=coverage.window,
        before=shown_node(node.base, service(node.base, knowledge)),
        after=shown_node(state, service(state, knowledge)),
        service=list(map(_service, lanes.spans(SERVICE))),
        conditions=[
            _condition(span, knowledge) for span in lanes.spans(CONDITION)
        ],
        boots=list(map(_boot, lanes.spans(BOOT))),
        taints=list(map(_taint, lanes.spans(TAINT))),
        cordons=list(map(_cordon, lanes.spans(CORDON))),
        facts=facts[:FACTS_MAX],
        unknown_types=sorted(
            {
                claim.type
                for one in facts[:FACTS_MAX]
                if isinstance(claim := one.fact.detail, Claimed)
                and claim.type not in knowledge.types
            }
        ),
        more_facts=max(len(facts) - FACTS_MAX, 0),
        gaps=coverage.gaps,
        coverage=coverage,
    )


async def ask_dpus(
    reading: Reading,
    node: str,
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> list[DpuTimeline]:
    """Return the states of the DPUs of a node, by the logs beside its own.

    A cluster whose log cannot be read is named, if no other has the DPU.
    """
    known = await dpu_nodes(
        reading, [node], since=window.since, until=window.until
    )
    found = []
    for other, names in known.hosts.get(node, ()):
        for name in sorted(names):
            question = TimelineQuestion(node=name, window=window)
            dpu = await ask_timeline(other, question, knowledge, now=now)
            if not dpu.conditions:
                continue  # objects of DPF name it, and it has no Node there
            found.append(
                DpuTimeline(
                    cluster=other.log.cluster_name,
                    node=name,
                    service=dpu.service,
                    conditions=dpu.conditions,
                )
            )
    if known.hosts and not found:
        clusters: Sequence[str | None] = known.away or [None]
        found += [
            DpuTimeline(cluster=cluster, node=None, service=[], conditions=[])
            for cluster in clusters
        ]
    return found


async def _requests(
    reading: Reading, node: str, window: Window
) -> list[StoredFact]:
    """Return requests about Pods on a node that concern the node."""
    return [
        stored
        for stored in await requests_placed(reading, node, window)
        if concerns_node(stored) and _is_within(stored, window)
    ]


def _ends(span: Span) -> Ends:
    """Return the ends of a span, and the entry that began it."""
    began = span.began
    entry = None if began is None else began.entry
    return Ends(since=span.since, to=span.to, entry=entry)


def _actor(span: Span) -> str | None:
    return None if span.began is None else span.began.fact.actor


def _service(span: Span) -> ServiceSpan:
    return ServiceSpan(state=span.value, **_ends(span))


def _boot(span: Span) -> BootSpan:
    return BootSpan(boot_id=span.value, **_ends(span))


def _cordon(span: Span) -> CordonSpan:
    return CordonSpan(actor=_actor(span), **_ends(span))


def _condition(span: Span, knowledge: Knowledge) -> ConditionSpan:
    status, reason, message = span.value
    return ConditionSpan(
        type=span.of,
        status=str(status),
        reason=reason,
        message=message,
        is_fault=is_fault(span.of, status, knowledge),
        **_ends(span),
    )


def _taint(span: Span) -> TaintSpan:
    key, _, effect = span.of.rpartition(":")
    return TaintSpan(
        key=key,
        effect=effect,
        value=span.value,
        actor=_actor(span),
        **_ends(span),
    )


def _is_within(stored: StoredFact, window: Window) -> bool:
    since, until = window.since, window.until
    return (since is None or stored.at >= since) and (
        until is None or stored.at < until
    )


def service(state: NodeState, knowledge: Knowledge) -> ServiceState:
    """Return the service state of a node."""
    if not state.present:
        return ServiceState.ABSENT
    if state.ready != "True":
        is_known = state.ready == "False"
        return ServiceState.NOT_READY if is_known else ServiceState.UNKNOWN
    if not state.in_service:
        return ServiceState.CORDONED
    broken = any(
        is_fault(name, condition.status, knowledge)
        for name, condition in state.conditions.items()
    )
    return ServiceState.DEGRADED if broken else ServiceState.IN_SERVICE


def is_fault(condition: str, status: object, knowledge: Knowledge) -> bool:
    """Return whether a rule calls a status of a condition a fault."""
    rule = knowledge.conditions.first(condition)
    return (
        rule is not None
        and condition != "Ready"
        and rule.decision is None
        and rule.when == status
    )
