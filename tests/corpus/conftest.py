"""One database with every tape of the corpus, each in a log of its own."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from tests.conftest import TEMPLATE
from tests.corpus.logs import names, play_all
from tests.support.postgres import Database, DatabaseServer, fresh_database


@dataclass(frozen=True)
class Corpus:
    """The database, and the number of each incident's log."""

    database: Database
    logs: dict[str, int]


@pytest.fixture(scope="session")
def corpus(embedded_server: DatabaseServer) -> Iterator[Corpus]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        database = runner.run(
            stack.enter_async_context(
                fresh_database(embedded_server, TEMPLATE)
            )
        )
        logs = runner.run(play_all(database.dsn("writer"), names()))
        yield Corpus(database, logs)
        runner.run(stack.aclose())
