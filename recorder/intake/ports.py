"""The ports of intake: sources to read, a log to append to.

Adapters satisfy these structurally. A source pushes observations into a sink
and may query what is known already; it holds no state that matters after a
crash, because it gets everything it needs to continue at the start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from recorder.intake.known_events import KnownEvent
from recorder.intake.receipts import Receipt
from recorder.intake.state import Batch, Recovered
from recorder.model.observation import Observation
from recorder.model.reference import Resource


class Sink(Protocol):
    """Where a source puts what it observed."""

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        """Hand over observations, in order.

        Waits while the bounded queue is full, so that the source stops
        reading; drops nothing. The receipt shows when they are committed, to
        callers that must not respond before.

        Raises:
            NotCommittedError: the recording ended; nothing was taken.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownObject:
    """The newest version of a live object in the log."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    resource_version: str
    raw: bytes | None
    """The document of exactly this version; None if that version was a folded
    heartbeat and was not stored."""


class HeldVersion(NamedTuple):
    """A version of an object, as the log or a list holds it."""

    namespace: str
    name: str
    resource_version: str


class Known(Protocol):
    """What the log knows already, for one source."""

    def resume_points(self) -> Mapping[str, str]:
        """Return where each stream of the source continues, by its name.

        As of the start of the recording: the completed version of a resource,
        or the place that was reached. A resource that must be listed first is
        left out.
        """

    def is_new(self, resource: Resource) -> bool:
        """Return whether no list of a resource was ever completed."""

    def entered(self, resource: Resource) -> str | None:
        """Return the highest entered version of a resource."""

    async def owned(self) -> Mapping[str, Sequence[int]]:
        """Return the versions that the log has recently, by resource.

        Of this epoch; a bounded number.
        """

    async def newest(self, count: int) -> Sequence[KnownObject]:
        """Return the live objects with the highest versions, newest first."""

    async def versions(self, resource: Resource) -> Mapping[str, HeldVersion]:
        """Return the version of every live object of a resource, by UID.

        Waits until everything that was put before has been processed.
        """

    async def lacking(
        self, resource: Resource, versions: Sequence[int]
    ) -> Sequence[int]:
        """Return those versions of Events that have no entry in the log.

        Of this epoch, and of Events that can still be alive. Waits until
        everything that was put before has been processed. For Events, which
        are too many to be held by UID.
        """


class Source(Protocol):
    """A producer of observations."""

    @property
    def finite(self) -> bool:
        """Whether it ends by itself, as a tape does and a watch must not."""

    async def run(self, sink: Sink, known: Known) -> None:
        """Observe until cancelled, or until nothing is left."""


class Log(Protocol):
    """The log, written by one writer at a time."""

    async def take_lease(self) -> Recovered:
        """Become the writer and read the state of the log.

        Raises:
            StandingByError: another process is the writer.
            LogUnavailableError: the log is unavailable.
        """

    async def append(self, batch: Batch) -> None:
        """Append a batch or nothing; repeating the same batch does no harm.

        Raises:
            LogUnavailableError: try the same batch again.
            UnknownStateError: memory is invalid, start again.
        """

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of committed entries by position."""

    async def live_events(
        self, resource: Resource, since: datetime
    ) -> Mapping[str, KnownEvent]:
        """Return the Events last seen alive since a time, by UID."""

    async def lacking(
        self,
        resource: Resource,
        versions: Sequence[int],
        *,
        epoch: int,
        since: datetime,
    ) -> Sequence[int]:
        """Return those versions, sorted, that have no entry.

        Of those of an epoch that were observed since a time.
        """

    async def owned(
        self, source: str, *, epoch: int, since: datetime
    ) -> Mapping[str, Sequence[int]]:
        """Return the newest versions of each resource of a source.

        Of those of an epoch that were observed since a time; a bounded
        number.
        """

    async def requests(self, moments: Sequence[datetime]) -> Sequence[bytes]:
        """Return the audit records of requests received at these times.

        Times are sorted, and to the microsecond. What was recorded a day
        before the first of them, by a clock of the cluster that is ahead, is
        not found.
        """

    async def claims(self, keys: Sequence[str]) -> Sequence[str]:
        """Return those keys whose claims have an entry."""

    async def close(self) -> None:
        """Release the lease."""
