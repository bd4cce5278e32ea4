"""Holds, and a run that is under way."""

from dataclasses import replace
from pathlib import Path

import pytest

from recorder.model.errors import LogUnavailableError
from recorder.model.hold import NewHold
from recorder.store import steps
from recorder.store.holds import add_hold
from recorder.store.steps import LOCK_HOLDS
from tests.retention.test_dropping import DROPPED, run
from tests.support.days import asked, noon, owner, write_days
from tests.support.postgres import Database


async def test_nothing_is_dropped_while_a_hold_is_being_placed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "TRIES", 1)
    await write_days(database)
    async with owner(database) as connection, connection.transaction():
        await LOCK_HOLDS.execute(connection)
        await connection.execute(
            "insert into recorder.hold (log_id, since, who, why)"
            " values (1, '2000-01-01', 'ann', 'an audit')"
        )
        with pytest.raises(LogUnavailableError, match="cannot drop"):
            await run(database, tmp_path)
    done = await run(database, tmp_path)
    assert "hold 1" in str(done.stopped_by)
    assert await asked(database, DROPPED) == 0


async def test_a_hold_says_which_days_it_keeps_and_which_are_gone(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path)
    hold = NewHold(
        log=1,
        since=noon(20),
        until=None,
        node=None,
        incident=None,
        who="ann",
        why="an audit",
    )

    async with owner(database) as connection:
        await connection.execute(
            "insert into recorder.log (kind, cluster_name, cluster_uid,"
            " kubernetes) values ('live', 'other', 'other', '1')"
        )
        other = await connection.fetchval(
            "select max(log_id) from recorder.log"
        )
    placed = await add_hold(database.dsn("retention"), hold)
    elsewhere = replace(hold, log=other)
    nothing = await add_hold(database.dsn("retention"), elsewhere)

    assert placed.dropped == [noon(10).date(), noon(9).date()]
    assert (nothing.dropped, nothing.kept) == ([], []), "of another log"
    assert placed.kept[:2] == [noon(8).date(), noon(7).date()]
