"""A release works with the schema of the next one, if that allows it.

The next release is this one's migrations and one more.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree

import pytest

from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.store import schema
from recorder.store.engine import make_engine
from recorder.store.translate import SchemaError
from tests.conftest import migrated
from tests.corpus.make import TAPES
from tests.support.fact_rows import ask, current_facts, play
from tests.support.postgres import Database
from tests.tampering.story import the_log

GROWS = """
revision = "9001"
down_revision = {before!r}
branch_labels = None
depends_on = None


def upgrade():
    from alembic import op

    op.execute("alter table entry add column weather text")
    op.execute("create table weather (day date primary key)")
    op.execute("insert into schema_serves values ('9001')")
"""
BREAKS = """
    op.execute("delete from schema_serves where revision <> '9001'")
"""
Bring = Callable[[Database, str], Awaitable[None]]
OTHER = min(TAPES.glob("*.tape.jsonl.zst"))


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Return what migrates a database as the next release does."""

    async def bring(database: Database, script: str) -> None:
        folder = tmp_path / "migrations"
        copytree(schema._folder(), folder)
        step = script.format(before=schema.wanted_revision())
        (folder / "versions" / "next.py").write_text(step)
        with monkeypatch.context() as patch:
            patch.setattr(schema, "_folder", lambda: folder)
            await migrated(database)

    return bring


async def test_a_schema_serves_the_release_that_made_it(
    database: Database,
) -> None:
    """Or the next one cannot say that it serves this one too."""
    served = await ask(
        database, "select array_agg(revision) from recorder.schema_serves"
    )
    assert schema.wanted_revision() in served


async def test_the_release_before_goes_on_with_a_schema_that_grew(
    any_database: Database,
    next_release: Bring,
    tmp_path: Path,
) -> None:
    with as_file(
        files("recorder.sources.tape.demo") / "demo.tape.jsonl.zst"
    ) as tape:
        await play(any_database, tape, tmp_path)
    facts = await current_facts(any_database)

    await next_release(any_database, GROWS)
    engine = make_engine(any_database.dsn("writer"))
    try:
        await schema.check_schema(engine)
        assert await schema.migrate(engine) == ("9001", "9001")
    finally:
        await engine.dispose()

    await play(any_database, OTHER, tmp_path)
    assert await current_facts(any_database) == facts != []
    assert await current_facts(any_database, 2)
    for log in (1, 2):
        found = await verify(
            any_database.dsn("writer"),
            the_log(log),
            Verifying(),
            asyncio.Event(),
        )
        assert found.problems == []


async def test_a_schema_that_serves_no_older_release_is_refused(
    any_database: Database,
    next_release: Bring,
) -> None:
    await next_release(any_database, GROWS + BREAKS)

    engine = make_engine(any_database.dsn("reader"))
    try:
        with pytest.raises(SchemaError, match="does not serve"):
            await schema.check_schema(engine)
    finally:
        await engine.dispose()
