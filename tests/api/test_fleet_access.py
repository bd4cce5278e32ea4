"""Who may see what of several databases, and where it is recorded."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from api.access import Principal
from api.resolvers.visible.logs import visible
from recorder.keeping.tokens import TokenFile
from recorder.model.access import Right
from recorder.model.errors import LogUnavailableError, NotFoundError
from recorder.model.reference import LogNumber
from recorder.wiring import places
from recorder.wiring.places import Place, places_of, watched
from recorder.wiring.routing import RoutedLogs
from recorder.wiring.serving import serving
from tests.api.serving import Client, settings_for
from tests.api.test_reads import asked, reads_of
from tests.cluster.waiting import until
from tests.support.fleet import CLUSTERS, DEAD, rename, write_registry
from tests.support.postgres import Database, DatabaseServer, fresh_database

OWN, OTHER = CLUSTERS[0], CLUSTERS[1]


class Everything:
    """Every right in one cluster, and none in others."""

    def __init__(self, cluster: str) -> None:
        self.cluster_uid = f"uid-of-{cluster}"

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        return wanted


@asynccontextmanager
async def routed(urls: dict[str, str]) -> AsyncIterator[RoutedLogs]:
    settings = settings_for(None)
    stop = asyncio.Event()
    databases = places_of(settings, urls)
    async with watched(databases, stop):
        logs = RoutedLogs(settings, databases)
        yield logs
        await logs.close()


def urls_of(databases: dict[str, Database], *names: str) -> dict[str, str]:
    return {name: databases[name].dsn("reader") for name in names}


async def test_rights_in_one_cluster_show_nothing_of_another(
    fleet_databases: dict[str, Database],
) -> None:
    urls = urls_of(fleet_databases, OTHER, OWN) | {"dead": DEAD}
    async with routed(urls) as logs:
        seen = visible(logs, Principal("alice", Everything(OWN)))

        known = await seen.known()
        assert [log.cluster_name for log in known.logs] == [OWN]
        assert known.away == []
        status = await seen.status(None)
        assert [one.log.cluster_name for one in status.logs] == [OWN]
        assert status.away == []
        assert (await seen.read(None)).log.id == LogNumber(1, OWN)
        for number, cluster in (
            (LogNumber(1, OTHER), None),
            (None, OTHER),
            (None, f"uid-of-{OTHER}"),
            (1, None),
            (LogNumber(1, "dead"), None),
            (None, "dead"),
        ):
            with pytest.raises(NotFoundError, match="that you may read"):
                await seen.read(number, cluster=cluster)


async def test_that_the_own_cluster_is_away_is_no_empty_answer(
    fleet_databases: dict[str, Database],
) -> None:
    urls = urls_of(fleet_databases, OTHER) | {OWN: DEAD}
    async with routed(urls) as logs:
        seen = visible(logs, Principal("alice", Everything(OWN)))
        with pytest.raises(LogUnavailableError, match="its database is away"):
            await seen.read(None)
        with pytest.raises(LogUnavailableError, match="its database is away"):
            await seen.read(LogNumber(1, OWN))
        with pytest.raises(LogUnavailableError):
            await seen.known()
        with pytest.raises(LogUnavailableError, match="its database is away"):
            await seen.status(None)


async def test_a_database_shows_no_cluster_that_is_not_registered_there(
    fleet_databases: dict[str, Database],
) -> None:
    url = fleet_databases[OTHER].dsn("reader")
    place = Place(settings_for(None), url, [OWN])
    await place.ask()

    assert place.away is None
    assert [one.why for one in place.absent()] == [
        "its database has no log of it"
    ]
    async with routed({OWN: url}) as logs:
        for number, cluster in ((LogNumber(1, OWN), None), (None, OTHER)):
            with pytest.raises(NotFoundError):
                await logs.read(number, cluster=cluster)


async def test_reads_are_recorded_where_they_are_answered(
    fleet_databases: dict[str, Database],
    embedded_server: DatabaseServer,
    tmp_path: Path,
) -> None:
    del fleet_databases
    token = TokenFile(tmp_path / "tokens").add("alice")
    async with (
        fresh_database(embedded_server, "fleet_crash") as own,
        fresh_database(embedded_server, "fleet_crash") as other,
    ):
        for name, database in ((OWN, own), (OTHER, other)):
            await rename(database, name)
        urls = {OWN: own.dsn("writer"), OTHER: other.dsn("writer")}
        settings = replace(
            settings_for(None, tmp_path / "tokens"),
            data_dir=tmp_path,
            clusters_file=write_registry(tmp_path / "clusters", urls),
            serve_read_log="reads",
        )
        one = f'{{ nodeNames(cluster: "{OWN}") }}'
        both = '{ stats(clusters: ["*"]) { cluster } }'
        async with (
            serving(settings, asyncio.Event()) as address,
            aiohttp.ClientSession() as session,
        ):
            client = Client(address, session)

            async def answers() -> bool:
                found = await asked(client, token, both)
                return found.status == 200

            await until(answers, "reads are recorded", seconds=30)
            assert (await asked(client, token, one)).status == 200
            assert (await asked(client, token, both)).status == 200
            queries = [
                [
                    read["requestObject"]["query"]
                    for read in await reads_of(database)
                ]
                for database in (own, other)
            ]

    assert queries[0][-2:] == [one, both]
    assert both in queries[1]
    assert one not in queries[1]


class _Stuck(Place):
    """Hangs in its second probe, and swallows the first cancellation."""

    probes = 0

    async def ask(self) -> None:
        self.probes += 1
        if self.probes > 1:
            forever = asyncio.Event()
            with suppress(asyncio.CancelledError):
                await forever.wait()
            await forever.wait()


async def test_a_stop_waits_for_no_probe_that_swallows_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "EVERY", timedelta(0))
    monkeypatch.setattr(places, "LAST_SECONDS", 0.01)
    stuck = _Stuck(settings_for(None), DEAD, ["a"])

    async with asyncio.timeout(10):
        async with places.watched([stuck], asyncio.Event()):
            await until(lambda: stuck.probes > 1, "it is probed again")
