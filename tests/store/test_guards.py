"""No user changes a line of the log: not the writer, not the owner."""

import asyncpg
import pytest

from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer, pods
from tests.support.postgres import Database, connected

CHANGES = [
    "update recorder.entry set payload = 'x'",
    "delete from recorder.entry",
    "truncate recorder.entry",
    "update recorder.batch set entries = 0",
    "delete from recorder.batch",
    "truncate recorder.batch",
    "update recorder.object set name = 'x'",
    "delete from recorder.log",
    "truncate recorder.dictionary cascade",
    "update recorder.word set text = 'x'",
    "delete from recorder.node",
]


async def written(database: Database) -> None:
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    await writer.append(teller.batch(*pods(1, 3)))
    await writer.close()


async def refused(dsn: str, statement: str) -> None:
    async with connected(dsn) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


@pytest.mark.parametrize("role", ["owner", "writer", "reader"])
async def test_no_role_changes_what_is_written(
    any_database: Database, role: str
) -> None:
    await written(any_database)
    for statement in CHANGES:
        await refused(any_database.dsn(role), statement)


@pytest.mark.parametrize("role", ["owner", "writer", "reader"])
async def test_a_partition_is_guarded_like_the_whole(
    any_database: Database, role: str
) -> None:
    await written(any_database)
    connection = await asyncpg.connect(any_database.dsn("reader"))
    name = await connection.fetchval(
        "select tableoid::regclass from recorder.entry limit 1"
    )
    await connection.close()
    for change in ("update {} set payload = 'x'", "delete from {}",
                   "truncate {}"):  # fmt: skip
        await refused(any_database.dsn(role), change.format(name))


async def test_the_guards_hold_for_a_replica_role(
    any_database: Database,
) -> None:
    """A superuser who sets it would go round triggers that are not ALWAYS."""
    await written(any_database)
    async with connected(any_database.superuser_dsn()) as connection:
        await connection.execute("set session_replication_role = replica")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("delete from recorder.entry")


@pytest.mark.parametrize(
    "statement",
    [
        "insert into recorder.entry select * from recorder.entry",
        "update recorder.log_head set term = 9",
        "select recorder.add_partition(now())",
        "create table recorder.mine (x int)",
    ],
)
async def test_a_reader_only_reads(
    any_database: Database, statement: str
) -> None:
    await refused(any_database.dsn("reader"), statement)


@pytest.mark.parametrize(
    "statement",
    [
        "drop table recorder.entry",
        "alter table recorder.entry disable trigger all",
        "update recorder.partition set lower = now()",
        "create table recorder.mine (x int)",
    ],
)
async def test_a_writer_does_not_reach_the_schema(
    any_database: Database, statement: str
) -> None:
    await refused(any_database.dsn("writer"), statement)
