"""A follower is notified at once, and of nothing wrong."""

import time
from datetime import timedelta

import asyncpg
import pytest

from recorder.store import read_follow
from recorder.store.read_follow import Bell
from tests.support.fixed_log import STORY, TAPE, write_log
from tests.support.postgres import Database

NEVER = timedelta(days=1)
"""A poll so late does not happen in a test."""

A_MOMENT = timedelta(milliseconds=200)


async def heard_after(bell: Bell) -> float:
    began = time.monotonic()
    await bell.wait()
    return time.monotonic() - began


def look_again(patch: pytest.MonkeyPatch, after: timedelta) -> None:
    patch.setattr(read_follow, "LOOK_AGAIN", after)


async def test_a_batch_rings_until_it_was_heard(
    any_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_again(monkeypatch, NEVER)
    dsn = any_database.dsn("writer")
    async with Bell(any_database.dsn("reader"), 1) as bell:
        await write_log(dsn, STORY[:1])

        await bell.wait()
        look_again(monkeypatch, A_MOMENT)
        while await heard_after(bell) < A_MOMENT.total_seconds() - 0.01:
            pass


async def test_another_log_does_not_ring(
    any_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_again(monkeypatch, A_MOMENT)
    await write_log(any_database.dsn("writer"), [])
    async with Bell(any_database.dsn("reader"), 1) as bell:
        await write_log(any_database.dsn("writer"), STORY[:1], spec=TAPE)

        assert await heard_after(bell) >= 0.19


async def test_a_quiet_log_is_looked_at_once_a_second(
    database: Database,
) -> None:
    async with Bell(database.dsn("reader"), 1) as bell:
        assert await heard_after(bell) > 0.9


async def test_a_lost_connection_is_made_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Bell(database.dsn("reader"), 1) as bell:
        (lost,) = await database.listeners()
        connection = await asyncpg.connect(database.superuser_dsn())
        await connection.execute("select pg_terminate_backend($1)", lost)
        await connection.close()
        while not await database.listeners() - {lost}:
            await bell.wait()
        look_again(monkeypatch, NEVER)
        await write_log(database.dsn("writer"), STORY[:1])

        await bell.wait()


async def test_a_database_that_is_away_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look_again(monkeypatch, NEVER)
    async with Bell("postgresql:///x?host=/nonexistent", 1) as bell:
        await bell.wait()
