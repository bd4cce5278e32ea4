"""The state that one request shares: its logs as they were when first read.

All fields of one query read the same state of a log, however long they take.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import strawberry

from api.access import Principal
from api.ports import Logs
from api.resolvers.following import Following, Wanted, coverage_of
from api.resolvers.judging import Ask, Judging
from api.resolvers.remembering import JudgedOnce
from api.resolvers.types.facts import FactBatch
from api.resolvers.visible.streams import VisibleFactStream
from recorder.answers.ports import Reading
from recorder.answers.status import Status
from recorder.explain.knowledge import Knowledge
from recorder.model.errors import ConfigError
from recorder.model.fact import FactKind
from recorder.model.reference import LogNumber

Answer = TypeVar("Answer")


@dataclass(slots=True, kw_only=True)
class RequestContext:
    """One request."""

    logs: Logs
    knowledge: Knowledge
    now: datetime
    principal: Principal
    links: Sequence[str] = ()
    """The setting `links`."""

    judged: JudgedOnce = field(default_factory=JudgedOnce)
    """Incidents judged for earlier requests."""

    following: Following | None = None
    judging: Judging | None = None
    """Both only for subscriptions."""

    _readings: dict[tuple[str | None, int | None], Reading] = field(
        default_factory=dict
    )
    _locks: dict[tuple[str | None, int | None], asyncio.Lock] = field(
        default_factory=dict
    )
    """Fields are resolved concurrently, and must not open a log twice; a log
    that is slow to open does not delay others."""

    async def reading(
        self, cluster: str | None = None, log: str | None = None
    ) -> Reading:
        """Open a log, or return it as an earlier field opened it.

        Raises:
            NotFoundError: there is no such log.
            ConfigError: several could be meant.
        """
        number = None if log is None else _number(log)
        lock = self._locks.setdefault((cluster, number), asyncio.Lock())
        async with lock:
            found = self._readings.get((cluster, number))
            if found is None:
                found = await self.logs.read(number, cluster=cluster)
                known = (None, found.log.id)
                found = self._readings.setdefault(known, found)
                self._readings[cluster, number] = found
            return found

    async def follow(
        self,
        cluster: str | None,
        log: str | None,
        *,
        node: str | None,
        kinds: Sequence[FactKind] | None,
        after: str | None,
    ) -> AsyncIterator[FactBatch]:
        """Yield new facts as they are committed."""
        assert self.following is not None, "only subscriptions follow"
        number = None if log is None else _number(log)
        place = cluster, number
        if self.principal.rights is None:
            batches = self.following.follow(
                place, Wanted.of(node, kinds), after
            )
        else:
            # All subscribers share one follower; its facts are filtered here.
            reading = await self.reading(cluster, log)
            place = None, reading.log.id
            stream = VisibleFactStream(reading, node, coverage_of)
            batches = stream.seen(
                self.following.follow(
                    place, Wanted.of(node, kinds), after, still=stream.check
                )
            )
        async for batch in batches:
            yield batch

    def watch(
        self, cluster: str | None, log: str | None, ask: Ask[Answer]
    ) -> AsyncIterator[Answer]:
        """Yield the answer to a question, again when facts come."""
        assert self.judging is not None, "only subscriptions watch"
        number = None if log is None else _number(log)
        return self.judging.watch((cluster, number), self.principal, ask)

    async def status(self) -> Status:
        """Return the status of all logs."""
        return await self.logs.status(None)


Info = strawberry.Info[RequestContext, None]


def _number(log: str) -> int:
    try:
        return LogNumber.parse(log)
    except ValueError as exc:
        raise ConfigError(str(exc), code="question.log") from exc
