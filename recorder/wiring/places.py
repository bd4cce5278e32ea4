"""The databases of a registry, and which of them can be asked now.

Each is probed again and again, so that a question to a fleet does not wait
for one that does not respond, and one that responds again takes part in the
next question.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.clusters import Away
from recorder.facts.coverage.ports import Log
from recorder.keeping.registry import registered, shown
from recorder.model.errors import ConfigError, RecorderError
from recorder.model.reads import is_of_reads
from recorder.model.reference import LogNumber
from recorder.model.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.read import list_logs
from recorder.store.schema import check_schema
from recorder.store.translate import SchemaError
from recorder.wiring.database import ROLES, Database
from recorder.wiring.reading import Logs
from recorder.wiring.waiting import pause

PLACE_SECONDS = 5.0
"""For one database to respond to a probe or a question."""

EVERY = timedelta(seconds=5)
AT_ONCE = 4
"""Databases: many of them may be on one server."""

CLOSE_SECONDS = 5.0
LAST_SECONDS = 1.0

SILENT = "its database does not respond"
REFUSED = "its database refuses the role, the password or the name"
NOT_ASKED = "its database was not asked yet"
NO_LOG = "its database has no log of it"


class Place:
    """One database, with the clusters that the registry has there."""

    def __init__(
        self, settings: Settings, url: str, clusters: Sequence[str]
    ) -> None:
        self.clusters = clusters
        self.url = url
        self.away: str | None = NOT_ASKED
        """Why it is away; None while it responds."""

        self.logs: Sequence[Log] = ()
        """Those that it had when it answered last."""

        self.returns = 0
        """How often it responded again: older connections are dead."""

        self.settings = replace(
            settings, database_url=url, clusters_file=None, cluster=None
        )
        self._engine: AsyncEngine | None = None

    def opened(
        self, *, connections: int, statement_timeout: timedelta
    ) -> Logs:
        """Return its logs over connections of their own, not yet opened."""
        database = Database(
            dict.fromkeys(ROLES, self.url),
            embedded=False,
            says=shown(self.url),
        )
        engine = make_engine(
            self.url,
            connections=connections,
            statement_timeout=statement_timeout,
        )
        return Logs(self.settings, database, engine, clusters=self.clusters)

    def absent(self, why: str | None = None) -> Sequence[Away]:
        """Return those of its clusters that cannot be read.

        With a reason these are all; without one, those that have no log in
        it.
        """
        seen = {
            log.id.cluster: log
            for log in reversed(self.logs)
            if isinstance(log.id, LogNumber)
            and not is_of_reads(log.cluster_uid)
        }
        return [
            Away(
                cluster=name,
                why=why or NO_LOG,
                uid=seen[name].cluster_uid if name in seen else None,
            )
            for name in self.clusters
            if why is not None or name not in seen
        ]

    async def ask(self) -> None:
        """Probe whether it responds, within a bounded time."""
        try:
            async with asyncio.timeout(PLACE_SECONDS):
                if self._engine is None:
                    self._engine = make_engine(self.url, connections=1)
                await check_schema(self._engine)
                logs = await list_logs(self._engine)
        except SchemaError as exc:
            await self._lost(" ".join(str(exc).split()))
        except ConfigError:
            await self._lost(REFUSED)
        except (RecorderError, TimeoutError):
            await self._lost(SILENT)
        else:
            await self.close()
            self.logs = registered(logs, self.clusters)
            if self.away is not None:
                self.returns += 1
                self.away = None

    async def close(self) -> None:
        """Close the connection of the probes."""
        engine, self._engine = self._engine, None
        if engine is not None:
            with suppress(TimeoutError, RecorderError, OSError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await engine.dispose()

    async def _lost(self, why: str) -> None:
        self.away = why
        await self.close()


def places_of(
    settings: Settings,
    registry: Mapping[str, str],
    before: Iterable[Place] = (),
) -> list[Place]:
    """Return the databases of a registry, each once, in its order.

    Those that were there before, of the same clusters, are the same.
    """
    known = {(one.url, *one.clusters): one for one in before}
    clusters: dict[str, list[str]] = {}
    for name, url in registry.items():
        clusters.setdefault(url, []).append(name)
    return [
        known.get((url, *names)) or Place(settings, url, names)
        for url, names in clusters.items()
    ]


@asynccontextmanager
async def watched(
    places: list[Place],
    stop: asyncio.Event,
    changed: Callable[[], list[Place] | None] = lambda: None,
) -> AsyncIterator[None]:
    """Keep probing places while entered; the first round is done before.

    Args:
        places: the current ones; the list is changed in place.
        stop: set when the end is wanted, and when it is left.
        changed: called again and again; returns the new places, or None if
            they are the same.
    """
    watch = _Watch(places, stop)
    await watch.ask(places)
    async with asyncio.TaskGroup() as group:
        watch.attend(group)
        renewing = group.create_task(watch.renew(group, changed))
        try:
            yield
        finally:
            # Who is being asked may answer: a connection that is cut off
            # while it closes stays open.
            stop.set()
            await _ended({renewing, *watch.attending.values()})
    for place in places:
        await place.close()


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Wait for tasks, and cancel those that take long until they end.

    Again and again: a driver that closes a hung connection may swallow a
    cancellation, and then waits for the other end for ever.
    """
    while tasks:
        _, tasks = await asyncio.wait(tasks, timeout=LAST_SECONDS)
        for task in tasks:
            task.cancel()


class _Watch:
    """Asks places, each again and again, and some at a time."""

    def __init__(self, places: list[Place], stop: asyncio.Event) -> None:
        self.attending: dict[Place, asyncio.Task[None]] = {}
        self._places = places
        self._stop = stop
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def ask(self, places: Iterable[Place]) -> None:
        """See of each whether it answers."""
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(self._ask(place))

    def attend(self, group: asyncio.TaskGroup) -> None:
        """Keep asking those that there are, as long as they are."""
        for place, task in [*self.attending.items()]:
            if task.done():
                del self.attending[place]
        for place in self._places:
            if place not in self.attending:
                task = group.create_task(self._attend(place))
                self.attending[place] = task

    async def renew(
        self,
        group: asyncio.TaskGroup,
        changed: Callable[[], list[Place] | None],
    ) -> None:
        """Take over what has changed, once all that is new was asked."""
        while not self._stop.is_set():
            await pause(self._stop, EVERY)
            fresh = changed()
            if fresh is None:
                continue
            await self.ask(one for one in fresh if one not in self._places)
            self._places[:] = fresh
            self.attend(group)

    async def _ask(self, place: Place) -> None:
        async with self._turn:
            await place.ask()

    async def _attend(self, place: Place) -> None:
        while not self._stop.is_set() and place in self._places:
            await pause(self._stop, EVERY)
            await self._ask(place)
        await place.close()
