"""A log with entries is brought from an older schema to this release's.

Its rows at that schema are those of a log of today in the columns of then,
copied table by table: a migration adds to what is there and touches no entry.
"""

import asyncio
from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from io import BytesIO
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic import command
from click.testing import CliRunner, Result
from sqlalchemy import Connection

from recorder.cli.main import main
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_database import verify
from recorder.model.errors import RecorderError
from recorder.store import schema
from recorder.store.engine import make_engine
from tests.conftest import TEMPLATE, migrated
from tests.support.fact_rows import current_facts, derive_anew, play
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
)
from tests.tampering.story import the_log

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
LARGER_FACT = """
    insert into recorder.fact (recorded_at, at, observed_at, position, log_id,
      derivation_id, index, kind, sign, evidence, detail)
    select recorded_at, observed_at, observed_at, position, log_id, 1, 0, 11,
      false, true, '{}'::jsonb
    from recorder.entry where position = 1 returning 1
"""
ENTRIES_ALONE = Verifying(facts=Proving(mode="none"))
ENTRIES = "select e.* from recorder.entry e order by position"


async def rows(database: Database, question: str) -> list[Any]:
    async with connected(database.superuser_dsn()) as connection:
        return [tuple(row) for row in await connection.fetch(question)]


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
        # Facts had another form then.
        others = sorted(theirs.keys() - {*REFERRED_FIRST, "partition", "fact"})
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


async def status(database: Database, folder: Path) -> Result:
    place = ["--data-dir", str(folder), "--database-url"]
    return await asyncio.to_thread(
        CliRunner().invoke,
        main,
        [*place, database.dsn("reader"), "status"],
        standalone_mode=False,
    )


@pytest.fixture
async def empty(any_server: DatabaseServer) -> AsyncIterator[Database]:
    async with fresh_database(any_server) as fresh:
        yield fresh


async def test_a_log_of_larger_facts_says_that_they_are_to_be_derived(
    any_server: DatabaseServer, empty: Database, tmp_path: Path
) -> None:
    async with fresh_database(any_server, TEMPLATE) as today:
        with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
            await play(today, tape, tmp_path)
        live = await current_facts(today)
        await bring_to(empty, "0004")
        await copy_rows(today, empty)
    await rows(empty, LARGER_FACT)
    before = await rows(empty, ENTRIES)

    await migrated(empty)
    assert await rows(empty, ENTRIES) == before != []
    assert await current_facts(empty) == []
    answer = await status(empty, tmp_path)
    assert "run `recorder rederive`" in answer.stdout

    await derive_anew(empty)
    assert await current_facts(empty) == live != []
    answer = await status(empty, tmp_path)
    assert "rederive" not in answer.stdout


async def test_a_log_of_before_facts_has_those_of_a_log_of_today(
    any_server: DatabaseServer, empty: Database, tmp_path: Path
) -> None:
    async with fresh_database(any_server, TEMPLATE) as today:
        with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
            await play(today, tape, tmp_path)
        live = await current_facts(today)
        await bring_to(empty, "0001")
        await copy_rows(today, empty)
    before = await rows(empty, ENTRIES)

    await migrated(empty)
    assert await rows(empty, ENTRIES) == before != []
    assert await current_facts(empty) == []

    with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
        await play(empty, tape, tmp_path)
    assert await rows(empty, ENTRIES) == before
    await derive_anew(empty)
    assert await current_facts(empty) == live != []


@pytest.mark.parametrize("revision", ["0001", "0004", "0005"])
async def test_a_log_of_before_hashes_is_sealed_and_keeps_its_entries(
    any_server: DatabaseServer,
    empty: Database,
    tmp_path: Path,
    revision: str,
) -> None:
    async with fresh_database(any_server, TEMPLATE) as today:
        with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
            await play(today, tape, tmp_path)
        await bring_to(empty, revision)
        await copy_rows(today, empty)
    before = await rows(empty, ENTRIES)

    await migrated(empty)

    assert await rows(empty, ENTRIES) == before
    dsn, never = empty.dsn("writer"), asyncio.Event()
    first = await verify(dsn, the_log(1), ENTRIES_ALONE, never)
    assert first.problems == []
    assert first.sealed == first.batches > 0
    again = await verify(dsn, the_log(1), ENTRIES_ALONE, never)
    assert (again.problems, again.sealed) == ([], 0)
    assert again.root == first.root


async def test_roots_that_were_written_stay_valid_over_later_migrations(
    any_server: DatabaseServer, empty: Database, tmp_path: Path
) -> None:
    async with fresh_database(any_server, TEMPLATE) as today:
        with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
            await play(today, tape, tmp_path)
        written = await verify(
            today.dsn("writer"), the_log(1), Verifying(), asyncio.Event()
        )
        await bring_to(empty, "0006")
        await copy_rows(today, empty)

    await migrated(empty)

    found = await verify(
        empty.dsn("writer"), the_log(1), ENTRIES_ALONE, asyncio.Event()
    )
    assert (found.problems, found.sealed) == ([], 0)
    assert found.root == written.root


async def test_a_migration_waits_for_the_writer_and_is_out_of_its_way(
    empty: Database, tmp_path: Path
) -> None:
    """The writer is in a transaction that takes longer than one attempt."""
    await bring_to(empty, "0008")
    writer = await asyncpg.connect(empty.dsn("writer"))
    words = ["--data-dir", str(tmp_path), "--database-url",
             empty.dsn("owner"), "migrate"]  # fmt: skip

    async def migrating(*more: str) -> Result:
        run = CliRunner().invoke
        return await asyncio.to_thread(run, main, [*words, *more])

    try:
        transaction = writer.transaction()
        await transaction.start()
        # As an append does.
        await writer.execute("lock table recorder.entry in row exclusive mode")
        refused = await migrating()
        assert refused.exit_code == 1
        assert isinstance(refused.exception, (SystemExit, RecorderError))
        assert await found(empty) == "0008"

        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(migrating("--wait", "1m"))
            # What is asked while it waits is answered between two attempts.
            reader = await asyncpg.connect(empty.dsn("reader"), timeout=30)
            await reader.fetch("select from recorder.entry limit 1")
            await reader.close()
            await transaction.rollback()
        assert waiting.result().exit_code == 0, waiting.result().output
        assert await found(empty) == schema.wanted_revision()
    finally:
        await writer.close()


async def found(database: Database) -> str:
    ((revision,),) = await rows(
        database, "select version_num from recorder.schema_version"
    )
    return str(revision)


async def test_two_databases_are_migrated_at_once_in_one_process(
    any_server: DatabaseServer,
) -> None:
    async with (
        fresh_database(any_server) as one,
        fresh_database(any_server) as other,
    ):
        engines = [make_engine(each.dsn("owner")) for each in (one, other)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(schema.migrate(engine))
                    for engine in engines
                ]
        finally:
            for engine in engines:
                await engine.dispose()

    reached = [task.result() for task in tasks]
    assert reached == [(None, schema.wanted_revision())] * 2
