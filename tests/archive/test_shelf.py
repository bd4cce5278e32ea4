"""The list of archived days, which is kept between two questions."""

from datetime import timedelta
from pathlib import Path

import pytest

from recorder.model.settings import Settings
from recorder.store.read_archived import read_archived
from recorder.wiring.archived import ArchivedReading
from recorder.wiring.reading import Logs, open_logs
from tests.retention.test_dropping import run
from tests.support.days import write_days
from tests.support.postgres import Database


async def names_of(logs: Logs) -> list[str]:
    """Return the days that are not in the database."""
    reading = await logs.read(1)
    if not isinstance(reading, ArchivedReading):
        return []
    return [day.row.name for day in reading.days._days]


async def test_a_day_that_goes_is_known_to_the_next_question(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no list is read for a question before which nothing went."""
    await write_days(database)
    read = []

    async def counted(*given: object) -> object:
        read.append(given)
        return await read_archived(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("recorder.wiring.archived.read_archived", counted)
    settings = Settings(
        database_url=database.dsn("reader"), data_dir=tmp_path / "data"
    )
    found = []
    async with open_logs(settings) as logs:
        found.append(await names_of(logs))
        for days in (8, 7):
            await run(database, tmp_path / "archive", hot=timedelta(days=days))
            found += [await names_of(logs) for _ in range(2)]

    first, second = found[1::2]
    assert found == [[], first, first, second, second]
    assert [len(first), len(second)] == [1, 2]
    assert len(read) == 2
