"""The log of every release is one of this release once it is migrated."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import recorder
from tests.conftest import migrated
from tests.store.catalog import problems_of
from tests.store.release_logs import FOLDER, entries_digest, restore, root
from tests.support.fact_rows import current_facts, derive_anew
from tests.support.postgres import Database, DatabaseServer, fresh_database

RELEASES = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.fixture
async def empty(embedded_server: DatabaseServer) -> AsyncIterator[Database]:
    """A database of the server that the dumps are of."""
    async with fresh_database(embedded_server) as fresh:
        yield fresh


def test_this_release_is_kept() -> None:
    assert recorder.__version__ in RELEASES


@pytest.mark.parametrize("release", RELEASES)
async def test_its_entries_and_its_root_stay_over_all_migrations(
    empty: Database, release: str
) -> None:
    said = json.loads((FOLDER / f"{release}.json").read_text())
    dump: Path = FOLDER / f"{release}.sql.zst"
    await asyncio.to_thread(restore, empty, dump)

    await migrated(empty)

    assert await entries_digest(empty, said["columns"]) == (
        said["columns"],
        said["entries"],
    )
    assert await root(empty) == (said["root"], [])
    assert await problems_of(empty) == []
    await derive_anew(empty)
    assert await current_facts(empty) != []
