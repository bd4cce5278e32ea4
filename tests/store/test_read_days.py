"""The newest of a log of many days is looked for backwards, and only once."""

from collections.abc import AsyncIterator, Sequence

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.nouns import Selection
from recorder.store.engine import Pooled, make_engine
from recorder.store.extent import Extent
from recorder.store.read_entries import EntryReader
from recorder.store.read_fact_pages import FactPages
from recorder.store.statement import Record, Statement
from tests.support.many import DAYS, PER_DAY, filled
from tests.support.postgres import DatabaseServer

SIZE = DAYS * PER_DAY
SEVENTH = Selection(reason="word-7")
SEVENTHS = [place for place in range(1, SIZE + 1) if place % 20 == 6]
"""As the log was filled: every second entry has the next reason of twenty."""

OF_NODE = [place for place in range(1, SIZE + 1) if place % 150 == 6]
OF_OBJECT = [76, 10_076, 20_076]
CHOICES = [
    (selection, places, count)
    for selection, places in (
        (SEVENTH, SEVENTHS),
        (Selection(node="node-7"), OF_NODE),
        (Selection(objects=(77,)), OF_OBJECT),
    )
    for days in range(DAYS + 1)
    for count in range(
        max(1, days * len(places) // DAYS - 1),
        days * len(places) // DAYS + 2,
    )
]
"""Selections, what they select, and how many are wanted: about whole days."""

FACTS = """
    insert into recorder.derivation (log_id, rules, state)
      values (1, 1, 'current');
    insert into recorder.fact (recorded_at, at, position, object_id, node_id,
      derivation_id, topic_id, index, kind, bearing, detail)
      select recorded_at, observed_at, position, object_id, node_id, 1,
        reason_id, 0, 20, 0, '\\x00'::bytea || convert_to(
          '{"reason":"word-' || reason_id || '"}', 'UTF8')
      from recorder.entry where reason_id is not null
"""


@pytest.fixture
async def engine(any_server: DatabaseServer) -> AsyncIterator[AsyncEngine]:
    async with filled(any_server) as database:
        owner = await asyncpg.connect(database.dsn("owner"))
        await owner.execute(FACTS)
        await owner.close()
        engine = make_engine(database.dsn("reader"))
        yield engine
        await engine.dispose()


async def positions(
    entries: EntryReader, after: int, selection: Selection = SEVENTH
) -> list[int]:
    return [
        line.entry.position
        async for page in entries.lines(selection, after=after)
        for line in page
    ]


async def test_the_newest_are_found_across_days(engine: AsyncEngine) -> None:
    for selection, places, count in CHOICES:
        entries = EntryReader(engine, 1, SIZE)

        after = await entries.skip_to_newest(selection, count)

        found = await positions(entries, after, selection)
        assert found == places[-count:]
        assert after == (places[-count - 1] if count < len(places) else 0)


async def test_all_are_read_across_days(engine: AsyncEngine) -> None:
    assert await positions(EntryReader(engine, 1, SIZE), 0) == SEVENTHS


async def test_the_newest_facts_are_found_across_days(
    engine: AsyncEngine,
) -> None:
    for selection, places, count in CHOICES:
        facts = FactPages(engine, Extent(1, SIZE, 1, None))

        after = await facts.skip_to_newest(selection, count)
        found = [
            stored.entry.position
            async for page in facts.pages(selection, after=after)
            for stored in page
        ]

        assert found == places[-count:]
        assert after == (places[-count - 1] if count < len(places) else 0)


@pytest.mark.parametrize("after", [0, PER_DAY, 2 * PER_DAY + 6, SIZE])
async def test_facts_are_read_across_days(
    engine: AsyncEngine, after: int
) -> None:
    facts = FactPages(engine, Extent(1, SIZE, 1, None))

    found = [
        stored.entry.position
        async for page in facts.pages(SEVENTH, after=after)
        for stored in page
    ]

    assert found == [place for place in SEVENTHS if place > after]


async def test_what_was_found_is_not_looked_for_again(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries, asked = EntryReader(engine, 1, SIZE), []
    after = await entries.skip_to_newest(SEVENTH, 2000)
    of_pool = Pooled.fetch

    async def noted(
        pooled: Pooled, statement: Statement, **values: object
    ) -> Sequence[Record]:
        asked.append(statement.text)
        return await of_pool(pooled, statement, **values)

    monkeypatch.setattr(Pooled, "fetch", noted)
    found = await positions(entries, after)

    assert found == SEVENTHS
    assert [text for text in asked if "e.position = any" in text]
    assert not [text for text in asked if "e.reason_id =" in text]
