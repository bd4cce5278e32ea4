"""A node's timeline: its facts in a window, its state as spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.answers.loading.nodes import (
    is_authored,
    is_of_node,
    node_of,
    reads_nodes,
)
from recorder.answers.placed import is_told_of_node, requests_placed
from recorder.answers.ports import Reading
from recorder.answers.references import find_node
from recorder.answers.spanning.merging import union
from recorder.coverage.account import read_account
from recorder.coverage.coverage import Coverage, cover
from recorder.knowledge import Knowledge
from recorder.model.fact import StoredFact
from recorder.model.window import Window
from recorder.projections import NodeState, advance
from recorder.projections.lanes import Lanes

__all__ = ["Timeline", "ask_timeline", "is_fault", "service"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What is drawn of a node."""

    node: str
    base: NodeState
    """The node as the window begins."""

    state: NodeState
    """The node as it ends."""

    lanes: Lanes
    facts: Sequence[StoredFact]
    coverage: Coverage

    @property
    def window(self) -> Window:
        """Its ends, as far as they are known."""
        return self.coverage.window


async def ask_timeline(
    reading: Reading,
    name: str,
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Timeline:
    """Read what happened on a node in a window, and fold it.

    Raises:
        NotFoundError: the log has no such node.
    """
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
        if is_of_node(stored):
            state = advance(state, stored.fact)
            lanes.take(stored, state)
    asked = await requests_placed(reading, name, window)
    told = [
        stored
        for stored in asked
        if is_told_of_node(stored) and _is_within(stored, window)
    ]
    account = await read_account(
        reading, window, now=now, reads=reads_nodes, facts=True
    )
    return Timeline(
        node=name,
        base=node.base,
        state=state,
        lanes=lanes,
        facts=union(node.facts, told),
        coverage=cover(account, authored=is_authored),
    )


def _is_within(stored: StoredFact, window: Window) -> bool:
    since, until = window.since, window.until
    return (since is None or stored.at >= since) and (
        until is None or stored.at < until
    )


def service(state: NodeState, knowledge: Knowledge) -> str:
    """Say in a word what a node is good for."""
    if not state.present:
        return "absent"
    if state.ready != "True":
        return "not-ready" if state.ready == "False" else "unknown"
    if not state.in_service:
        return "cordoned"
    broken = any(
        is_fault(name, condition.status, knowledge)
        for name, condition in state.conditions.items()
    )
    return "degraded" if broken else "in-service"


def is_fault(condition: str, status: object, knowledge: Knowledge) -> bool:
    """Return whether a rule calls a status of a condition a fault."""
    rule = knowledge.condition(condition)
    return (
        rule is not None
        and condition != "Ready"
        and rule.decision is None
        and rule.when == status
    )
