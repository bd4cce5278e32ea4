"""A log with entries is brought from an older schema to this release's.

Its rows at that schema are those of a log of today in the columns of then,
copied table by table: a migration adds to what is there and touches no entry.
"""

from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from io import BytesIO
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic import command
from sqlalchemy import Connection

from recorder.store import schema
from recorder.store.engine import make_engine
from tests.conftest import TEMPLATE, migrated
from tests.support.fact_rows import current_facts, derive_anew, play
from tests.support.postgres import Database, DatabaseServer, fresh_database

DEMO = "demo.tape.jsonl.zst"
COLUMNS = """
    select c.table_name,
      array_agg(c.column_name::text order by ordinal_position)
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'recorder' and t.table_type = 'BASE TABLE'
      and c.table_name <> 'schema_version'
      and c.table_name !~ '^(entry|fact)_[0-9]{8}$'
    group by c.table_name
"""
REFERRED_FIRST = ("dictionary", "log", "kind", "resource", "word", "object")
COUNTERS = """
    select setval(
      pg_get_serial_sequence('recorder.' || table_name, column_name), 1000)
    from information_schema.columns
    where table_schema = 'recorder' and identity_generation is not null
"""
DAYS = """
    select recorder.add_partition(day) from unnest($1::timestamptz[]) day
"""
ENTRIES = "select e.* from recorder.entry e order by position"


async def rows(database: Database, question: str) -> list[Any]:
    connection = await asyncpg.connect(database.superuser_dsn())
    try:
        return [tuple(row) for row in await connection.fetch(question)]
    finally:
        await connection.close()


async def bring_to(database: Database, revision: str) -> None:
    engine = make_engine(database.dsn("owner"))

    def upgrade(connection: Connection) -> None:
        config = schema._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    try:
        async with engine.connect() as connection:
            await connection.run_sync(upgrade)
    finally:
        await engine.dispose()


async def copy_rows(source: Database, target: Database) -> None:
    """Copy what a log holds into the columns that the target has."""
    theirs = dict(await rows(target, COLUMNS))
    reading = await asyncpg.connect(source.superuser_dsn())
    writing = await asyncpg.connect(target.superuser_dsn())
    try:
        days = await reading.fetch("select lower from recorder.partition")
        await writing.fetch(DAYS, [day["lower"] for day in days])
        others = sorted(theirs.keys() - {*REFERRED_FIRST, "partition"})
        for table in (*(t for t in REFERRED_FIRST if t in theirs), *others):
            names = ", ".join(f'"{name}"' for name in theirs[table])
            held = BytesIO()
            await reading.copy_from_query(
                f"select {names} from recorder.{table}",
                output=held,
                format="binary",
            )
            held.seek(0)
            await writing.copy_to_table(
                table,
                schema_name="recorder",
                columns=theirs[table],
                source=held,
                format="binary",
            )
        await writing.fetch(COUNTERS)
    finally:
        await reading.close()
        await writing.close()


@pytest.fixture
async def empty(any_server: DatabaseServer) -> AsyncIterator[Database]:
    async with fresh_database(any_server) as fresh:
        yield fresh


async def test_a_log_of_before_facts_has_those_of_a_log_of_today(
    any_server: DatabaseServer, empty: Database, tmp_path: Path
) -> None:
    async with fresh_database(any_server, TEMPLATE) as today:
        with as_file(files("recorder.demo") / DEMO) as tape:
            await play(today, tape, tmp_path)
        live = await current_facts(today)
        await bring_to(empty, "0001")
        await copy_rows(today, empty)
    before = await rows(empty, ENTRIES)

    await migrated(empty)
    assert await rows(empty, ENTRIES) == before != []
    assert await current_facts(empty) == []

    with as_file(files("recorder.demo") / DEMO) as tape:
        await play(empty, tape, tmp_path)
    assert await rows(empty, ENTRIES) == before
    await derive_anew(empty)
    assert await current_facts(empty) == live != []
