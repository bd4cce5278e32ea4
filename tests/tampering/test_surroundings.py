"""Holds, bounds of days, and rows of no log, edited by a superuser.

A log with days that were archived and dropped, with a hold and one that was
lifted; what was done to it is in it as entries.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify_database, verify_over
from recorder.model.hold import NewHold
from recorder.model.observation import (
    RECORDER,
    RETENTION,
    Noticed,
    PlaceReached,
)
from recorder.store.engine import make_engine
from recorder.store.holds import add_hold, lift_hold
from recorder.store.long_work import connect_to
from recorder.store.read_archived import read_archived
from recorder.store.read_batches import read_end
from recorder.store.read_leftovers import leftovers
from recorder.store.read_surroundings import surrounding_problems
from recorder.store.writer import Writer
from tests.conftest import TEMPLATE
from tests.contract.test_log import SPEC, Observer
from tests.support.days import owner, write_days
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.story import the_log

SINCE = datetime.now(UTC) - timedelta(days=8)

TABLES = (
    "archived_day",
    "batch",
    "checkpoint",
    "entry",
    "hold",
    "hold_lifted",
    "notice",
    "object",
)


async def fill(database: Database, place: Path) -> None:
    await write_days(database, 3)
    # The clock that the days were written by is a setting of the writer.
    async with owner(database) as connection:
        await connection.execute(
            "alter role recorder_embedded_writer in database"
            f' "{database.name}" reset search_path'
        )
    policy = Policy(place=str(place), hot=timedelta(days=7))
    dsn = database.dsn("retention")
    await retain(dsn, Retaining(policy=policy))
    for number in range(1, 9):
        hold = NewHold(
            log=1,
            since=SINCE,
            until=None,
            node="gpu-1" if number % 2 else None,
            incident=None,
            who="alice",
            why="audit",
        )
        await add_hold(dsn, hold)
    for number in (2, 7, 8):
        await lift_hold(dsn, number, who="bob", why="over")
    await take_up(database)


async def take_up(database: Database) -> None:
    """Write the notices that there are into the log, as its writer does."""
    async with owner(database) as connection:
        found = await connection.fetch(
            "select notice_id, document from recorder.notice order by 1"
        )
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
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


@pytest.fixture(scope="module", params=["embedded_server", "debian_server"])
def held(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    server: DatabaseServer = request.getfixturevalue(request.param)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        runner.run(fill(database, tmp_path_factory.mktemp("archive")))
        yield database
        runner.run(stack.aclose())


async def found(connection: asyncpg.Connection) -> list[tuple[str, str]]:
    around = await verify_database(connection)
    log = await verify_over(
        connection, the_log(1), Verifying(), asyncio.Event()
    )
    return [
        *((problem.kind, problem.says) for problem in around.problems),
        *((problem.kind, problem.says) for problem in log.problems),
    ]


async def test_nothing_is_found_where_nothing_was_done(held: Database) -> None:
    connection = await connect_to(held.superuser_dsn())
    try:
        assert await found(connection) == []
        dropped = await connection.fetchval(
            "select count(*) from recorder.partition where state = 'dropped'"
        )
    finally:
        await connection.close()
    assert dropped == 2


HOLDS = {
    "delete from recorder.hold where hold_id = 1": (
        "hold-missing",
        "hold 1 was placed, and its row is gone",
    ),
    "update recorder.hold set since = now() where hold_id = 3": (
        "hold-altered",
        "hold 3 was placed with another since than it has now",
    ),
    "update recorder.hold set node = '9', why = 'x' where hold_id = 4": (
        "hold-altered",
        "hold 4 was placed with another node, why than it has now",
    ),
    "update recorder.hold set log_id = null, node = null where hold_id = 5": (
        "hold-unrecorded",
        "hold 5 is of no log",
    ),
    "insert into recorder.hold (log_id, who, why) values (1, 'eve', 'x')": (
        "hold-unrecorded",
        "hold 9 exists, but no entry records it",
    ),
    "insert into recorder.hold_lifted (hold_id, who, why, lifted_at)"
    " values (6, 'eve', 'x', '2020-01-01')": (
        "hold-unrecorded",
        "hold 6 is lifted, but no entry records that",
    ),
    "delete from recorder.hold_lifted where hold_id = 7": (
        "hold-altered",
        "hold 7 was lifted, but its row says that it is not",
    ),
    "update recorder.hold_lifted set who = 'alice' where hold_id = 8": (
        "hold-altered",
        "hold 8 was lifted by another user or for another reason",
    ),
}
"""Each does something to another hold; the second is as it was placed."""


async def test_every_hold_that_was_edited_is_named(held: Database) -> None:
    async with edited(held) as connection:
        for change in HOLDS:
            await connection.execute(change)
        await guard(connection)
        problems = await found(connection)
    assert sorted(problems) == sorted(
        [
            *HOLDS.values(),
            # To its log it is not there.
            ("hold-missing", "hold 5 was placed, and its row is gone"),
        ]
    )


CHANGES = {
    "what was observed on a day ends early": (
        (
            "update recorder.partition set observed_max = observed_min"
            " where name = '{day}'"
        ),
        "partition-altered",
        "the times observed in {day} are not those of its batches",
    ),
    "what was observed on a day is nothing": (
        (
            "update recorder.partition set observed_min = 'infinity',"
            " observed_max = '-infinity' where name = '{day}'"
        ),
        "partition-altered",
        "the times observed in {day} are not those of its batches",
    ),
    "a day ends early": (
        (
            "update recorder.partition set upper = lower + interval '1 hour'"
            " where name = '{day}'"
        ),
        "partition-altered",
        "{day} does not begin or end as a day",
    ),
    "a day is detached": (
        "alter table recorder.fact detach partition recorder.{facts}",
        "partition-altered",
        "recorder.{facts} is missing or not attached",
    ),
    "a day is said to be dropped": (
        (
            "update recorder.partition set state = 'dropped',"
            " dropped_at = now() where name = '{day}'"
        ),
        "partition-altered",
        "recorder.{day} is attached, and is no day that is here",
    ),
    "a day lies where another was": (
        (
            "alter table recorder.fact detach partition recorder.{facts};"
            " alter table recorder.fact attach partition recorder.{facts}"
            " for values from ('{date}') to ('{date} 18:00')"
        ),
        "partition-altered",
        "recorder.{facts} is attached",
    ),
    "entries are of no log": (
        (
            "insert into recorder.entry (recorded_at, observed_at, position,"
            " log_id, epoch, operation, source, encoding, payload)"
            " select recorded_at, observed_at, 1, 99, 1, 3, 1, 0, '{{}}'"
            " from recorder.entry limit 1"
        ),
        "entry-stray",
        "recorder.entry has rows of log 99",
    ),
    "checkpoints are of no log": (
        "insert into recorder.checkpoint values (98, 1, ''), (99, 1, '')",
        "row-stray",
        "recorder.checkpoint has rows of log 99",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_a_bound_or_a_row_beside_the_logs_is_named(
    held: Database, what: str
) -> None:
    change, kind, says = CHANGES[what]
    async with edited(held) as connection:
        day: str = await connection.fetchval(
            "select max(name) from recorder.partition p"
            " where state <> 'dropped' and exists (select from recorder.fact"
            "  where recorded_at >= p.lower and recorded_at < p.upper)"
        )
        names = {
            "day": day,
            "facts": day.replace("entry", "fact"),
            "date": f"{day[6:10]}-{day[10:12]}-{day[12:]}",
        }
        await connection.execute(change.format(**names))
        problems = await surrounding_problems(connection)
    assert any(
        one.kind == kind and says.format(**names) in one.says
        for one in problems
    ), problems


@pytest.mark.parametrize("change", ["0", "pruned_positions + 1"])
async def test_another_end_of_what_was_dropped_is_found(
    held: Database, change: str
) -> None:
    async with edited(held) as connection:
        await connection.execute(
            f"update recorder.log_head set pruned_positions = {change}"
        )
        problems = await leftovers(connection, await read_end(connection, 1))
    assert any(
        one.kind == "head-altered" and "the days that were end at" in one.says
        for one in problems
    ), problems


async def test_times_of_a_dropped_day_that_are_too_narrow_hide_it_not(
    held: Database,
) -> None:
    """Nothing here proves them: its batches are in the archive."""
    narrow = (
        "update recorder.partition set observed_min = 'infinity',"
        " observed_max = '-infinity' where state = 'dropped'"
    )
    engine = make_engine(held.dsn("reader"))
    try:
        async with owner(held) as connection:
            before = await connection.fetch(
                "select name, observed_min, observed_max"
                " from recorder.partition where state = 'dropped'"
            )
            await connection.execute(narrow)
            days = await read_archived(engine, 1)
            await connection.executemany(
                "update recorder.partition set observed_min = $2,"
                " observed_max = $3 where name = $1",
                before,
            )
    finally:
        await engine.dispose()
    assert [day.name for day in days] == sorted(row["name"] for row in before)
    for day in days:
        assert day.observed_min <= day.lower
        assert day.observed_max >= day.upper - timedelta(microseconds=1)


@asynccontextmanager
async def edited(database: Database) -> AsyncIterator[asyncpg.Connection]:
    """A superuser's session; everything that it does is undone."""
    connection = await connect_to(database.superuser_dsn())
    made = connection.transaction()
    await made.start()
    try:
        for table in TABLES:
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        yield connection
    finally:
        await made.rollback()
        await connection.close()


async def guard(connection: asyncpg.Connection) -> None:
    """Switch the triggers on again, as who leaves no trace does."""
    for table in TABLES:
        await connection.execute(
            f"alter table recorder.{table} enable trigger all;"
            f" alter table recorder.{table} enable always trigger append_only"
        )
    await connection.execute(
        "alter table recorder.batch enable always trigger append_only_kept;"
        " alter table recorder.object enable always trigger append_only_kept"
    )
