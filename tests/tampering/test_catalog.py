"""The schema is compared with what the migrations make.

Its owner can change what readers are shown without touching a row.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import asyncpg
import pytest

from recorder.keeping.verifying_database import verify_database
from recorder.store.long_work import connect_to
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.catalog import ALLOWED, CHANGES

DAY = f"{datetime.now(UTC):%Y%m%d}"


@pytest.fixture(scope="module", params=["embedded_server", "debian_server"])
def migrated(request: pytest.FixtureRequest) -> Iterator[Database]:
    server: DatabaseServer = request.getfixturevalue(request.param)

    with filled_database(server, with_days) as database:
        yield database


async def with_days(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "select recorder.add_partition(now() + n * interval '1 day')"
        " from generate_series(0, 1) n"
    )
    await connection.close()


@asynccontextmanager
async def changed(
    database: Database, *changes: str
) -> AsyncIterator[asyncpg.Connection]:
    """A superuser's session, in which changes were made that are undone."""
    connection = await connect_to(database.superuser_dsn())
    made = connection.transaction()
    await made.start()
    try:
        await connection.execute(
            "create schema evil; create schema recorder_was;"
            " create view recorder_was.boots as select * from history.boots"
        )
        for change in changes:
            await connection.execute(named(change, database))
        yield connection
    finally:
        await made.rollback()
        await connection.close()


def named(text: str, database: Database) -> str:
    """Put names for their places."""
    for place, name in {
        "{day}": DAY,
        "{database}": database.name,
        "{reader}": "recorder_embedded_reader",
        "{writer}": "recorder_embedded_writer",
    }.items():
        text = text.replace(place, name)
    return text


async def test_each_change_of_the_schema_is_named(migrated: Database) -> None:
    """Of all at once, since it is compared part by part."""
    changes = [change for change, *_ in CHANGES.values()]
    async with changed(migrated, *changes) as connection:
        found = await verify_database(connection)
    assert found.compared
    left = [
        what
        for what, (_, kind, says) in CHANGES.items()
        if not any(
            problem.kind == kind and named(says, migrated) in problem.says
            for problem in found.problems
        )
    ]
    assert left == [], found.problems


async def test_what_a_site_does_is_no_problem(migrated: Database) -> None:
    async with changed(migrated, *ALLOWED.values()) as connection:
        found = await verify_database(connection, {"recorder_embedded_writer"})
    assert (found.compared, found.problems) == (True, [])


async def test_roles_that_no_setting_names_may_only_read(
    migrated: Database,
) -> None:
    change = ALLOWED["a role of the settings"]
    async with changed(migrated, change) as connection:
        found = await verify_database(connection)
    assert [problem.kind for problem in found.problems] == ["grant-altered"]
