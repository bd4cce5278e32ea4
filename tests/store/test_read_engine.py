"""Connections of readers: bounded, read-only, with clear errors."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from recorder.model.errors import LogUnavailableError
from recorder.store import engine as module
from recorder.store.engine import (
    AddressError,
    QuestionTooLargeError,
    fetch,
    fetch_planned,
    make_engine,
    reading,
)
from recorder.store.statement import Statement
from recorder.store.translate import LogAccessError, SchemaError
from tests.support.postgres import Database

Ask = Callable[..., Awaitable[Any]]
ONE = Statement.of("select 1 as one")
SLEEPING = Statement.of("select pg_sleep(5)")
PLANS = Statement.of("select current_setting('plan_cache_mode') as plans")
COUNT = Statement.of("select count(*) from recorder.resource")
CREATE = Statement.of("create table t (x int)")
NOTHING = Statement.of("select * from recorder.nothing")
PROCESS = Statement.of("select pg_backend_pid()")
END = Statement.of("select pg_terminate_backend(:process, 5000)")


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "/var/run/postgresql", "", "host=x dbname=y"]
)
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(AddressError, match="postgresql://") as raised:
        make_engine(url)

    assert raised.value.exit_status == 2


async def test_a_question_that_takes_too_long_says_what_helps(
    any_database: Database,
) -> None:
    engine = make_engine(
        any_database.dsn("reader"),
        statement_timeout=timedelta(milliseconds=50),
    )

    with pytest.raises(QuestionTooLargeError) as caught:
        async with reading(engine, "read entries") as connection:
            await connection.fetch(SLEEPING)

    assert "a shorter time" in str(caught.value)
    await engine.dispose()


async def test_a_reader_writes_nothing_by_any_role(
    any_database: Database,
) -> None:
    engine = make_engine(any_database.superuser_dsn())

    with pytest.raises(LogUnavailableError, match="read-only"):
        async with reading(engine, "read entries") as connection:
            await connection.fetch(CREATE)

    await engine.dispose()


async def test_all_that_is_asked_at_once_sees_one_state(
    database: Database,
) -> None:
    reader = make_engine(database.dsn("reader"))
    writer = await asyncpg.connect(database.superuser_dsn())

    async with reading(reader, "count") as connection:
        before = await connection.fetch(COUNT)
        await writer.execute(
            "insert into recorder.resource (name) values ('x')"
        )
        assert await connection.fetch(COUNT) == before
    async with reading(reader, "count") as connection:
        ((now,),) = await connection.fetch(COUNT)
    assert now == before[0][0] + 1

    await reader.dispose()
    await writer.close()


async def test_a_missing_schema_names_the_command(
    any_database: Database,
) -> None:
    engine = make_engine(any_database.dsn("reader"))

    with pytest.raises(SchemaError, match="recorder migrate"):
        async with reading(engine, "read") as connection:
            await connection.fetch(NOTHING)

    await engine.dispose()


async def test_too_many_at_once_wait_and_then_say_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.2)
    engine = make_engine(database.dsn("reader"), connections=1)

    async with reading(engine, "read"):
        with pytest.raises(LogUnavailableError, match="busy"):
            async with reading(engine, "read entries"):
                pass

    await engine.dispose()


async def test_a_statement_that_takes_too_long_says_what_helps(
    any_database: Database,
) -> None:
    engine = make_engine(
        any_database.dsn("reader"),
        statement_timeout=timedelta(milliseconds=50),
    )

    with pytest.raises(QuestionTooLargeError) as caught:
        await fetch(engine, "read the facts", SLEEPING)

    assert "a shorter time" in str(caught.value)
    await engine.dispose()


@pytest.mark.parametrize(
    "first", ["select pg_catalog.version", "show transaction isolation"]
)
@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (asyncpg.QueryCanceledError, QuestionTooLargeError),
        (asyncpg.AdminShutdownError, LogUnavailableError),
        (asyncpg.InsufficientPrivilegeError, LogAccessError),
    ],
)
async def test_what_is_refused_while_a_connection_is_opened_is_named(
    any_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    first: str,
    refusal: type[asyncpg.PostgresError],
    expected: type[Exception],
) -> None:
    """The pool runs statements of its own, which the server may refuse."""
    engine = make_engine(any_database.dsn("reader"))
    prepare = asyncpg.Connection.prepare
    refused = []

    async def refusing(
        connection: asyncpg.Connection, query: str, **more: object
    ) -> object:
        if query.startswith(first):
            refused.append(query)
            raise refusal(query)
        return await prepare(connection, query, **more)

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "prepare", refusing)
        with pytest.raises(expected, match="cannot read the facts"):
            await fetch(engine, "read the facts", ONE)

    assert refused
    assert await fetch(engine, "read the facts", ONE)
    await engine.dispose()


async def test_a_statement_on_a_missing_schema_names_the_command(
    any_database: Database,
) -> None:
    engine = make_engine(any_database.dsn("reader"))

    with pytest.raises(SchemaError, match="recorder migrate"):
        await fetch(engine, "read", NOTHING)

    await engine.dispose()


async def test_statements_wait_for_a_connection_and_then_say_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.2)
    engine = make_engine(database.dsn("reader"), connections=1)

    async with reading(engine, "read"):
        with pytest.raises(LogUnavailableError, match="busy"):
            await fetch(engine, "read the facts", ONE)
    assert [row.one for row in await fetch(engine, "read", ONE)]

    await engine.dispose()


@pytest.mark.parametrize("turns", [0, 1, 2, 20])
async def test_a_connection_that_the_server_ended_is_opened_anew(
    any_database: Database, turns: int
) -> None:
    """However much of the server's last words the driver has read."""
    engine = make_engine(any_database.dsn("reader"), connections=1)
    ((ended,),) = await fetch(engine, "read", PROCESS)
    other = make_engine(any_database.superuser_dsn())
    await fetch(other, "end it", END, process=ended)
    for _ in range(turns):
        await asyncio.sleep(0)

    ((now,),) = await fetch(engine, "read", PROCESS)

    assert now != ended
    await engine.dispose()
    await other.dispose()


@pytest.mark.parametrize("ask", [fetch, fetch_planned])
@pytest.mark.parametrize("ended", module.ENDED)
async def test_a_connection_that_ends_at_each_statement_is_given_up(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    ended: type[Exception],
    ask: Ask,
) -> None:
    engine = make_engine(database.dsn("reader"), connections=1)
    asked, said = [], "it is gone"

    async def ending(*_: object, **__: object) -> object:
        asked.append(1)
        raise ended(said)

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "fetch", ending)
        with pytest.raises(LogUnavailableError, match="cannot read"):
            await ask(engine, "read", ONE)

    assert len(asked) == 2
    assert await fetch(engine, "read", ONE)
    await engine.dispose()


async def test_a_statement_is_planned_for_its_values_alone(
    any_database: Database,
) -> None:
    engine = make_engine(any_database.dsn("reader"), connections=1)

    for _ in range(2):
        ((planned,),) = await fetch_planned(engine, "read", PLANS)
        ((again,),) = await fetch(engine, "read", PLANS)
        assert (planned, again) == ("force_custom_plan", "force_generic_plan")
        with pytest.raises(SchemaError):
            await fetch_planned(engine, "read", NOTHING)

    await engine.dispose()
