"""Commits that fail, and commits that succeed and are never answered."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import asyncpg
import pytest

from recorder.model.errors import LogUnavailableError
from recorder.store.translate import LogAccessError
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer, pods
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.postgres import Database, connected
from tests.support.read_log import read_log


@pytest.fixture
async def proxy(database: Database) -> AsyncIterator[CutProxy]:
    with tempfile.TemporaryDirectory(prefix="rec-") as folder:
        async with cut_proxy(database.dsn("writer"), Path(folder)) as proxy:
            yield proxy


@pytest.mark.parametrize("fate", ["lost", "silent"])
async def test_a_cut_commit_is_appended_once(
    database: Database, proxy: CutProxy, fate: Literal["lost", "silent"]
) -> None:
    writer = Writer(proxy.dsn, SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    await writer.append(teller.batch(*pods(1, 3)))
    batch = teller.batch(*pods(4, 5))

    proxy.fate = fate
    with pytest.raises(LogUnavailableError):
        await writer.append(batch)
    await writer.append(batch)
    await writer.append(teller.batch(*pods(9, 1)))
    await writer.close()

    assert proxy.cuts == 1
    log = await read_log(database.dsn("reader"))
    assert [draft.resource_version for _, draft in log.entries] == [
        str(number) for number in range(1, 10)
    ]


@pytest.mark.parametrize("fate", ["lost", "silent"])
async def test_a_cut_commit_of_proofs_alone_is_repeated(
    database: Database, proxy: CutProxy, fate: Literal["lost", "silent"]
) -> None:
    writer = Writer(proxy.dsn, SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    await writer.append(teller.batch(*pods(1, 1)))

    proxy.fate = fate
    empty = teller.batch()
    with pytest.raises(LogUnavailableError):
        await writer.append(empty)
    await writer.append(empty)
    await writer.close()

    assert len((await read_log(database.dsn("reader"))).entries) == 1


async def as_superuser(database: Database, statement: str) -> None:
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute(statement)


async def test_a_read_only_database_is_waited_for(
    database: Database,
) -> None:
    await as_superuser(
        database,
        f'alter database "{database.name}"'
        " set default_transaction_read_only = on",
    )
    writer = Writer(database.dsn("writer"), SPEC, holder="a")

    with pytest.raises(LogUnavailableError, match="read-only"):
        await writer.take_lease()
    await writer.close()


async def test_a_wrong_password_is_reported_without_being_shown(
    database: Database,
) -> None:
    scheme, _, rest = database.dsn("writer").partition("://")
    user, _, _ = rest.partition(":")
    where = rest.partition("@")[2]
    dsn = f"{scheme}://{user}:hunter2@{where}"
    writer = Writer(dsn, SPEC, holder="a")

    with pytest.raises(LogAccessError, match="authentication") as caught:
        await writer.take_lease()
    assert "hunter2" not in str(caught.value)


async def test_a_right_taken_away_is_waited_for(database: Database) -> None:
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    batch = teller.batch(*pods(1, 1))
    await as_superuser(
        database, "revoke insert on recorder.entry from recorder_writer"
    )
    with pytest.raises(LogUnavailableError, match=r"recorder|entry"):
        await writer.append(batch)
    await as_superuser(
        database, "grant insert on recorder.entry to recorder_writer"
    )

    await writer.append(batch)
    await writer.close()
    assert len((await read_log(database.dsn("reader"))).entries) == 1


async def test_a_killed_backend_is_no_loss(database: Database) -> None:
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    batch = teller.batch(*pods(1, 2))
    await as_superuser(
        database,
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name like 'recorder writer%'"
        " and datname = current_database()",
    )
    # The driver may have noticed before we did; then it reconnects.
    with suppress(LogUnavailableError):
        await writer.append(batch)

    await writer.append(batch)
    await writer.close()
    assert len((await read_log(database.dsn("reader"))).entries) == 2


async def test_a_lease_of_a_clock_that_was_set_back_ends(
    database: Database,
) -> None:
    """Else the log of a dead writer would be kept for as long as that."""
    dead = Writer(database.dsn("writer"), SPEC, holder="dead")
    await dead.take_lease()
    await as_superuser(
        database,
        "update recorder.log_head"
        " set expires_at = clock_timestamp() + interval '1 day'",
    )
    heir = Writer(database.dsn("writer"), SPEC, holder="heir")
    teller = Observer(await heir.take_lease())

    await heir.append(teller.batch(*pods(1, 1)))
    await heir.close()
    await dead.close()

    assert len((await read_log(database.dsn("reader"))).entries) == 1


async def test_a_writer_that_froze_in_a_transaction_keeps_no_log(
    any_database: Database,
) -> None:
    """Its locks would last until its session times out."""
    frozen = Writer(any_database.dsn("writer"), SPEC, holder="frozen")
    await frozen.take_lease()
    await as_superuser(
        any_database,
        "update recorder.log_head set expires_at = '-infinity'",
    )
    assert frozen._connection is not None
    async with frozen_transaction(frozen._connection):
        heir = Writer(any_database.dsn("writer"), SPEC, holder="heir")
        async with asyncio.timeout(30):
            teller = Observer(await heir.take_lease())

        await heir.append(teller.batch(*pods(1, 1)))
        await heir.close()
    await frozen.close()

    assert len((await read_log(any_database.dsn("reader"))).entries) == 1


@asynccontextmanager
async def frozen_transaction(
    connection: asyncpg.Connection,
) -> AsyncIterator[None]:
    """Lock the head, begin to copy, and say no more."""
    begun = asyncio.Event()

    async def rows() -> AsyncIterator[bytes]:
        begun.set()
        await asyncio.Event().wait()
        yield b""

    async def freeze() -> None:
        await connection.execute(
            "begin; update recorder.log_head set size = 0"
        )
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError):
            await connection.copy_to_table(
                "entry", schema_name="recorder", source=rows()
            )

    async with asyncio.TaskGroup() as group:
        freezing = group.create_task(freeze())
        await begun.wait()
        yield
        freezing.cancel()
