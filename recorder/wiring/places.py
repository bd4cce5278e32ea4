"""The databases of a registry, and which of them can be asked now.

Each is asked again and again whether it answers, so that nobody who asks of
a fleet waits for one that does not, and one that comes back is there for the
next question.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.coverage.ports import Log
from recorder.errors import ConfigError, RecorderError
from recorder.model.reads import is_of_reads
from recorder.model.reference import LogNumber
from recorder.questions.clusters import Away
from recorder.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.read import list_logs
from recorder.store.schema import check_schema
from recorder.store.translate import SchemaError
from recorder.wiring.database import ROLES, Database, shown
from recorder.wiring.reading import Logs
from recorder.wiring.registry import registered
from recorder.wiring.waiting import pause

__all__ = ["Place", "places_of", "watched"]

PLACE_SECONDS = 5.0
"""For one database to answer whether it is there, or what it holds."""

EVERY = timedelta(seconds=5)
AT_ONCE = 4
"""Databases: many of them may be on one server."""

CLOSE_SECONDS = 5.0

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
        """Why it cannot be asked; None while it answers."""

        self.logs: Sequence[Log] = ()
        """Those that it had when it answered last."""

        self.returns = 0
        """How often it came back: older connections lead nowhere."""

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
        """Return those of its clusters of which nothing can be read.

        That is all of them where there is a reason, else those that have no
        log in it.
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
        """See whether it answers, within a bounded time."""
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
        """Close the connection that it is asked over."""
        engine, self._engine = self._engine, None
        if engine is not None:
            with suppress(TimeoutError, RecorderError, OSError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await engine.dispose()

    async def _lost(self, why: str) -> None:
        self.away = why
        await self.close()


def places_of(
    settings: Settings, registry: Mapping[str, str]
) -> Sequence[Place]:
    """Return the databases of a registry, each once, in its order."""
    clusters: dict[str, list[str]] = {}
    for name, url in registry.items():
        clusters.setdefault(url, []).append(name)
    return [Place(settings, url, names) for url, names in clusters.items()]


@asynccontextmanager
async def watched(
    places: Sequence[Place], stop: asyncio.Event
) -> AsyncIterator[None]:
    """Keep asking places while entered; all were asked once before."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def ask(place: Place) -> None:
        async with turn:
            await place.ask()

    async def attend(place: Place) -> None:
        while not stop.is_set():
            await pause(stop, EVERY)
            await ask(place)

    async with asyncio.TaskGroup() as group:
        for place in places:
            group.create_task(ask(place))
    async with asyncio.TaskGroup() as group:
        attending = [group.create_task(attend(place)) for place in places]
        try:
            yield
        finally:
            for task in attending:
                task.cancel()
    for place in places:
        await place.close()
