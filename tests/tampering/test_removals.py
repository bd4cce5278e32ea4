"""Nobody can pass off what they removed as what retention removed.

A log of which days were dropped and thinned out, edited by a superuser with
the triggers off; retention's own removals stand in the log as entries.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from random import Random

import asyncpg
import pytest

from recorder.admin.retaining import Retaining, retain
from recorder.admin.verifying import Verifying, verify_over
from recorder.integrity.verified import Verified
from recorder.model.observation import (
    RECORDER,
    RETENTION,
    Noticed,
    PlaceReached,
)
from recorder.retention.policy import Policy, Rule
from recorder.store.long_work import connect_to
from recorder.store.writer import Writer
from tests.conftest import TEMPLATE
from tests.contract.test_log import SPEC, Teller
from tests.support.days import owner, write_days, write_statements
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.removing import REMOVALS
from tests.tampering.story import the_log

SEEDS = range(6)
TABLES = (
    "entry", "batch", "thinning", "thinned", "archived_day", "notice",
)  # fmt: skip
POLICY = Policy(
    unarchived="drop",
    shorter=(Rule(name="Event", days=1), Rule(name="audit", days=2)),
)


async def fill(database: Database) -> None:
    await write_days(database)
    for ago in (5, 3, 2):
        await write_statements(database, ago)
    await retain(database.dsn("retention"), Retaining(policy=POLICY))
    await take_up(database)


async def take_up(database: Database) -> None:
    """Write the notices that there are into the log, as its writer does."""
    async with owner(database) as connection:
        found = await connection.fetch(
            "select notice_id, document from recorder.notice order by 1"
        )
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Teller(await writer.take_lease())
    now = datetime.now(UTC)
    await writer.append(
        teller.batch(
            *(
                Noticed(observed_at=now, document=row["document"].encode())
                for row in found
            ),
            PlaceReached(
                observed_at=now,
                source=RECORDER,
                stream=RETENTION,
                place=str(found[-1]["notice_id"]),
            ),
        )
    )
    await writer.close()


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        runner.run(fill(database))
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
    """A log that nobody records is given it when somebody does."""
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
