"""Answers of `recorder impact`: the workloads that failures hit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from msgspec import field

from recorder.answers.arguments import (
    WINDOW,
    Argument,
    Option,
    labels_argument,
    rack_argument,
)
from recorder.answers.beginning import reach_begun
from recorder.answers.loading.fleet import states_at
from recorder.answers.loading.hits import NodeSelection, all_hits_of
from recorder.answers.loading.nodes import (
    PODS,
    hiding,
    judge_nodes,
    reads_workloads,
)
from recorder.answers.places import names_rack
from recorder.answers.ports import Reading
from recorder.answers.queries import NodeLabels
from recorder.answers.references import find_node, node_name
from recorder.answers.sentences import counted
from recorder.answers.text.lines import plain
from recorder.answers.text.table import Cell, Column, Kind
from recorder.coverage.account import read_account
from recorder.coverage.coverage import Coverage, cover
from recorder.errors import ConfigError, NotFoundError
from recorder.explain.hit import Hit, Totals
from recorder.explain.verdict import Judged
from recorder.knowledge import Knowledge
from recorder.model.document import Document
from recorder.model.outcomes import Happened
from recorder.model.reference import EntryName
from recorder.model.window import Window

__all__ = [
    "COLUMNS",
    "Impact",
    "ImpactQuestion",
    "ImpactSubject",
    "JudgedImpact",
    "Labels",
    "NodeFailure",
    "ask_impact",
    "cells",
    "cost",
    "failure_lines",
]


class SelectorError(ConfigError):
    """What selects the nodes cannot be."""

    code = "question.selector"


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key or key[-1] == "!" or value[:1] == "=":
        msg = f'cannot use the label "{text}": write LABEL=VALUE'
        raise SelectorError(msg)
    return key, value


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels that nodes are selected by; without any all are."""

    rack: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, rack: str | None, pairs: Iterable[str]) -> Self:
        """Read ``LABEL=VALUE``.

        Raises:
            ConfigError: one has another form.
        """
        return cls(rack or None, tuple(_label(text) for text in pairs))

    def fit(self, labels: Mapping[str, str]) -> bool:
        """Return whether a node with these labels is selected."""
        in_rack = self.rack is None or any(
            value == self.rack and names_rack(key)
            for key, value in labels.items()
        )
        return in_rack and all(
            labels.get(key) == value for key, value in self.pairs
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactQuestion:
    """Which nodes, and when."""

    nodes: Annotated[
        tuple[str, ...],
        Argument(
            name="nodes",
            many=True,
            parse=node_name,
            option=Option(metavar="[node/NAME]...", names="nodes"),
            graphql="Node names.",
            agents="",
        ),
    ] = ()
    rack: Annotated[
        str | None,
        rack_argument(
            "Nodes of this rack, or behind this switch, at the time.",
            "Nodes with this rack label then.",
        ),
    ] = None
    labels: Annotated[
        tuple[tuple[str, str], ...],
        labels_argument(
            "Nodes that had this label at the time; repeatable.",
            graphql="Labels at the time, as `KEY=VALUE`.",
            agents="Nodes with each LABEL=VALUE at the time.",
            parse=_label,
        ),
    ] = ()
    window: Annotated[Window, WINDOW]
    each: bool = False
    """Whether each hit of a workload is wanted by itself."""

    def __post_init__(self) -> None:
        """Check that something selects nodes.

        Raises:
            ConfigError: nothing does.
        """
        if not (self.nodes or self.labels or self.rack):
            msg = "no nodes selected: give names, a rack or labels"
            advice = "name nodes, or select them with --rack or -l LABEL=VALUE"
            raise SelectorError(msg, advice=advice)

    @property
    def shared_label(self) -> tuple[str | None, str]:
        """Return key and value of a label that all selected nodes had.

        A rack is named by more than one key.
        """
        return self.labels[0] if self.rack is None else (None, self.rack)

    def selects(self, *had: Mapping[str, str]) -> bool:
        """Return whether any of the labels that a node had are asked for."""
        chosen = Labels(self.rack, self.labels)
        return any(chosen.fit(labels) for labels in had)


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
    def of(cls, verdict: Judged) -> Self:
        """Return the failure that a verdict is about."""
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


class JudgedImpact(Impact, frozen=True, kw_only=True):
    """The impact with the verdicts on the failures, in the same order."""

    verdicts: Sequence[Judged] = field(name="_verdicts")


async def ask_impact(
    reading: Reading,
    question: ImpactQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> JudgedImpact:
    """Find the workloads that failures of nodes hit.

    Raises:
        NotFoundError: no such node, or none with these labels then.
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
) -> JudgedImpact:
    window = question.window
    nodes, moved = await _nodes(reading, question)

    async def was_meant(node: str, at: datetime) -> bool:
        return await _was_meant(reading, question, node, at)

    account = await read_account(
        reading, window, now=now, reads=reads_workloads, facts=True, needs=PODS
    )
    judged = await judge_nodes(reading, nodes, window, account, knowledge)
    verdicts = [
        verdict
        for verdict in judged
        if verdict.node not in moved
        or await was_meant(verdict.node, verdict.lost_at)
    ]
    verdicts.sort(key=lambda v: (v.at, v.effect.position))
    found, companions = await all_hits_of(
        reading,
        NodeSelection(nodes, moved, was_meant, question.each),
        verdicts,
        window,
        account=account,
        knowledge=knowledge,
    )
    return JudgedImpact(
        question=ImpactSubject(
            cluster=reading.log.cluster_name,
            nodes=nodes,
            since=window.since,
            until=window.until,
        ),
        failures=[NodeFailure.of(verdict) for verdict in verdicts],
        workloads=found,
        totals=Totals.of(found),
        coverage=cover(
            account,
            times=(
                *(verdict.began_at for verdict in verdicts),
                *(hit.hit_at for hit in found),
            ),
            hiding=hiding((*judged, *companions)),
        ),
        verdicts=verdicts,
    )


async def _nodes(
    reading: Reading, question: ImpactQuestion
) -> tuple[Sequence[str], set[str]]:
    """Return the nodes that are meant, and which of them not all the time."""
    chosen = list(dict.fromkeys(question.nodes))
    if chosen:
        await find_node(reading, *chosen)
    if question.rack is None and not question.labels:
        return chosen, set()
    window = question.window
    key, value = question.shared_label
    labels = await reading.states(
        NodeLabels(
            value=value, key=key, since=window.since, until=window.until
        )
    )
    found = [n for n, had in labels.items() if question.selects(*had)]
    if not found:
        msg = f"log {reading.log.id} had no node with these labels at the time"
        raise NotFoundError(msg)
    found = [name for name in sorted(found) if name not in chosen]
    moved = {
        name
        for name in found
        if not all(question.selects(had) for had in labels[name])
    }
    return [*chosen, *found], moved


async def _was_meant(
    reading: Reading, question: ImpactQuestion, node: str, at: datetime
) -> bool:
    """Return whether a node had the labels at a time."""
    states = await states_at(reading, [node], at)
    return node not in states or question.selects(states[node].labels)


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
)


def cells(hit: Hit) -> Sequence[Cell]:
    """Return a hit as the cells of a table."""
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
    )


def cost(total: Totals) -> str:
    """Say what was hit and what it cost."""
    parts = [
        counted(total.workloads, "workload"),
        counted(total.pods, "Pod"),
        counted(total.gpus, "GPU"),
    ]
    return (
        f"affected: {', '.join(parts)}; lost: at least"
        f" {total.gpu_hours_lost:.2f} GPU-hours, plus any work since the"
        " last checkpoint (not recorded)"
    )


def failure_lines(failures: Iterable[NodeFailure]) -> list[str]:
    """Say what happened, with the day of each."""
    return [
        plain(f"{failure.at:%Y-%m-%d}  {failure.sentence}")
        for failure in failures
    ]
