"""What goes on over dropped days: facts derived anew, reading, following."""

import asyncio
from pathlib import Path

from recorder.answers.nouns import Part, Selection
from recorder.answers.queries import EntryQuery
from recorder.keeping.rederiving import Rederiving, rederive
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from tests.retention.test_dropping import run
from tests.support.days import noon, write_days
from tests.support.fact_rows import current_facts
from tests.support.postgres import Database


async def test_facts_are_derived_anew_from_where_the_log_begins(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path)
    before = await current_facts(database)
    assert before

    how = Rederiving(again=True)
    done = await rederive(database.dsn("writer"), 1, how, asyncio.Event())

    assert done.derivation is not None
    assert await current_facts(database) == before


async def test_every_entry_that_is_kept_is_read_in_any_window(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)
    engine = make_engine(any_database.dsn("reader"))

    async def positions(selection: Selection) -> list[int]:
        reading = await LogReading.at_present(engine, 1)
        return [
            line.entry.position
            async for page in reading.pages(
                EntryQuery(selection, Part.OPENED), after=0
            )
            for line in page
        ]

    windows = [
        Selection(),
        Selection(node="gpu-001"),
        Selection(since=noon(12)),
        Selection(since=noon(9)),
        Selection(since=noon(8)),
        Selection(until=noon(8)),
        Selection(until=noon(30)),
        Selection(since=noon(9), until=noon(8)),
        Selection(source="watch"),
    ]
    before = [await positions(window) for window in windows]
    await run(any_database, tmp_path)
    kept = set(await positions(Selection()))
    assert len(kept) < len(before[0])

    for window, found in zip(windows, before, strict=True):
        assert await positions(window) == [
            one for one in found if one in kept
        ], window
    reading = await LogReading.at_present(engine, 1)
    watched = EntryQuery(Selection(source="watch"))
    newest = await reading.skip_to_newest(watched, 2)
    assert newest > 0
    everything = await reading.skip_to_newest(watched, 500)
    assert everything == 0
    await engine.dispose()
