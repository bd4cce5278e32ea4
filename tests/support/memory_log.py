"""A log in memory, with faults at the two moments that matter.

It passes the same suite as the one in PostgreSQL (tests/contract), and can
fail an append before or after it took effect. It outlives its writers, as a
database does.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import datetime, timedelta

import orjson

from recorder.intake.document import read
from recorder.intake.known_events import KnownEvent
from recorder.intake.state import (
    Batch,
    Head,
    HeadKey,
    Jump,
    Recovered,
    ResumePoint,
    StreamKey,
)
from recorder.model.entry import Draft, Operation
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.model.reference import Resource

__all__ = ["MemoryLog", "MemoryWriter"]


OF_VERSIONS = frozenset(
    {
        Operation.LISTED,
        Operation.ADDED,
        Operation.MODIFIED,
        Operation.DELETED,
    }
)


class MemoryLog:
    """What is committed."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, Draft]] = []
        self.heads: dict[HeadKey, Head] = {}
        self.streams: dict[StreamKey, ResumePoint] = {}
        self.epoch = 1
        self.term = 0
        self.holder: str | None = None

    def drafts(self, *operations: Operation) -> list[Draft]:
        """Return the drafts of some operations, of all without any."""
        return [
            draft
            for _, draft in self.entries
            if not operations or draft.operation in operations
        ]

    def jumps(self) -> list[Jump]:
        """Return the jumps of the clock that entries record."""
        return [
            Jump(
                position,
                draft.observed_at,
                timedelta(seconds=orjson.loads(draft.raw)["seconds"]),
            )
            for position, (_, draft) in enumerate(self.entries, 1)
            if draft.operation is Operation.CLOCK_JUMPED
        ]


class MemoryWriter:
    """The port `Log`, on a log in memory."""

    def __init__(self, log: MemoryLog, *, holder: str = "writer") -> None:
        self.log = log
        self._holder = holder
        self._term = 0
        self.faults: list[str] = []
        """Fate of the appends to come: ``lost`` is not applied, ``silent``
        is applied and not answered, anything else goes well."""

    async def take_lease(self) -> Recovered:
        log = self.log
        if log.holder not in (None, self._holder):
            msg = f'"{log.holder}" writes the log'
            raise StandingByError(msg)
        log.term += 1
        log.holder, self._term = self._holder, log.term
        return Recovered(
            log=1,
            size=len(log.entries),
            epoch=log.epoch,
            heads=deepcopy(list(log.heads.values())),
            streams=deepcopy(log.streams),
            newest_request=max(
                (
                    draft.occurred_at
                    for draft in log.drafts(Operation.AUDIT)
                    if draft.occurred_at is not None
                ),
                default=None,
            ),
            jumps=log.jumps(),
        )

    async def append(self, batch: Batch) -> None:
        fault = self.faults.pop(0) if self.faults else "none"
        if fault == "lost":
            msg = "the log is away"
            raise LogUnavailableError(msg)
        self._apply(batch)
        if fault == "silent":
            msg = "the log did not answer"
            raise LogUnavailableError(msg)

    def _apply(self, batch: Batch) -> None:
        log = self.log
        if self._term != log.term:
            msg = "another writer took the lease"
            raise UnknownStateError(msg)
        size = len(log.entries)
        if size == batch.first_position - 1 + len(batch) and len(batch):
            return  # applied before, and not answered
        if size != batch.first_position - 1:
            msg = f"the log has {size} entries"
            raise UnknownStateError(msg)
        log.entries.extend(batch.drafts)
        for key in batch.gone:
            log.heads.pop(key, None)
        log.heads.update(deepcopy(batch.heads))
        log.streams.update(deepcopy(batch.streams))
        for key in batch.left:
            log.streams.pop(key, None)
        log.epoch = batch.epoch

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        self._reach()
        entries = self.log.entries
        return {
            position: entries[position - 1][1].raw
            for position in positions
            if position <= len(entries)
        }

    async def lacking(
        self,
        resource: Resource,
        versions: Sequence[int],
        *,
        epoch: int,
        since: datetime,
    ) -> Sequence[int]:
        self._reach()
        held = {
            read(draft.raw, resource=resource).resource_version
            for of, draft in self.log.entries
            if of == epoch
            and draft.resource == str(resource)
            and draft.observed_at >= since
            and draft.operation in OF_VERSIONS
        }
        return sorted(v for v in versions if str(v) not in held)

    async def owned(
        self, source: str, *, epoch: int, since: datetime
    ) -> Mapping[str, Sequence[int]]:
        self._reach()
        owned: dict[str, list[int]] = {}
        operations = OF_VERSIONS | {Operation.RECOVERED, Operation.ABSENT}
        for of, draft in self.log.entries:
            is_late = (of, draft.source) == (epoch, source)
            is_late = is_late and draft.observed_at >= since
            version = draft.resource_version
            if is_late and version and draft.operation in operations:
                owned.setdefault(draft.resource or "", []).append(int(version))
        return owned

    async def requests(self, moments: Sequence[datetime]) -> Sequence[bytes]:
        self._reach()
        return [
            draft.raw
            for draft in self.log.drafts(Operation.AUDIT)
            if draft.occurred_at in moments
        ]

    async def claims(self, keys: Sequence[str]) -> Sequence[str]:
        self._reach()
        held = {
            draft.identity.uid
            for draft in self.log.drafts(Operation.CLOUDEVENT)
            if draft.identity is not None
        }
        return [key for key in keys if key in held]

    async def live_events(
        self, resource: Resource, since: datetime
    ) -> Mapping[str, KnownEvent]:
        self._reach()
        alive: dict[str, KnownEvent] = {}
        for position, (epoch, draft) in enumerate(self.log.entries, 1):
            if draft.resource != str(resource) or draft.observed_at < since:
                continue
            if draft.operation not in {
                Operation.LISTED,
                Operation.ADDED,
                Operation.MODIFIED,
                Operation.DELETED,
                Operation.ABSENT,
            }:
                continue
            if draft.operation is Operation.ABSENT:
                alive.pop(orjson.loads(draft.raw)["uid"], None)
                continue
            document = read(draft.raw, resource=resource)
            _, uid = document.key
            if draft.operation is Operation.DELETED:
                alive.pop(uid, None)
                continue
            alive[uid] = KnownEvent(
                epoch,
                document.namespace,
                document.name,
                document.resource_version,
                draft.observed_at,
                position,
            )
        return alive

    async def close(self) -> None:
        if self._term == self.log.term:
            self.log.holder = None

    def _reach(self) -> None:
        """Raise `LogUnavailableError` where the log is away; here it is not.

        Each question is preceded by it.
        """
