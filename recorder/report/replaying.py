"""Answers of `recorder replay`: facts of a node and its state after each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recorder.facts import says_with_object
from recorder.knowledge import Knowledge
from recorder.model.fact import FactKind, StoredFact
from recorder.projections import NodeState, advance
from recorder.report.coverage import Coverage, covered
from recorder.report.factlines import (
    document,
    state_document,
    state_words,
)
from recorder.report.happened import node_of
from recorder.report.ports import Reading
from recorder.report.references import find_node
from recorder.report.text import plain
from recorder.report.why import reads_nodes
from recorder.report.window import Window

__all__ = ["Replay", "ReplayQuestion", "Step", "ask_replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayQuestion:
    """Which node, and when."""

    node: str
    window: Window


@dataclass(frozen=True, slots=True)
class Step:
    """A fact, and the node after it."""

    stored: StoredFact
    state: NodeState

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**document(self.stored), "state": state_document(self.state)}

    @property
    def day(self) -> str:
        """The day on which it was."""
        return self.stored.at.strftime("%Y-%m-%d")

    def line(self, *, entry: int = 0, state: int = 0) -> str:
        """Return it as a line of text, padded to these widths."""
        stored = self.stored
        clock = stored.at.strftime("%H:%M:%S.%f")[:-3]
        what = says_with_object(stored.fact)
        name = str(stored.entry).ljust(entry)
        words = state_words(self.state).ljust(state)
        return plain(f"{clock}  {name}  {words}  {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A node's history."""

    steps: Sequence[Step]
    coverage: Coverage

    def lines(self) -> Iterator[tuple[Step, str]]:
        """Yield each step as text, in columns; a new day is said."""
        entry = max((len(str(s.stored.entry)) for s in self.steps), default=0)
        state = max((len(state_words(s.state)) for s in self.steps), default=0)
        day = None
        for step in self.steps:
            line = step.line(entry=entry, state=state)
            yield step, line if step.day == day else f"{step.day}\n{line}"
            day = step.day


async def ask_replay(
    reading: Reading,
    question: ReplayQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Replay:
    """Read the facts of a node in a window, and fold them.

    Raises:
        NotFoundError: the log has no such node.
    """
    await find_node(reading, question.node)
    window = question.window
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
        thing = stored.fact.object
        if (
            thing is not None
            and thing.kind == "Node"
            and stored.fact.kind not in {FactKind.EVENT, FactKind.REQUESTED}
        ):
            state = advance(state, stored.fact)
        steps.append(Step(stored, state))
    coverage = await covered(
        reading, window, now=now, reads=reads_nodes, facts=True
    )
    return Replay(steps=steps, coverage=coverage)
