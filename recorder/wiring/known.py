"""Every known cluster, read from the database of its log."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from recorder.answers.clusters import Clusters, KnownCluster
from recorder.keeping.registry import read_registry, shown
from recorder.model.errors import RecorderError
from recorder.model.settings import Settings
from recorder.wiring.places import places_of, watched
from recorder.wiring.reading import Logs, open_logs
from recorder.wiring.routing import RoutedLogs

AT_ONCE = 8
"""Databases that are asked at the same time."""

PLACE_SECONDS = 10.0
"""For one database to answer; one that is away must not hold up the rest."""


@asynccontextmanager
async def open_known(
    settings: Settings, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[Logs | RoutedLogs]:
    """Open every log: of the only database, or of all of the registry.

    Raises:
        RegistryError: the registry cannot be used.
        NotFoundError: nothing was ever recorded into the data folder.
    """
    if settings.clusters_file is None or settings.database_url is not None:
        async with open_logs(settings, on_wait=on_wait) as logs:
            yield logs
        return
    places = places_of(settings, read_registry(settings.clusters_file))
    async with watched(places, asyncio.Event()):
        routed = RoutedLogs(settings, places)
        try:
            yield routed
        finally:
            await routed.close()


async def known_clusters(settings: Settings) -> Clusters:
    """Return every log of the registry's databases, or of the only one.

    A database that does not answer is away, and hinders no other.

    Raises:
        RegistryError: the registry cannot be used.
        RecorderError: there is no registry, and the database does not answer.
    """
    if settings.clusters_file is None or settings.database_url is not None:
        async with open_logs(settings) as logs:
            place = logs.place
            found = [KnownCluster.of(log, place) for log in await logs.every()]
        return Clusters(clusters=found, complete=True)
    registry = read_registry(settings.clusters_file)
    names: dict[str, list[str]] = {}
    for name, url in registry.items():
        names.setdefault(url, []).append(name)
    turn = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(_ask(settings, url, clusters, turn))
            for url, clusters in names.items()
        ]
    found = [one for task in asked for one in task.result()]
    away = [one for one in found if one.log is None]
    read = [one for one in found if one.log is not None]
    return Clusters(clusters=[*read, *away], complete=not away)


async def _ask(
    settings: Settings,
    url: str,
    names: Sequence[str],
    turn: asyncio.Semaphore,
) -> list[KnownCluster]:
    """Return what a database has of the clusters registered there."""
    place = shown(url)
    there = replace(settings, database_url=url, cluster=None)
    try:
        async with (
            turn,
            asyncio.timeout(PLACE_SECONDS),
            open_logs(there) as logs,
        ):
            found = await logs.every()
    except TimeoutError:
        why = f"no answer within {PLACE_SECONDS:g} s"
        return _away(names, place, why)
    except RecorderError as exc:
        return _away(names, place, " ".join(str(exc).split()))
    named = [
        log
        for log in found
        if {log.cluster_name, log.cluster_uid} & set(names)
    ]
    held = {log.cluster_name for log in named}
    held |= {log.cluster_uid for log in named}
    absent = [name for name in names if name not in held]
    return [
        *(KnownCluster.of(log, place) for log in named),
        *_away(absent, place, "the database has no log of it"),
    ]


def _away(names: Sequence[str], place: str, why: str) -> list[KnownCluster]:
    return [
        KnownCluster(name=name, state="away", database=place, why=why)
        for name in names
    ]
