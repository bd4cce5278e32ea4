"""Whoever follows is told at once, and is told nothing wrong."""

import asyncio
import time

import asyncpg
import pytest

from recorder.store import read_follow
from recorder.store.read_follow import Bell
from tests.report.told import STORY, TAPE, tell
from tests.support.postgres import Database


async def heard_after(bell: Bell) -> float:
    began = time.monotonic()
    await bell.wait()
    return time.monotonic() - began


async def test_a_batch_rings_at_once(any_database: Database) -> None:
    dsn = any_database.dsn("writer")
    async with Bell(any_database.dsn("reader"), 1) as bell:
        await tell(dsn, STORY[:1])

        assert await heard_after(bell) < 0.5
        while await heard_after(bell) < 0.5:
            pass


async def test_another_log_does_not_ring(
    any_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        read_follow, "LOOK_AGAIN", read_follow.LOOK_AGAIN_UNHEARD
    )
    await tell(any_database.dsn("writer"), [])
    async with Bell(any_database.dsn("reader"), 1) as bell:
        await tell(any_database.dsn("writer"), STORY[:1], spec=TAPE)

        assert await heard_after(bell) >= 0.19


async def test_a_quiet_log_is_looked_at_once_a_second(
    database: Database,
) -> None:
    async with Bell(database.dsn("reader"), 1) as bell:
        assert 0.9 < await heard_after(bell) < 2


async def test_a_lost_connection_is_made_again(database: Database) -> None:
    async with Bell(database.dsn("reader"), 1) as bell:
        connection = await asyncpg.connect(database.superuser_dsn())
        await connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'recorder reader'"
        )
        await connection.close()
        await asyncio.sleep(0.05)
        await bell.wait()
        await tell(database.dsn("writer"), STORY[:1])

        assert await heard_after(bell) < 0.5


async def test_a_database_that_is_away_is_no_error() -> None:
    async with Bell("postgresql:///x?host=/nonexistent", 1) as bell:
        assert await heard_after(bell) < 0.9
