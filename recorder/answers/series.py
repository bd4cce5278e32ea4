"""Conditions of nodes over time, as rows of a table for dashboards."""

from collections.abc import Sequence
from datetime import datetime

from recorder.answers.loading.nodes import (
    Node,
    nodes_of,
    reads_nodes,
)
from recorder.answers.node_questions import ConditionsQuestion
from recorder.answers.ports import Reading
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.projections import NodeState, advance
from recorder.model.document import Document
from recorder.model.window import Window


class ConditionPoint(Document, frozen=True, kw_only=True):
    """A condition of a node from this time on."""

    time: datetime
    node: str
    condition: str
    state: str
    """`True`, `False`, `Unknown`, or `Absent` if it was removed."""


class ConditionSeries(Document, frozen=True, kw_only=True):
    """Rows of a state timeline."""

    points: Sequence[ConditionPoint]
    coverage: Coverage


async def ask_conditions(
    reading: Reading,
    question: ConditionsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> ConditionSeries:
    """Return changes of conditions of nodes in a window, in order of time.

    Each condition has a first point at the begin of the window.
    """
    window, types = question.window, question.conditions
    await reading.reach(window.since, window.until)
    nodes = await nodes_of(
        reading,
        list(dict.fromkeys(question.nodes)),
        since=window.since,
        until=window.until,
        knowledge=knowledge,
    )
    points = [
        point
        for node in nodes
        for point in _points(node, window)
        if types is None or point.condition in types
    ]
    return ConditionSeries(
        points=sorted(points, key=lambda p: (p.time, p.node, p.condition)),
        coverage=await covered(
            reading, window, now=now, reads=reads_nodes, facts=True
        ),
    )


def _points(node: Node, window: Window) -> list[ConditionPoint]:
    state = node.base
    found = []
    if window.since is not None:
        found = _changes(node.name, NodeState(), state, window.since)
    for stored in node.facts:
        if not stored.fact.is_of_node:
            continue
        after = advance(state, stored.fact)
        found += _changes(node.name, state, after, stored.at)
        state = after
    return found


def _changes(
    node: str, before: NodeState, after: NodeState, at: datetime
) -> list[ConditionPoint]:
    old, new = _statuses(before), _statuses(after)
    return [
        ConditionPoint(
            time=at,
            node=node,
            condition=name,
            state=new.get(name, "Absent"),
        )
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def _statuses(state: NodeState) -> dict[str, str]:
    if not state.present:
        return {}
    return {
        name: str(condition.status)
        for name, condition in state.conditions.items()
    }
