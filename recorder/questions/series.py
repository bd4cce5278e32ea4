"""Conditions of nodes over time, as rows of a table for dashboards."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.coverage.coverage import Coverage, covered
from recorder.knowledge import Knowledge
from recorder.model.window import Window
from recorder.projections import NodeState, advance
from recorder.questions.loading.nodes import (
    Node,
    is_of_node,
    nodes_of,
    reads_nodes,
)
from recorder.questions.ports import Reading

__all__ = ["Conditions", "Point", "ask_conditions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A condition from a time on."""

    at: datetime
    node: str
    type: str
    status: str | None
    """None where it went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Points in order of time, and what may be missing."""

    points: Sequence[Point]
    coverage: Coverage


async def ask_conditions(
    reading: Reading,
    names: Sequence[str],
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Conditions:
    """Read how conditions of nodes changed in a window.

    Each begins at the window's edge as it was then.
    """
    await reading.reach(window.since, window.until)
    nodes = await nodes_of(
        reading,
        list(dict.fromkeys(names)),
        since=window.since,
        until=window.until,
        knowledge=knowledge,
    )
    points = [point for node in nodes for point in _points(node, window)]
    return Conditions(
        points=sorted(points, key=lambda p: (p.at, p.node, p.type)),
        coverage=await covered(
            reading, window, now=now, reads=reads_nodes, facts=True
        ),
    )


def _points(node: Node, window: Window) -> list[Point]:
    state = node.base
    found = []
    if window.since is not None:
        found = _changes(node.name, NodeState(), state, window.since)
    for stored in filter(is_of_node, node.facts):
        after = advance(state, stored.fact)
        found += _changes(node.name, state, after, stored.at)
        state = after
    return found


def _changes(
    node: str, before: NodeState, after: NodeState, at: datetime
) -> list[Point]:
    old, new = _statuses(before), _statuses(after)
    return [
        Point(at=at, node=node, type=name, status=new.get(name))
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
