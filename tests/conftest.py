"""What every test finds: no settings of the person who runs it, a database
of its own, and a real Kubernetes where it asks for one."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import pytest

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

TEMPLATE = "recorder_template"

for _variable in [name for name in os.environ if name.startswith("RECORDER_")]:
    if not _variable.startswith("RECORDER_TEST_"):
        del os.environ[_variable]


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
