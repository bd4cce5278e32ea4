"""Databases with every tape of the corpus, each in a log of its own."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.corpus.live.asking import live_names, play_live
from tests.corpus.logs import names, play_all
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer


@dataclass(frozen=True)
class Corpus:
    """The database, and the number of each incident's log."""

    database: Database
    logs: dict[str, int]


@pytest.fixture(scope="session")
def corpus(embedded_server: DatabaseServer) -> Iterator[Corpus]:
    logs: dict[str, int] = {}

    async def fill(writer: str) -> None:
        logs.update(await play_all(writer, names()))

    with filled_database(embedded_server, fill) as database:
        yield Corpus(database, logs)


@pytest.fixture(scope="session")
def live(embedded_server: DatabaseServer) -> Iterator[Corpus]:
    """The same of the live incidents."""
    logs: dict[str, int] = {}

    async def fill(writer: str) -> None:
        logs.update(await play_live(writer, live_names()))

    with filled_database(embedded_server, fill) as database:
        yield Corpus(database, logs)
