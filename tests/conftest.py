"""What every test finds: no settings of the person who runs it, a database
of its own, and a real Kubernetes where it asks for one."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from recorder.store.engine import make_engine
from recorder.store.schema import migrate
from recorder.wiring.database import roles_sql
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    make_template,
    start_debian,
    start_embedded,
)
from tests.support.sampling import HOW_TO_REPEAT

TEMPLATE = "recorder_template"

TESTS = Path(__file__).parent
RECORDINGS = "recording"
CLUSTERS = (
    "survival",
    "bench",
    "cluster",
    "deploy",
    "watch/test_kubernetes.py",
)
"""Tests that run real clusters: recordings one after another in one process,
all others in a second. Both mostly wait, whatever runs beside them."""

DEATHS = ("crash", "embedded", "faults")
"""Tests that kill processes or play faults without a cluster: one after
another too. These groups begin first, each in a process of its own: together
they take half of the time."""

LONG = ("page", "archive", "api", "corpus", "cli", "docs", "store")
"""What takes longest of the rest: begun before what takes less, so that the
processes end together."""

DIVIDED = "scenarios"
"""Nothing is made for all of these: what is left is shared at the end."""

ORDER = (RECORDINGS, *CLUSTERS, *DEATHS, *LONG)

for _variable in [name for name in os.environ if name.startswith("RECORDER_")]:
    if not _variable.startswith("RECORDER_TEST_"):
        del os.environ[_variable]


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # untyped
    """Keeps a folder together where several processes share the tests.

    What is made once for a folder is then made by one of them alone.
    """

    def _split_scope(self, nodeid: str) -> str:
        group = group_of(TESTS.parent / nodeid.partition("::")[0])
        return nodeid.partition("[")[0] if group == DIVIDED else group


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> ByGroup:
    return ByGroup(config, log)


def pytest_report_header() -> str:
    return HOW_TO_REPEAT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _turn(item.path))


@cache
def group_of(path: Path) -> str:
    """Name what runs one after another in one process."""
    inside = path.relative_to(TESTS)
    for name, group in ("clusters", CLUSTERS), ("deaths", DEATHS):
        if any(inside.is_relative_to(folder) for folder in group):
            return name
    return inside.parts[0]


@cache
def _turn(path: Path) -> int:
    inside = path.relative_to(TESTS)
    found = [inside.is_relative_to(name) for name in ORDER]
    return [*found, inside.parts[0] != DIVIDED, True].index(True)


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[DatabaseServer]:
    with start_embedded(roles_sql()) as server:
        asyncio.run(make_template(server, TEMPLATE, migrated))
        yield server


@pytest.fixture(scope="session")
def debian_server() -> Iterator[DatabaseServer]:
    with start_debian(roles_sql()) as server:
        asyncio.run(make_template(server, TEMPLATE, migrated))
        yield server


async def migrated(database: Database) -> None:
    engine = make_engine(database.dsn("owner"))
    try:
        await migrate(engine)
    finally:
        await engine.dispose()


@pytest.fixture
async def database(
    embedded_server: DatabaseServer,
) -> AsyncIterator[Database]:
    """A database with the schema, on the embedded server."""
    async with fresh_database(embedded_server, TEMPLATE) as fresh:
        yield fresh


@pytest.fixture(params=["embedded_server", "debian_server"])
def any_server(request: pytest.FixtureRequest) -> DatabaseServer:
    """The newest and the oldest PostgreSQL supported, in turn."""
    server: DatabaseServer = request.getfixturevalue(request.param)
    return server


@pytest.fixture
async def any_database(
    any_server: DatabaseServer,
) -> AsyncIterator[Database]:
    """A database with the schema, on each of them."""
    async with fresh_database(any_server, TEMPLATE) as fresh:
        yield fresh
