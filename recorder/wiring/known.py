"""Every cluster that is known, asked where its log lies."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from recorder.errors import RecorderError
from recorder.questions.clusters import ClustersAnswer, KnownLog, UnreadPlace
from recorder.settings import Settings
from recorder.wiring.database import shown
from recorder.wiring.places import places_of, watched
from recorder.wiring.reading import Logs, open_logs
from recorder.wiring.registry import read_registry
from recorder.wiring.routing import RoutedLogs

__all__ = ["known_clusters", "open_known"]

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
        NothingRecordedError: nothing was ever recorded into the data folder.
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


async def known_clusters(settings: Settings) -> ClustersAnswer:
    """Return every log of the registry's databases, or of the only one.

    A database that does not answer is told of, and hinders no other.

    Raises:
        RegistryError: the registry cannot be used.
        RecorderError: there is no registry, and the database does not answer.
    """
    if settings.clusters_file is None or settings.database_url is not None:
        async with open_logs(settings) as logs:
            found = await logs.every()
            place = logs.place
        return ClustersAnswer(
            logs=[KnownLog(log, place) for log in found], unread=()
        )
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
    return ClustersAnswer(
        logs=[log for task in asked for log in task.result().logs],
        unread=[one for task in asked for one in task.result().unread],
    )


async def _ask(
    settings: Settings,
    url: str,
    names: Sequence[str],
    turn: asyncio.Semaphore,
) -> ClustersAnswer:
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
    logs_named = [
        KnownLog(log, place)
        for log in found
        if {log.cluster_name, log.cluster_uid} & set(names)
    ]
    held = {one.log.cluster_name for one in logs_named}
    held |= {one.log.cluster_uid for one in logs_named}
    absent = [name for name in names if name not in held]
    missing = _away(absent, place, "the database has no log of it")
    return ClustersAnswer(logs=logs_named, unread=missing.unread)


def _away(names: Sequence[str], place: str, why: str) -> ClustersAnswer:
    return ClustersAnswer(
        logs=(), unread=[UnreadPlace(name, place, why) for name in names]
    )
