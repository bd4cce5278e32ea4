"""The list of archived days, which is kept between two questions."""

from datetime import timedelta
from pathlib import Path

import pytest

from recorder.settings import Settings
from recorder.store.read_archived import read_archived
from recorder.wiring.archived import ArchivedReading
from recorder.wiring.reading import Logs, open_logs
from tests.retention.test_thinning import run
from tests.support.days import write_days, write_statements
from tests.support.postgres import Database


async def names_of(logs: Logs) -> list[tuple[str, bool]]:
    """Return the days that are not in the database, or not whole."""
    reading = await logs.read(1)
    if not isinstance(reading, ArchivedReading):
        return []
    days = [day.row for day in reading.days._days]
    return [(day.name, day.is_here) for day in days]


async def test_a_day_that_goes_is_known_to_the_next_question(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no list is read for a question before which nothing went."""
    await write_days(database)
    await write_statements(database, 5)
    read = []

    async def counted(*given: object) -> object:
        read.append(given)
        return await read_archived(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("recorder.wiring.shelf.read_archived", counted)
    settings = Settings(
        database_url=database.dsn("reader"), data_dir=tmp_path / "data"
    )
    found = []
    async with open_logs(settings) as logs:
        found.append(await names_of(logs))
        for policy in (
            {"hot": timedelta(days=8), "shorter": ()},
            {"hot": timedelta(days=7), "shorter": ()},
            {"hot": timedelta(days=7)},
        ):
            await run(database, tmp_path / "archive", **policy)
            found += [await names_of(logs) for _ in range(2)]

    first, second, third = found[1::2]
    assert found == [[], first, first, second, second, third, third]
    assert [len(first), len(second)] == [1, 2]
    assert third[:2] == second
    assert [is_here for _, is_here in third[2:]] == [True]
    assert len(read) == 3
