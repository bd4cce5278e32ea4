"""Observations for intake, and what it made of it: no database, no tasks."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Self

import orjson

from recorder.intake.known_events import EVER
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Head, ResumePoint
from recorder.model.entry import Draft
from recorder.model.observation import WATCH, ListPage, Observation
from recorder.model.reference import Resource
from tests.support.memory_log import MemoryLog, MemoryWriter

__all__ = ["Story"]

TTL = timedelta(hours=1)


class Story:
    """Observations taken one after the other, each batch committed."""

    def __init__(
        self,
        *observations: Any,
        full_fidelity: bool = False,
        event_ttl: timedelta = TTL,
        log: MemoryLog | None = None,
    ) -> None:
        self.log = log or MemoryLog()
        self._writer = MemoryWriter(self.log)
        recovered = _now(self._writer.take_lease())
        self.ledger = Ledger(recovered, full_fidelity=full_fidelity)
        self.relisting = Relisting(self.ledger, event_ttl=event_ttl)
        self._sequencer = Sequencer(self.ledger, self.relisting)
        self.asked: list[timedelta | Sequence[int]] = []
        """What the log was asked of Events, and in which order."""
        self.take(*observations)

    def take(self, *observations: Observation) -> Self:
        """Go on with the story, and commit."""
        for observation in observations:
            self._know_events(observation)
            self._sequencer.take(observation)
        _now(self._writer.append(self._sequencer.seal()))
        return self

    def restarted(self, *observations: Observation) -> "Story":
        """Go on in another process, which knows only what is committed."""
        return Story(*observations, log=self.log)

    @property
    def drafts(self) -> list[Draft]:
        """Everything that became an entry."""
        return self.log.drafts()

    def of(self, *operations: str) -> list[Draft]:
        """The entries of some operations."""
        return [d for d in self.drafts if d.operation.value in operations]

    def operations(self) -> list[str]:
        """What was done, in order."""
        return [draft.operation.value for draft in self.drafts]

    def summaries(self, *operations: str) -> list[str]:
        """Entries in words: operation, name, version."""
        drafts = self.of(*operations) if operations else self.drafts
        return [
            " ".join(
                part
                for part in (
                    draft.operation.value,
                    _name(draft),
                    draft.resource_version,
                )
                if part
            )
            for draft in drafts
        ]

    def gaps(self) -> list[dict[str, Any]]:
        """The documents of the entries that close gaps."""
        return [orjson.loads(draft.raw) for draft in self.of("gap-closed")]

    def point(self, resource: Resource) -> ResumePoint:
        """The resume point of a watch."""
        return self.log.streams[WATCH, str(resource)]

    def resume_point(self, resource: Resource) -> str | None:
        """The version that a watch would resume from."""
        return self.point(resource).completed

    def heads(self) -> list[Head]:
        """Every head."""
        return list(self.log.heads.values())

    def _know_events(self, observation: Observation) -> None:
        events, log = self.relisting.events, self._writer
        while (wanted := events.wanted(observation)) is not None:
            assert isinstance(observation, ListPage)
            resource = observation.resource
            _now(log.append(self._sequencer.seal()))
            self.asked.append(wanted)
            if isinstance(wanted, timedelta):
                since = observation.observed_at - wanted
                events.know(_now(log.live_events(resource, since)))
            else:
                lacking = log.lacking(
                    resource, wanted, epoch=events.epoch, since=EVER
                )
                events.lack(_now(lacking))


def _name(draft: Draft) -> str | None:
    document = orjson.loads(draft.raw)
    if isinstance(document, dict) and "metadata" in document:
        name: str | None = document["metadata"].get("name")
        return name
    return draft.identity.name if draft.identity else None


def _now(coroutine: Any) -> Any:
    """Run a coroutine of the memory log, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    msg = "it waited"
    raise AssertionError(msg)
