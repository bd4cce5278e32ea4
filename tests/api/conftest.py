"""A served database with incidents of the corpus and a story in it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import aiohttp
import pytest

from tests.api.serving import (
    Client,
    served_by,
    serving_beside,
    settings_for,
)
from tests.corpus.logs import play_in_turn, tape_of
from tests.support.filled import filled_database
from tests.support.fixed_log import LIVE, STORY, write_log
from tests.support.fleet import fleet_of
from tests.support.postgres import Database, DatabaseServer
from tests.support.written_log import WrittenLog

TAPES = (
    "kernel-deadlock",
    "rack-loss-jobset",
    "crash",
    "drain-audited",
    "two-reboots",
)
"""Incidents of the corpus, as logs 1 to 5; log 6 is of the cluster prod."""

TWIN = replace(LIVE, cluster_name="twin", cluster_uid="22222222-twin")
"""A second cluster that is live: a question must name one."""


@pytest.fixture(scope="session")
def asked_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        await play_in_turn(writer, {name: tape_of(name) for name in TAPES})
        for number, spec in enumerate((LIVE, TWIN), len(TAPES) + 1):
            assert await write_log(writer, STORY, spec=spec) == number

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture(scope="module")
def serving_address(asked_database: Database) -> Iterator[str]:
    settings = settings_for(asked_database.dsn("reader"))
    with serving_beside(settings) as address:
        yield address


@pytest.fixture
async def served(serving_address: str) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(serving_address, session)


@pytest.fixture
async def written_log(database: Database) -> AsyncIterator[WrittenLog]:
    written_log = WrittenLog(database.dsn("writer"))
    await written_log.begin("n1", "n2")
    yield written_log
    await written_log.end()


@pytest.fixture
async def growing(
    database: Database, written_log: WrittenLog
) -> AsyncIterator[Client]:
    del written_log
    async with served_by(database.dsn("reader")) as client:
        yield client


@pytest.fixture(scope="session")
def fleet_databases(
    embedded_server: DatabaseServer, debian_server: DatabaseServer
) -> Iterator[dict[str, Database]]:
    with asyncio.Runner() as runner:
        fleet = fleet_of([embedded_server, debian_server])
        yield runner.run(fleet.__aenter__())
        runner.run(fleet.__aexit__(None, None, None))
