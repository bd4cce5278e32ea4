"""Answers of `recorder replay`: facts of a node and its state after each."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.answers.loading.nodes import node_of, reads_nodes
from recorder.answers.node_questions import ReplayQuestion
from recorder.answers.ports import Reading
from recorder.answers.references import find_node
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.projections import NodeState, advance
from recorder.model.fact import StoredFact


@dataclass(frozen=True, slots=True)
class Step:
    """A fact, and the node after it."""

    stored: StoredFact
    state: NodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Facts of a node, with its state after each."""

    steps: Sequence[Step]
    types: Container[str]
    """The types of claims that have rules."""

    coverage: Coverage


async def ask_replay(
    reading: Reading,
    question: ReplayQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Replay:
    """Return the facts of a node in a window, with its state after each.

    Raises:
        NotFoundError: the log has no such node.
    """
    window = question.window
    await reading.reach(window.since, window.until)
    await find_node(reading, question.node)
    node = await node_of(
        reading,
        question.node,
        since=window.since,
        until=window.until,
        knowledge=knowledge,
    )
    steps = []
    state = node.base
    for stored in node.facts:
        if stored.fact.is_of_node:
            state = advance(state, stored.fact)
        steps.append(Step(stored, state))
    coverage = await covered(
        reading, window, now=now, reads=reads_nodes, facts=True
    )
    return Replay(steps=steps, types=knowledge.types, coverage=coverage)
