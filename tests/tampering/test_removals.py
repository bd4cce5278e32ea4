"""No user can pass off what they removed as retention's removal.

A log with days that were dropped, and thinned out by an earlier release,
edited by a superuser with the triggers off; retention's own removals are
entries of the log.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from random import Random

import asyncpg
import pytest

from recorder.integrity.verified import Verified
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify_over
from recorder.store.long_work import connect_to
from tests.conftest import migrated
from tests.store.retained_log import restored
from tests.support.days import set_clock
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.removing import REMOVALS
from tests.tampering.story import the_log

SEEDS = range(6)
TABLES = (
    "entry", "batch", "thinning", "thinned", "archived_day", "notice",
)  # fmt: skip


@pytest.fixture(scope="module")
def log(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(embedded_server)
        database = runner.run(stack.enter_async_context(fresh))
        restored(database, tmp_path_factory.mktemp("removals"))
        runner.run(migrated(database))
        runner.run(set_clock(database, timedelta(0)))
        yield database
        runner.run(stack.aclose())


async def verified(connection: asyncpg.Connection) -> Verified:
    return await verify_over(
        connection, the_log(1), Verifying(), asyncio.Event()
    )


@pytest.mark.parametrize("name", REMOVALS)
async def test_a_removal_that_was_not_retention_s_is_found(
    log: Database, name: str
) -> None:
    made, kind = REMOVALS[name]
    connection = await connect_to(log.superuser_dsn())
    try:
        for seed in SEEDS:
            change = connection.transaction()
            await change.start()
            try:
                for table in TABLES:
                    await connection.execute(
                        f"alter table recorder.{table} disable trigger all"
                    )
                await made(connection, Random(f"{name}/{seed}"))
                found = await verified(connection)
            finally:
                await change.rollback()
            kinds = {problem.kind for problem in found.problems}
            assert kind in kinds, f"seed {seed}: {found.problems}"
        untouched = await verified(connection)
    finally:
        await connection.close()
    assert (untouched.problems, untouched.unrecorded) == ([], 0)
    assert untouched.dropped > 0


LATER = "update recorder.notice set at = at - interval '61 minutes'"
WAITS = """
    update recorder.resume_point set completed = '0' where source = 'recorder'
"""
EMPTY = """
    update recorder.entry set base_distance = null, encoding = 0,
      payload = '{"action": "ran"}'
    where operation = 13
"""


IDLE = """
    update other_time.shift set by = interval '9 days';
    set local search_path = other_time, pg_catalog
"""
"""Time passes for who verifies."""


async def test_a_notice_counts_for_an_hour_in_which_the_log_is_recorded(
    log: Database,
) -> None:
    """A log that is not recorded gets it when it is."""
    connection = await connect_to(log.superuser_dsn())
    change = connection.transaction()
    await change.start()
    try:
        for table in TABLES:
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        await connection.execute(WAITS)
        await connection.execute(EMPTY)
        fresh = await verified(connection)
        await connection.execute(IDLE)
        assert await connection.fetchval(
            "select clock_timestamp() > now() + interval '8 days'"
        )
        idle = await verified(connection)
        await connection.execute(LATER)
        late = await verified(connection)
    finally:
        await change.rollback()
        await connection.close()
    kinds = [problem.kind for problem in fresh.problems]
    assert ("removal-unrecorded" in kinds, fresh.unrecorded) == (False, 4)
    kinds = [problem.kind for problem in idle.problems]
    assert ("removal-unrecorded" in kinds, idle.unrecorded) == (False, 4)
    kinds = [problem.kind for problem in late.problems]
    assert (kinds.count("removal-unrecorded"), late.unrecorded) == (4, 0)
