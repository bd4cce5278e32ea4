"""The schema is brought, checked and printed."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from recorder.store.schema import known_revisions, wanted_revision
from tests.cli.conftest import Recorder
from tests.store.catalog import problems_of
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
)


@pytest.fixture
def empty(any_server: DatabaseServer) -> Iterator[Database]:
    """A database with the roles and nothing else."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yield runner.run(stack.enter_async_context(fresh_database(any_server)))
        runner.run(stack.aclose())


def test_an_empty_database_is_brought_to_the_schema(
    empty: Database, recorder: Recorder
) -> None:
    url = ("--database-url", empty.dsn("owner"))

    before = recorder("migrate", "--check", *url)
    assert before.status == 1
    assert 'its schema is "missing"' in before.err
    assert "recorder migrate" in before.err

    answer = recorder("migrate", *url)
    assert (answer.status, answer.err) == (0, "")
    wanted = wanted_revision()
    assert answer.out == f'migrated the schema from "nothing" to "{wanted}"\n'

    again = recorder("migrate", *url)
    assert again.out == f'the schema is up to date: "{wanted}"\n'
    assert recorder("migrate", "--check", *url).status == 0


def test_a_question_to_another_schema_is_refused(
    empty: Database, recorder: Recorder
) -> None:
    answer = recorder("gaps", "--database-url", empty.dsn("reader"))

    assert answer.status == 1
    assert "run `recorder migrate`" in answer.err


def test_a_role_without_the_right_learns_what_it_lacks(
    empty: Database, recorder: Recorder
) -> None:
    answer = recorder("migrate", "--database-url", empty.dsn("writer"))

    assert answer.status == 1
    assert "recorder_owner" in answer.err
    assert answer.err.count("\n") == 1


def test_of_an_upgrade_its_own_statements_are_printed(
    empty: Database, recorder: Recorder
) -> None:
    url = ("--database-url", empty.dsn("owner"))
    before = max(known_revisions() - {wanted_revision()})

    async def run(sql: str) -> None:
        async with connected(empty.superuser_dsn()) as connection:
            await connection.execute(sql)

    whole = recorder("migrate", "--sql").out
    older = whole.partition(f"-- Running upgrade {before} ->")[0]
    asyncio.run(run(f"{older}\ncommit;"))
    upgrade = recorder("migrate", "--sql", *url).out
    assert f"{before} -> " in upgrade
    assert "create table log " not in upgrade.lower()

    asyncio.run(run(upgrade))

    assert recorder("migrate", "--check", *url).status == 0
    done = recorder("migrate", "--sql", *url)
    assert (done.out, done.status) == ("", 0)
    assert "up to date" in done.err


def test_what_is_printed_is_what_would_be_run(
    empty: Database, recorder: Recorder
) -> None:
    sql = recorder("migrate", "--sql").out

    async def run() -> None:
        async with connected(empty.superuser_dsn()) as connection:
            await connection.execute(sql)

    asyncio.run(run())

    url = ("--database-url", empty.dsn("reader"))
    assert recorder("migrate", "--check", *url).status == 0
    assert recorder("status", *url).status == 0
    assert asyncio.run(problems_of(empty)) == []
