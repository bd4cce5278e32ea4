"""What a source may query of the recording: the port `Known`."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.intake.document import collection_of, read
from recorder.intake.ledger import Ledger
from recorder.intake.ports import HeldVersion, KnownObject, Log
from recorder.intake.queue import IntakeQueue
from recorder.intake.state import Head
from recorder.intake.streams import is_half_read
from recorder.model.observation import WATCH
from recorder.model.reference import Resource

PAST_HELD = timedelta(minutes=15)
"""Longer than an API server holds its past."""


def utc_now() -> datetime:
    """Return the time of the wall clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Serves one source, from the ledger, and from the log if necessary."""

    source: str
    ledger: Ledger
    log: Log
    queue: IntakeQueue
    commit: Callable[[], Awaitable[None]]
    event_ttl: timedelta
    now: Callable[[], datetime] = utc_now

    def resume_points(self) -> Mapping[str, str]:
        """Return where each stream of the source continues, by its name."""
        return {
            stream: point.completed
            for (source, stream), point in self.ledger.streams.items()
            if source == self.source
            and point.completed
            and (source != WATCH or point.began_at is not None)
            and not is_half_read(point)
        }

    def entered(self, resource: Resource) -> str | None:
        """Return the highest entered version of a resource."""
        point = self.ledger.streams.get((self.source, str(resource)))
        return None if point is None else point.pending

    async def owned(self) -> Mapping[str, Sequence[int]]:
        """Return the versions that the log has recently, by resource."""
        ledger = self.ledger
        since = ledger.reach(self.now(), PAST_HELD)
        return await self.log.owned(
            self.source, epoch=ledger.epoch, since=since
        )

    def is_new(self, resource: Resource) -> bool:
        """Return whether no list of a resource was ever completed."""
        point = self.ledger.streams.get((self.source, str(resource)))
        return point is None or point.began_at is None

    async def newest(self, count: int) -> Sequence[KnownObject]:
        """Return the live objects with the highest versions, newest first.

        Only of this epoch: an object that is not listed yet in it has a
        version of the rewound history, and would prove the same rewind again
        to a source that was started since.
        """
        epoch = self.ledger.epoch
        heads = heapq.nlargest(
            count,
            (head for head in self.ledger.versions if head.epoch == epoch),
            key=_order,
        )
        raws = await self.log.documents([head.position for head in heads])
        return [_known(head, raws.get(head.position)) for head in heads]

    async def versions(self, resource: Resource) -> Mapping[str, HeldVersion]:
        """Return the version of every live object of a resource, by UID."""
        answer: dict[str, HeldVersion] = {}

        async def read() -> None:
            heads = self.ledger.versions.of(collection_of(resource))
            for (_, name), head in heads.items():
                of = head.identity
                answer[name] = HeldVersion(
                    of.namespace, of.name, head.resource_version
                )

        await self._in_order(read)
        return answer

    async def lacking(
        self, resource: Resource, versions: Sequence[int]
    ) -> Sequence[int]:
        """Return those versions of Events that have no entry in the log."""
        await self._in_order(self.commit)
        since = self.ledger.reach(self.now(), self.event_ttl * 2)
        return await self.log.lacking(
            resource, versions, epoch=self.ledger.epoch, since=since
        )

    async def _in_order(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run something after all that was put before."""
        done = asyncio.Event()

        async def do() -> None:
            try:
                await work()
            finally:
                done.set()

        await self.queue.ask(do)
        await done.wait()


def _order(head: Head) -> tuple[int, str]:
    return len(head.resource_version), head.resource_version


def _known(head: Head, raw: bytes | None) -> KnownObject:
    resource = Resource.parse(head.resource)
    if raw is not None:
        document = read(raw, resource=resource)
        if document.resource_version != head.resource_version:
            # The newest version was a heartbeat, which is only counted.
            raw = None
    return KnownObject(
        resource=resource,
        namespace=head.identity.namespace,
        name=head.identity.name,
        uid=head.identity.uid or "",
        resource_version=head.resource_version,
        raw=raw,
    )
