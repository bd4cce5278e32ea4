"""Entries are read back as they were written: all, once, in order."""

from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from typing import Any

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.nouns import Part, Selection
from recorder.answers.queries import EntryQuery
from recorder.model.entry import Entry, Operation
from recorder.model.errors import NotFoundError
from recorder.model.observation import Observation
from recorder.store import read_entries
from recorder.store.engine import make_engine
from recorder.store.engine import reading as reading_of
from recorder.store.read import LogReading, list_logs
from recorder.store.statement import Statement
from tests.support.builders import (
    PODS,
    a_frame,
    an_object,
    at,
)
from tests.support.fixed_log import (
    STORY,
    TAPE,
    write_log,
)
from tests.support.postgres import Database

DELTAS = Statement.of(
    "select count(*) from recorder.entry where base_distance is not null"
)


@pytest.fixture
async def engine(any_database: Database) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(any_database.dsn("reader"))
    yield engine
    await engine.dispose()


async def lines(
    reading: LogReading,
    selection: Selection | None = None,
    *,
    after: int = 0,
    documents: bool = False,
) -> list[Entry]:
    found: list[Entry] = []
    async for page in reading.pages(
        EntryQuery(
            selection or Selection(),
            Part.OPENED if documents else Part.LISTED,
        ),
        after=after,
    ):
        found.extend(page)
    return found


def positions(found: Sequence[Entry]) -> list[int]:
    return [line.entry.position for line in found]


def a_version(name: str, version: int, number: int) -> Observation:
    lines = 20 if number % 2 else 200
    filler = {
        f"label-{n}": sha256(f"{name}/{n}".encode()).hexdigest()
        for n in range(lines)
    }
    document = an_object(
        name, version, spec={"nodeName": "n", "number": number}, filler=filler
    )
    return a_frame(PODS, "MODIFIED", document, when=version)


async def test_documents_come_back_byte_for_byte(
    any_database: Database, engine: AsyncEngine
) -> None:
    """Whole ones, deltas against keyframes of this page and of others."""
    frames = [
        a_version(f"pod-{number % 7}", number + 10, number)
        for number in range(450)
    ]
    odd = an_object("odd", 999, text="ä\u2028 \\u0000 \U0001f600", n=1e-7)
    frames.append(a_frame(PODS, "ADDED", odd))
    number = await write_log(
        any_database.dsn("writer"),
        [frames[start : start + 100] for start in range(0, len(frames), 100)],
    )
    async with reading_of(engine, "count") as connection:
        ((deltas,),) = await connection.fetch(DELTAS)
    assert deltas > 400

    reading = await LogReading.at_present(engine, number)
    found = await lines(reading, documents=True)

    assert [line.raw for line in found] == [
        frame.object  # type: ignore[union-attr]
        for frame in frames
    ]


async def test_pages_join_without_a_seam(
    any_database: Database,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)
    whole = await lines(reading)

    for size in (1, 2, 5, 17, 18, 19):
        monkeypatch.setattr(read_entries, "PAGE", size)
        assert await lines(reading) == whole
    assert positions(whole) == list(range(1, 19))
    assert positions(await lines(reading, after=16)) == [17, 18]


SELECTIONS = [
    Selection(node="gpu-002"),
    Selection(node="nowhere"),
    Selection(reason="Started"),
    Selection(reason="Nothing"),
    Selection(actor="kubelet"),
    Selection(source="watch"),
    Selection(source="recorder"),
    Selection(since=at(60)),
    Selection(until=at(60)),
    Selection(since=at(61), until=at(62)),
    Selection(since=at(61), until=at(62), node="gpu-001"),
    Selection(since=at(60), reason="Started"),
    Selection(since=at(10_000)),
    Selection(until=at(0)),
]


def matches(line: Entry, selection: Selection) -> bool:
    wanted = {
        "node": selection.node,
        "source": selection.source,
        "reason": selection.reason,
        "actor": selection.actor,
    }
    return (
        all(
            value is None or getattr(line, name) == value
            for name, value in wanted.items()
        )
        and (selection.since is None or line.observed_at >= selection.since)
        and (selection.until is None or line.observed_at < selection.until)
    )


async def test_a_selection_gives_what_matches_and_nothing_else(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)
    whole = await lines(reading)

    for selection in SELECTIONS:
        wanted = [line for line in whole if matches(line, selection)]
        assert await lines(reading, selection) == wanted, selection

        for count in (1, 2, 100):
            after = await reading.skip_to_newest(EntryQuery(selection), count)
            newest = await lines(reading, selection, after=after)
            assert newest == wanted[-count:]
            assert (after > 0) == (len(wanted) > count)


async def test_only_entries_that_need_it_have_their_document(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    for line in await lines(reading):
        frames = line.resource == "v1/events" or line.operation in {
            Operation.GAP_OPENED,
            Operation.GAP_CLOSED,
        }
        assert (line.raw != b"") == frames, line


async def test_two_logs_are_never_mixed(
    any_database: Database, engine: AsyncEngine
) -> None:
    dsn = any_database.dsn("writer")
    await write_log(dsn, STORY)
    await write_log(dsn, STORY[:1], spec=TAPE)

    logs = await list_logs(engine)

    assert [(log.id, log.kind, log.size) for log in logs] == [
        (1, "live", 18),
        (2, "tape", 8),
    ]
    tape = await LogReading.at_present(engine, 2)
    found = await lines(tape, Selection(node="gpu-002"), documents=True)
    assert [str(line.entry) for line in found] == ["2/2", "2/4"]
    assert {stream.vouched_until for stream in tape.streams} == {at(0)}


async def test_a_reading_stays_as_it_was(
    any_database: Database, engine: AsyncEngine
) -> None:
    dsn = any_database.dsn("writer")
    number = await write_log(dsn, STORY[:1])
    reading = await LogReading.at_present(engine, number)
    await write_log(dsn, STORY[1:])

    assert positions(await lines(reading)) == list(range(1, 9))
    assert positions(await lines(await reading.again(), after=8)) == list(
        range(9, 19)
    )


async def test_a_log_that_is_not_there_is_not_found(
    engine: AsyncEngine,
) -> None:
    with pytest.raises(NotFoundError, match="no log 7"):
        await LogReading.at_present(engine, 7)


async def test_an_empty_log_has_no_lines(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await write_log(any_database.dsn("writer"), [])
    reading = await LogReading.at_present(engine, number)

    assert await lines(reading) == []
    assert await reading.skip_to_newest(EntryQuery(Selection()), 5) == 0
    assert await reading.newest(Selection(objects=(1,))) is None
    assert reading.log.recorded_at is None


@pytest.mark.parametrize(
    ("selection", "trips"),
    [
        (Selection(), ["fetch", "fetch"]),
        (Selection(since=at(0)), ["fetch", "fetch"]),
        (Selection(source="watch"), ["fetch", "execute", "fetch", "execute"]),
    ],
)
async def test_a_page_takes_few_trips_to_the_database(
    any_database: Database,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
    selection: Selection,
    trips: list[str],
) -> None:
    """Where it lies, and itself: planned for its values within BEGIN."""
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)
    asked: list[str] = []

    def noted(name: str) -> Any:
        does = getattr(asyncpg.Connection, name)

        async def noting(*given: Any, **more: Any) -> Any:
            asked.append(name)
            return await does(*given, **more)

        return noting

    for name in ("fetch", "execute", "prepare"):
        monkeypatch.setattr(asyncpg.Connection, name, noted(name))
    pages = reading.pages(EntryQuery(selection, Part.OBJECT), after=0, limit=2)
    async for page in pages:
        assert len(page) == 2
        break

    assert asked == trips
