"""A served database with incidents of the corpus and a story in it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from tests.api.serving import Client, served_by
from tests.api.telling import Telling
from tests.conftest import TEMPLATE
from tests.corpus.logs import play, tape_of
from tests.report.told import LIVE, STORY, tell
from tests.support.postgres import Database, DatabaseServer, fresh_database

TAPES = (
    "kernel-deadlock",
    "rack-loss-jobset",
    "crash",
    "drain-audited",
    "two-reboots",
)
"""Incidents of the corpus, as logs 1 to 5; log 6 is of the cluster prod."""


@pytest.fixture(scope="session")
def asked_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        database = runner.run(
            stack.enter_async_context(
                fresh_database(embedded_server, TEMPLATE)
            )
        )
        dsn = database.dsn("writer")
        for number, name in enumerate(TAPES, 1):
            assert runner.run(play(dsn, tape_of(name), name=name)) == number
        assert runner.run(tell(dsn, STORY, spec=LIVE)) == len(TAPES) + 1
        yield database
        runner.run(stack.aclose())


@pytest.fixture
async def served(asked_database: Database) -> AsyncIterator[Client]:
    async with served_by(asked_database.dsn("reader")) as client:
        yield client


@pytest.fixture
async def telling(database: Database) -> AsyncIterator[Telling]:
    teller = Telling(database.dsn("writer"))
    await teller.begin("n1", "n2")
    yield teller
    await teller.end()


@pytest.fixture
async def growing(
    database: Database, telling: Telling
) -> AsyncIterator[Client]:
    del telling
    async with served_by(database.dsn("reader")) as client:
        yield client
