"""Intake that lives and dies over a log that stays, one commit at a time."""

from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

from hypothesis import settings

from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch, ResumePoint
from recorder.model.entry import Draft
from recorder.model.errors import LogUnavailableError
from recorder.model.observation import WATCH, Observation
from recorder.model.reference import Resource
from tests.support.memory_log import MemoryLog, MemoryWriter

__all__ = ["BOUNDED", "Fate", "Intake", "at_once"]

Fate = Literal["well", "lost", "silent"]
Answer = TypeVar("Answer")

BOUNDED = settings(
    derandomize=True,
    deadline=None,
    max_examples=120,
    stateful_step_count=30,
)
"""The same examples each time, in seconds."""


class Intake:
    """Takes observations; commits, fails to, and starts again."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.restart()

    def restart(self) -> None:
        """Forget everything that is not committed."""
        self._writer = MemoryWriter(self.log)
        recovered = at_once(self._writer.take_lease())
        self.ledger = Ledger(recovered)
        self._sequencer = Sequencer(self.ledger, Relisting(self.ledger))
        self._in_hand: Batch | None = None

    def take(self, *observations: Observation) -> None:
        """Take observations into memory."""
        for observation in observations:
            self._sequencer.take(observation)

    def commit(self, fate: Fate = "well") -> None:
        """Try once; a batch that failed is tried again by the next call."""
        batch = self._in_hand or self._sequencer.seal()
        if fate != "well":
            self._writer.faults.append(fate)
        try:
            at_once(self._writer.append(batch))
        except LogUnavailableError:
            self._in_hand = batch
        else:
            self._in_hand = None

    def commit_all(self) -> None:
        """Commit until nothing is in hand."""
        self.commit()
        self.commit()
        assert self._in_hand is None
        assert not self.ledger.seal()

    def point(self, resource: Resource) -> ResumePoint | None:
        """The resume point of a watch, as it is in memory."""
        return self.ledger.streams.get((WATCH, str(resource)))

    def drafts(self, resource: Resource) -> list[Draft]:
        """What is committed of a resource."""
        return [
            draft
            for draft in self.log.drafts()
            if draft.resource == str(resource)
        ]


def at_once(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine of the log in memory, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        answer: Answer = stop.value
        return answer
    msg = "it waited"
    raise AssertionError(msg)
