"""Edits of the log by a superuser with the triggers off are found.

2,240 mutations by seed, each in a transaction of its own that is rolled back,
each verified as an auditor would who holds the checkpoints. Each commit makes
a quarter of them, every kind with other seeds; ``make scenarios`` makes all.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random

import asyncpg
import pytest

from recorder.integrity.chain import Witnessed
from recorder.integrity.verified import Verified
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_database import verify_over
from recorder.store.long_work import connect_to
from recorder.store.lookback import documents
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.support.sampling import sampled
from tests.tampering.mutations import MUTATIONS, Tampering
from tests.tampering.story import committed, record, the_log

SEEDS = range(80)
PLAYED = 20
"""Of each mutation."""

TABLES = (
    "entry",
    "batch",
    "dictionary",
    "log",
    "resource",
    "kind",
    "node",
    "word",
    "object",
)


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(embedded_server, record) as database:
        yield database


@asynccontextmanager
async def superuser(log: Database) -> AsyncIterator[asyncpg.Connection]:
    connection = await connect_to(log.superuser_dsn())
    try:
        for table in TABLES:
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        yield connection
    finally:
        for table in TABLES:
            await connection.execute(
                f"alter table recorder.{table} enable always trigger"
                " append_only"
            )
        await connection.close()


async def verified(
    connection: asyncpg.Connection, outside: list[Witnessed]
) -> Verified:
    facts = Proving(mode="none")
    how = Verifying(checkpoints=outside, signed=True, facts=facts)
    return await verify_over(connection, the_log(1), how, asyncio.Event())


async def contents(connection: asyncpg.Connection) -> dict[int, bytes]:
    rows = await connection.fetch(
        "select position from recorder.entry where log_id = 1"
    )
    return dict(
        await documents(connection, 1, [position for (position,) in rows])
    )


async def test_nothing_is_found_where_nothing_was_done(log: Database) -> None:
    async with superuser(log) as connection:
        outside = await committed(connection)
        found = await verified(connection, outside)
    assert found.problems == []
    assert found.agreed == found.batches > 12
    assert found.root == outside[-1].checkpoint.root.hex()
    assert found.checked_entries == found.size > 100


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.timeout(240)
async def test_a_mutation_is_found_and_named(log: Database, name: str) -> None:
    harmless = 0
    seeds = sampled(f"tampering {name}", SEEDS, PLAYED)
    async with superuser(log) as connection:
        outside = await committed(connection)
        before = await contents(connection)
        for seed in seeds:
            change = connection.transaction()
            await change.start()
            try:
                tampering = Tampering(connection, Random(f"{name}/{seed}"))
                touched = await MUTATIONS[name](tampering)
                found = await verified(connection, outside)
                if not found.problems and name == "one bit of a payload":
                    # A bit that no document depends on says nothing else.
                    assert await contents(connection) == before
                    harmless += 1
                    continue
            finally:
                await change.rollback()
            assert found.problems, f"seed {seed}"
            assert touched is None or named(found) & touched, (
                f"seed {seed}: {touched} not in {found.problems}"
            )
    assert harmless < max(5, len(seeds) / 10), harmless


def named(found: Verified) -> set[int]:
    """Return the batches that the problems name, or lead to."""
    batches: set[int] = set()
    for problem in found.problems:
        if problem.kind == "checkpoint-mismatch":
            # Of all that the checkpoint commits to and the one before does
            # not; there are four.
            last = problem.batch or 0
            batches |= set(range(last - 3, last + 1))
        elif problem.batch is not None:
            batches.add(problem.batch)
    return batches


UNSEEN = {
    "the name of the cluster": (
        "update recorder.log set cluster_name = 'x' where log_id = 1"
    ),
}
"""What is not protected according to docs/integrity.md."""


@pytest.mark.parametrize("what", UNSEEN)
async def test_what_is_not_protected_is_not_found(
    log: Database, what: str
) -> None:
    async with superuser(log) as connection:
        outside = await committed(connection)
        change = connection.transaction()
        await change.start()
        try:
            await connection.execute(UNSEEN[what])
            found = await verified(connection, outside)
        finally:
            await change.rollback()
    assert found.problems == []


async def test_a_document_that_is_packed_otherwise_says_the_same(
    log: Database,
) -> None:
    async with superuser(log) as connection:
        outside = await committed(connection)
        change = connection.transaction()
        await change.start()
        try:
            raws = await contents(connection)
            await connection.executemany(
                "update recorder.entry set payload = $2, encoding = 0,"
                " base_distance = null where log_id = 1 and position = $1",
                list(raws.items()),
            )
            found = await verified(connection, outside)
        finally:
            await change.rollback()
    assert found.problems == []


async def test_history_rewritten_behind_the_last_checkpoint_is_not_found(
    log: Database,
) -> None:
    async with superuser(log) as connection:
        outside = await committed(connection)
        change = connection.transaction()
        await change.start()
        try:
            tampering = Tampering(connection, Random(1))
            await MUTATIONS["a batch replaced and all behind it hashed anew"](
                tampering
            )
            found = await verified(connection, [])
            known = await verified(connection, outside)
        finally:
            await change.rollback()
    assert found.problems == []
    assert known.problems, "but with the checkpoints it is"
