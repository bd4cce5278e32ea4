"""All clusters of a registry behind one port.

A question to one cluster goes to its database alone. A question to all goes
to each database that responds; the others are reported as away.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from msgspec import structs

from recorder.answers.clusters import Away, Known
from recorder.answers.logs import choose_log
from recorder.answers.ports import Beside, Reading
from recorder.answers.status import Status, nothing_known
from recorder.facts.coverage.ports import Log
from recorder.model.errors import (
    LogUnavailableError,
    NotFoundError,
    RecorderError,
)
from recorder.model.reference import LogNumber
from recorder.model.settings import Settings
from recorder.store.engine import POOL_MAX, STATEMENT_TIMEOUT
from recorder.store.read import BESIDE_MAX
from recorder.store.read_follow import Bell
from recorder.wiring.places import (
    AT_ONCE,
    NO_LOG,
    PLACE_SECONDS,
    SILENT,
    Place,
)
from recorder.wiring.reading import Logs, OpenedLog, current_context

ALL_SECONDS = 10.0
"""For all databases together to answer."""

ABANDON_SECONDS = 1.0

CONNECTIONS = 2
"""To one database at most: a server may hold many of them."""

OPEN_MAX = 4
"""Databases whose connections stay open between questions."""

answering: ContextVar[set[Place] | None] = ContextVar(
    "answering", default=None
)
"""The databases read for the answer to a request, if they are counted."""

Answer = TypeVar("Answer")


class RoutedLogs:
    """Satisfies the port `Logs` of the API."""

    def __init__(
        self,
        settings: Settings,
        places: Sequence[Place],
        *,
        connections: int = POOL_MAX,
        statement_timeout: timedelta = STATEMENT_TIMEOUT,
    ) -> None:
        self._settings = settings
        self._places = places
        self._connections = min(connections, CONNECTIONS)
        self._statement_timeout = statement_timeout
        self._opened: dict[Place, tuple[int, Logs]] = {}
        """Those that were asked last come last."""

    def beside(
        self, *, connections: int, statement_timeout: timedelta
    ) -> "RoutedLogs":
        """Return the same logs over connections of their own."""
        return RoutedLogs(
            self._settings,
            self._places,
            connections=connections,
            statement_timeout=statement_timeout,
        )

    async def read(
        self, number: int | None, *, cluster: str | None = None
    ) -> OpenedLog:
        """Open the log that is meant, as it is now.

        Raises:
            NotFoundError: there is no such log or cluster.
            LogUnavailableError: its database is away, or that of a cluster
                that could be meant.
            ConfigError: several could be meant.
        """
        if number is None:
            number = (await self._chosen(cluster)).id
        place = self._place_of(number)
        logs = await self._logs(place)
        try:
            async with asyncio.timeout(PLACE_SECONDS):
                found = await logs.read(number)
        except TimeoutError as exc:
            raise _away(place, SILENT) from exc
        found.others = partial(self._beside, found.log.id)
        return found

    async def _beside(self, number: int) -> Beside:
        """Return the logs of the other clusters, and those that are away."""
        known = await self.known()
        others = [log.id for log in known.logs if log.id != number]
        return Beside(
            [await self.read(one) for one in others[:BESIDE_MAX]],
            [one.cluster for one in known.away],
        )

    async def known(self) -> Known:
        """Return the logs that can be read now, and the clusters away."""
        found, away = await self._of_all(lambda logs: logs.every())
        for place, logs in found:
            place.logs = logs
            away.extend(place.absent())
        return Known(
            logs=[log for _, logs in found for log in logs], away=away
        )

    async def status(self, number: int | None) -> Status:
        """Return everything at a glance: of all logs, or of the one named.

        Databases are added up, and the time is that of one of them. If all
        are away, there is nothing but which clusters and why.
        """
        if number is not None:
            logs = await self._logs(self._place_of(number))
            return await logs.status(number)
        found, away = await self._of_all(lambda logs: logs.status(None))
        if not found:
            return nothing_known(away, datetime.now(UTC))
        for place, _ in found:
            away.extend(place.absent())
        parts = [status for _, status in found]
        versions = sorted({part.database.version for part in parts})
        return replace(
            parts[0],
            logs=[log for part in parts for log in part.logs],
            database=structs.replace(
                parts[0].database,
                version=", ".join(versions),
                embedded=False,
                bytes=sum(part.database.bytes for part in parts),
                disk=None,
            ),
            days=None,
            away=away,
        )

    def bell(self, reading: Reading) -> Bell:
        """Return what rings when the log has grown."""
        number = reading.log.id
        return Bell(self._place_of(number).url, number)

    def note_delivery(self, log: int) -> None:
        """Note that the answer under way has something of a log."""
        _note(self._place_of(log))

    async def leave(self, log: int) -> None:
        """Close the connections to the database of a log until it is asked."""
        await self._leave(self._place_of(log))

    async def rest(self) -> None:
        """Close all connections but those to a few that were asked last."""
        gone = [place for place in self._opened if place not in self._places]
        for place in gone:
            await _abandon(self._opened.pop(place)[1])
        for place in [*self._opened][:-OPEN_MAX]:
            await self._leave(place)
            self._opened.pop(place, None)

    async def _leave(self, place: Place) -> None:
        # A few stay open anyway.
        if place in self._opened and len(self._places) > OPEN_MAX:
            await _abandon(self._opened[place][1])

    async def ping(self) -> None:
        """Check that some database responds: each that does not is a hole.

        Raises:
            LogUnavailableError: none does.
        """
        if all(place.away is not None for place in self._places):
            raise _none_found(())

    async def close(self) -> None:
        """Close the connections."""
        opened, self._opened = self._opened, {}
        for _, logs in opened.values():
            await _abandon(logs)

    def _place_of(self, number: int) -> Place:
        place = None
        if isinstance(number, LogNumber):
            place = self._of_cluster(number.cluster)
        if place is None:
            msg = f"there is no log {number}: logs are named CLUSTER:NUMBER"
            raise NotFoundError(msg)
        return place

    def _of_cluster(self, name: str) -> Place | None:
        return next(
            (one for one in self._places if name in one.clusters), None
        )

    async def _logs(self, place: Place) -> Logs:
        """Return the logs of a place, and note it for the answer under way.

        Raises:
            LogUnavailableError: it does not.
        """
        if place.away is not None:
            raise _away(place, place.away)
        _note(place)
        returns, logs = self._opened.pop(place, (0, None))
        if logs is None or returns != place.returns:
            if logs is not None:
                await _abandon(logs)
            logs = place.opened(
                connections=self._connections,
                statement_timeout=self._statement_timeout,
            )
        self._opened[place] = place.returns, logs
        return logs

    async def _chosen(self, cluster: str | None) -> Log:
        """Choose among the logs that were seen, or that are there now."""
        away: Sequence[Away] = ()
        logs = [log for place in self._places for log in place.logs]
        for is_last in (False, True):
            if is_last:
                known = await self.known()
                logs, away = list(known.logs), known.away
            try:
                if logs:
                    return choose_log(
                        logs,
                        number=None,
                        cluster=cluster,
                        context=lambda: current_context(self._settings),
                    )
            except NotFoundError:
                # A cluster that was never seen may be the one that is meant.
                if is_last and all(one.uid for one in away):
                    raise
        place = None if cluster is None else self._of_cluster(cluster)
        if place is not None:
            raise _away(place, place.away or place.absent()[0].why)
        raise _none_found(away)

    async def _of_all(
        self, ask: Callable[[Logs], Awaitable[Answer]]
    ) -> tuple[list[tuple[Place, Answer]], list[Away]]:
        """Ask all places, some at a time, each and all for a bounded time."""
        places = tuple(self._places)  # others may be registered meanwhile
        turn = asyncio.Semaphore(AT_ONCE)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ALL_SECONDS

        answers: dict[Place, Answer] = {}
        why: dict[Place, str] = {}

        async def one(place: Place) -> None:
            try:
                async with (
                    asyncio.timeout_at(deadline),
                    turn,
                    asyncio.timeout(PLACE_SECONDS),
                ):
                    answers[place] = await ask(await self._logs(place))
                    await self._leave(place)
            except (RecorderError, TimeoutError):
                why[place] = place.away or SILENT

        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(one(place))
        # In the order of the registry, not of the answers.
        found = [(one, answers[one]) for one in places if one in answers]
        lost = [one for one in places if one in why]
        return found, [gone for one in lost for gone in one.absent(why[one])]


async def _abandon(logs: Logs) -> None:
    """Close connections that may lead nowhere, without waiting for long."""
    with suppress(TimeoutError, RecorderError, OSError):
        async with asyncio.timeout(ABANDON_SECONDS):
            await logs.close()


def _note(place: Place) -> None:
    asked = answering.get()
    if asked is not None:
        asked.add(place)


def _away(place: Place, why: str) -> LogUnavailableError:
    names = ", ".join(place.clusters[:3])
    return LogUnavailableError(f'cluster "{names}" is away: {why}')


def _none_found(away: Sequence[Away]) -> LogUnavailableError | NotFoundError:
    if away and all(one.why == NO_LOG for one in away):
        return NotFoundError(
            "no database of the registry holds a log", code="not_found.log"
        )
    return LogUnavailableError(
        "cannot find the log: not all databases of the registry respond"
    )
