"""What the release carries of the catalog is what the migrations make."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from recorder.store.schema import known_revisions, wanted_revision
from tests.conftest import TEMPLATE
from tests.store.catalog import FILE, catalog_of, written
from tests.support.postgres import Database, DatabaseServer, fresh_database


@pytest.fixture
async def both(
    embedded_server: DatabaseServer, debian_server: DatabaseServer
) -> AsyncIterator[list[Database]]:
    async with (
        fresh_database(embedded_server, TEMPLATE) as newer,
        fresh_database(debian_server, TEMPLATE) as older,
    ):
        yield [newer, older]


async def test_it_is_written_anew_with_every_migration(
    both: list[Database],
) -> None:
    found = [await catalog_of(database) for database in both]

    assert FILE.read_bytes() == written(found), (
        "run: python -m tests.store.catalog"
    )
    assert {one.revision for one in found} == {wanted_revision()}


def test_revisions_are_read_as_alembic_reads_them() -> None:
    config = Config()
    folder = Path(__file__).parents[2] / "migrations"
    config.set_main_option("script_location", str(folder))
    script = ScriptDirectory.from_config(config)

    assert wanted_revision() == script.get_current_head()
    assert known_revisions() == {
        step.revision for step in script.walk_revisions()
    }
