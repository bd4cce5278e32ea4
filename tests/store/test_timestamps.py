"""Times in a row are the same, whichever way they were written."""

from datetime import UTC, datetime, timedelta, timezone

import asyncpg
import pytest

from recorder.store.timestamps import EPOCH, take_ticks, ticks
from tests.support.postgres import Database, connected

TIMES = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    EPOCH,
    EPOCH - timedelta(microseconds=1),
    datetime(2026, 11, 22, 3, 14, 7, 120_003, tzinfo=UTC),
    datetime(2026, 11, 22, 3, 14, tzinfo=timezone(timedelta(hours=5.5))),
]


async def test_what_goes_in_as_ticks_or_as_times_is_read_as_times(
    database: Database,
) -> None:
    ours = await asyncpg.connect(database.dsn("owner"))
    theirs = await asyncpg.connect(database.dsn("owner"))
    try:
        await take_ticks(ours)
        await ours.execute("create table recorder.t (a timestamptz, b int)")
        await ours.copy_records_to_table(
            "t",
            schema_name="recorder",
            records=[(ticks(at), 2 * n) for n, at in enumerate(TIMES)]
            + [(at, 2 * n + 1) for n, at in enumerate(TIMES)]
            + [(None, 99)],
        )
        for connection in (ours, theirs):
            rows = await connection.fetch(
                "select a from recorder.t order by b"
            )
            read = [row["a"] for row in rows]
            assert read == [at for at in TIMES for _ in range(2)] + [None]
            assert {at.tzinfo for at in read if at is not None} == {UTC}
        given = await ours.fetchval("select $1::timestamptz", TIMES[4])
        assert given == TIMES[4]
    finally:
        await ours.close()
        await theirs.close()


async def test_a_time_without_a_zone_is_refused(database: Database) -> None:
    async with connected(database.dsn("owner")) as connection:
        await take_ticks(connection)
        with pytest.raises(asyncpg.DataError):
            await connection.fetchval(
                "select $1::timestamptz", TIMES[4].replace(tzinfo=None)
            )


async def test_infinity_is_no_time(database: Database) -> None:
    async with connected(database.dsn("owner")) as connection:
        await take_ticks(connection)
        for infinity in ("infinity", "-infinity"):
            with pytest.raises(OverflowError):
                await connection.fetchval(f"select '{infinity}'::timestamptz")
