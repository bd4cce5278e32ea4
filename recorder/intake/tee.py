"""Tees: observations that pass intake, copied to the writer of a tape.

A tee that joins in the middle first gets a list of everything that is alive,
made from the log, so that its tape plays by itself.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from recorder.intake.document import collection_of, is_events
from recorder.intake.ledger import Ledger
from recorder.intake.ports import Log
from recorder.intake.relisting import Relisting
from recorder.intake.state import StreamKey, StreamState
from recorder.model.observation import WATCH, ListPage, Observation
from recorder.model.reference import Resource

PAGE = 500
"""Documents of a made page, as of a list of the API server."""


class Tee(Protocol):
    """Takes observations, redacted and in the order of the log."""

    def write(self, observations: Sequence[Observation]) -> None:
        """Write observations, without raising.

        An exception would end the recording.
        """


class Tees:
    """The tees of one recording."""

    def __init__(self, ledger: Ledger, relisting: Relisting, log: Log) -> None:
        self._ledger = ledger
        self._relisting = relisting
        self._log = log
        self._joined: list[Tee] = []

    def write(self, observations: Sequence[Observation]) -> None:
        """Pass on what has been taken."""
        for tee in self._joined:
            tee.write(observations)

    def join(self, tee: Tee) -> None:
        """Pass on from now on."""
        self._joined.append(tee)

    def leave(self, tee: Tee) -> None:
        """Stop passing on."""
        if tee in self._joined:
            self._joined.remove(tee)

    def may_open(self) -> bool:
        """Return whether no list is incomplete, so that lists can be made."""
        return not self._relisting.is_listing()

    async def made_lists(
        self, at: datetime, event_ttl: timedelta
    ) -> AsyncIterator[ListPage]:
        """Yield lists of all that is alive; everything must be committed."""
        for (source, name), point in sorted(self._ledger.streams.items()):
            if (
                source != WATCH
                or point.completed is None
                or point.state is StreamState.ABSENT
            ):
                continue
            resource = Resource.parse(name)
            positions = await self._alive(resource, at, event_ttl)
            async for page in self._pages(
                (source, name), positions, at, point.completed
            ):
                yield page

    async def _alive(
        self, resource: Resource, at: datetime, event_ttl: timedelta
    ) -> list[int]:
        if is_events(resource):
            since = self._ledger.reach(at, event_ttl)
            events = await self._log.live_events(resource, since)
            return sorted(event.position for event in events.values())
        heads = self._ledger.versions.of(collection_of(resource))
        return sorted(head.position for head in heads.values())

    async def _pages(
        self,
        key: StreamKey,
        positions: list[int],
        at: datetime,
        version: str,
    ) -> AsyncIterator[ListPage]:
        source, name = key
        starts = range(0, max(len(positions), 1), PAGE)
        for start in starts:
            wanted = positions[start : start + PAGE]
            found = await self._log.documents(wanted)
            yield ListPage(
                observed_at=at,
                resource=Resource.parse(name),
                resource_version=version,
                items=[found[position] for position in wanted],
                more=start != starts[-1],
                made=True,
                source=source,
            )
