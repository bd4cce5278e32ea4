"""Answers of `recorder impact`: workloads affected by node failures."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Self

from msgspec import field
from msgspec.structs import replace

from recorder.answers.beginning import reach_begun
from recorder.answers.checkpoints import (
    hours_since_checkpoint,
    with_checkpoints,
)
from recorder.answers.loading.fleet import LOOKBACK, states_at
from recorder.answers.loading.hits import (
    NodeSelection,
    NodeTime,
    all_hits_of,
)
from recorder.answers.loading.nodes import account_of_work, hiding, judge_nodes
from recorder.answers.loading.places import Selected, selected
from recorder.answers.naming import named
from recorder.answers.node_questions import (
    ImpactQuestion,
)
from recorder.answers.places import Labels
from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Purpose
from recorder.answers.references import find_node
from recorder.answers.sentences import (
    counted,
    counted_parts,
    gpu_hours,
    lasting,
)
from recorder.answers.text.lines import plain
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column, Kind
from recorder.explain.hit import Hit, Totals
from recorder.explain.knowledge import Knowledge
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.projections import NodeState, advance
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted
from recorder.model.observation import NODES, PODS
from recorder.model.outcomes import Happened
from recorder.model.reference import EntryName


class ImpactSubject(Document, frozen=True, kw_only=True):
    """Which nodes, and when."""

    cluster: str
    nodes: Sequence[str]
    since: datetime | None
    until: datetime | None


class NodeFailure(Document, frozen=True, kw_only=True):
    """What affected them."""

    node: str
    happened: Happened
    verdict: EntryName
    """Its id."""

    at: datetime
    sentence: str = field(name="_sentence")

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return the failure that a verdict explains."""
        return cls(
            node=verdict.node,
            happened=verdict.happened,
            verdict=verdict.effect.stored.entry,
            at=verdict.at,
            sentence=verdict.sentence,
        )


class Impact(Document, frozen=True, kw_only=True):
    """The workloads affected by node failures."""

    question: ImpactSubject
    failures: Sequence[NodeFailure]
    workloads: Sequence[Hit]
    totals: Totals
    coverage: Coverage
    verdicts: Sequence[Verdict] = field(name="_verdicts", default=())
    """On the failures, in the same order."""


async def ask_impact(
    reading: Reading,
    question: ImpactQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Impact:
    """Find the workloads affected by failures of nodes.

    Raises:
        NotFoundError: no such node, or no node had these labels then.
    """
    window = question.window
    await reading.reach(window.since, window.until)
    found = await _impact(reading, question, knowledge, now=now)
    if await reach_begun(reading, window, found.verdicts):
        return await _impact(reading, question, knowledge, now=now)
    return found


async def _impact(
    reading: Reading,
    question: ImpactQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Impact:
    window = question.window
    chosen = await selected(reading, question.selector, knowledge)
    nodes, moved = await _nodes(reading, question, chosen)

    meant = partial(_fitting, reading, chosen)
    account = await account_of_work(
        reading, window, now=now, needs=(NODES, PODS)
    )
    judged = await judge_nodes(reading, nodes, window, account, knowledge)
    lost = {(v.node, v.lost_at) for v in judged if v.node in moved}
    others = lost - {*await meant(lost)}
    verdicts = [v for v in judged if (v.node, v.lost_at) not in others]
    verdicts.sort(key=lambda v: (v.at, v.effect.position))
    found, companions = await all_hits_of(
        reading,
        NodeSelection(nodes, moved, meant),
        verdicts,
        window,
        account=account,
        knowledge=knowledge,
    )
    hits = await with_checkpoints(reading, found)
    times = [verdict.began_at for verdict in verdicts]
    times += [hit.hit_at for hit in found]
    return Impact(
        question=ImpactSubject(
            cluster=reading.log.cluster_name,
            nodes=nodes,
            since=window.since,
            until=window.until,
        ),
        failures=[NodeFailure.of(verdict) for verdict in verdicts],
        workloads=hits,
        totals=Totals.of(hits),
        coverage=cover(
            account,
            times=times,
            hiding=hiding((*judged, *companions)),
        ),
        verdicts=verdicts,
    )


async def _fitting(
    reading: Reading, chosen: Selected, times: Collection[NodeTime]
) -> Collection[NodeTime]:
    """Return the times at which a selector matched the node, of some.

    It may have matched a node before what is recorded of it.
    """
    if not times:
        return ()
    nodes = {node for node, _ in times}
    first, last = min(at for _, at in times), max(at for _, at in times)
    states = await states_at(reading, nodes, first)
    # A change may be dated long before or after it was observed.
    changes = await reading.facts(
        FactQuery(
            purpose=Purpose.LABELS,
            nodes=sorted(nodes),
            since=shifted(first, -LOOKBACK),
            until=shifted(last, LOOKBACK),
        )
    )
    later = deque(
        one
        for one in changes
        if one.observed_at >= first and one.fact.about == "Node"
    )
    found = []
    for node, at in sorted(times, key=itemgetter(1)):
        while later and later[0].observed_at < at:
            fact = later.popleft().fact
            name = fact.node or ""
            states[name] = advance(states.get(name, NodeState()), fact)
        had = states.get(node)
        if had is None or chosen.fits(node, had.labels, at):
            found.append((node, at))
    return found


async def _nodes(
    reading: Reading, question: ImpactQuestion, selected: Selected
) -> tuple[Sequence[str], set[str]]:
    """Return the selected nodes, and those selected only part of the time."""
    chosen = list(dict.fromkeys(question.nodes))
    if chosen:
        await find_node(reading, *chosen)
    if question.selector == Labels():
        return chosen, set()
    window = question.window
    fitting = await selected.nodes(reading, window.since, window.until)
    if not fitting:
        msg = f"{reading.log.named} had no node with these labels at the time"
        raise NotFoundError(msg)
    found = [name for name in sorted(fitting) if name not in chosen]
    return [*chosen, *found], {name for name in found if not fitting[name]}


COLUMNS = (
    Column("HIT AT", Kind.TIME, rank=3),
    Column("AGE", Kind.AGE, rank=1),
    Column("WORKLOAD"),
    Column("HIT BY"),
    Column("FIRST NODE", rank=2),
    Column("PODS", rank=6),
    Column("GANG", rank=7),
    Column("GPUS", rank=5),
    Column("OUTCOME"),
    Column("RUNNING AGAIN", Kind.TIME, rank=4),
    Column("GPU-HOURS"),
    Column("SINCE CHECKPOINT", wide=True),
)


def cells(hit: Hit) -> Sequence[Cell]:
    """Return a hit as a row of the table."""
    return (
        hit.hit_at,
        hit.hit_at,
        str(hit.workload),
        hit.hit_by,
        hit.first_node,
        len(hit.pods_hit),
        hit.gang_size,
        hit.gpus,
        hit.outcome,
        hit.running_again_at,
        hit.gpu_hours_lost,
        hit.gpu_hours_since_checkpoint,
    )


def cost(total: Totals, hits: Sequence[Hit]) -> str:
    """Return what was affected, and the loss."""
    hours = hours_since_checkpoint(hits)
    since = "any work since the last checkpoint (not recorded)"
    if hours is not None:
        since = f"{hours:.2f} since the last checkpoint"
        if any(hit.gpu_hours_since_checkpoint is None for hit in hits):
            since += ", where one is recorded"
    parts = [
        counted(total.workloads, "workload"),
        counted_parts(hits),
        counted(total.gpus, "GPU"),
    ]
    return (
        f"affected: {', '.join(parts)}; lost: at least"
        f" {gpu_hours(total.gpu_hours_lost)}, plus {since}"
    )


def failure_lines(failures: Iterable[NodeFailure]) -> list[str]:
    """Return a line for each failure, with its day."""
    return [
        plain(f"{failure.at:%Y-%m-%d}  {failure.sentence}")
        for failure in failures
    ]


def _parts(hits: Iterable[Hit]) -> list[str]:
    """Return a line on workloads that may belong to larger ones."""
    kinds = sorted({hit.kind for hit in hits if hit.is_part})
    if not kinds:
        return []
    named = ", ".join(kinds)
    return [
        f"what owns a {named} is not recorded: several may be one workload"
    ]


def shown(
    answer: Impact, question: ImpactQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder impact` prints it."""
    del question, verbose
    after: list[str] = []
    if answer.workloads:
        after = ["", cost(answer.totals, answer.workloads)]
        still = lasting(answer.workloads, answer.coverage.counted_until)
        after += [] if still is None else [still]
        after += _parts(answer.workloads)
    return Listing(
        columns=COLUMNS,
        items=[
            Item(
                named(hit.kind.lower(), hit.namespace, hit.name),
                cells(hit),
                hit,
            )
            for hit in answer.workloads
        ],
        whole=lambda workloads: replace(answer, workloads=workloads),
        nothing="no affected workloads recorded",
        before=failure_lines(answer.failures),
        after=after,
    )
