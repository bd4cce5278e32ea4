"""Questions whose window reaches from the archive into the database."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recorder.answers.diff import ask_difference
from recorder.answers.entries import ask_entries
from recorder.answers.entry import ask_entry, ask_opened
from recorder.answers.history import ask_history
from recorder.answers.log_questions import (
    DifferenceQuestion,
    End,
    EntryQuestion,
    HistoryQuestion,
    ObjectQuestion,
    OpenedQuestion,
    SearchQuestion,
)
from recorder.answers.naming import Reference
from recorder.answers.node_questions import TimelineQuestion, WhyQuestion
from recorder.answers.nouns import Place
from recorder.answers.ports import Reading
from recorder.answers.queries import ObjectsLike
from recorder.answers.search import ask_search
from recorder.answers.show import ask_object
from recorder.answers.timeline import ask_timeline
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.model.entry import Entry
from recorder.model.reference import EntryName
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.archived import ArchivedReading
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE
from tests.retention.test_dropping import run
from tests.support.days import noon, write_days
from tests.support.postgres import Database, DatabaseServer, fresh_database

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
WHOLE = Window(noon(11), NOW)
POD = Reference.parse("pod/stays", "train")

assert Policy().hot == timedelta(days=7), "two of the four days are dropped"


@asynccontextmanager
async def opened(database: Database, folder: Path) -> AsyncIterator[Reading]:
    settings = Settings(
        database_url=database.dsn("reader"), data_dir=folder / "data"
    )
    async with open_logs(settings) as logs:
        yield await logs.read(1)


async def listed(reading: Reading, **more: Any) -> Sequence[Any]:
    question = EntryQuestion(window=WHOLE, **more)
    found = await ask_entries(reading, question, now=NOW)
    assert found.coverage.window.since == WHOLE.since
    return [one async for page in found.pages(reading) for one in page]


async def everything(reading: Reading) -> dict[str, Any]:
    """Return answers over the border of both halves."""
    found: dict[str, Any] = {
        "lines": await listed(reading, documents=True),
        "newest": await listed(reading, limit=7),
        "of a node": await listed(reading, node="gpu-001", words=True),
        "facts": await listed(reading, facts=True),
        "newest facts": await listed(reading, facts=True, limit=5),
        "of a reason": await listed(reading, source="watch"),
    }
    for space in ("train", "elsewhere"):
        within = [Place("", "Pod", space), Place("", "Event", None)]
        found[f"found {space}"] = await reading.names(
            ObjectsLike(text="tay", kind=None, limit=5, within=within)
        )
    for ago in (10, 9, 8, 7):
        at = noon(ago) + HOUR
        shown = await ask_object(
            reading, ObjectQuestion(object=POD, at=at), now=NOW
        )
        found[f"shown {ago}"] = shown.entry
    history = await ask_history(
        reading, HistoryQuestion(object=POD, window=WHOLE, limit=None), now=NOW
    )
    found["history"] = [
        one async for page in history.pages(reading) for one in page
    ]
    difference = await ask_difference(
        reading,
        DifferenceQuestion(
            object=Reference.parse("node/gpu-001", None),
            before=End(at=noon(10) + HOUR),
            after=End(at=noon(7) + HOUR),
        ),
        now=NOW,
    )
    found["diff"] = difference.before, difference.after, difference.changed
    timeline = await ask_timeline(
        reading,
        TimelineQuestion(node="gpu-001", window=WHOLE),
        shipped(),
        now=NOW,
    )
    found["timeline"] = timeline.facts, timeline.before, timeline.after
    why = await ask_why(
        reading,
        WhyQuestion(node="gpu-001", window=WHOLE),
        shipped(),
        now=NOW,
    )
    # What may hide something is worded by until when the record is.
    found["why"] = [
        msgspec.structs.replace(one, hiding=()) for one in why.verdicts
    ]
    return found


async def test_answers_over_the_border_are_those_from_before(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)
    async with opened(any_database, tmp_path) as reading:
        before = await everything(reading)
    await run(any_database, tmp_path / "archive")

    async with opened(any_database, tmp_path) as reading:
        assert isinstance(reading, ArchivedReading)
        after = await everything(reading)
        coverage = await covered(reading, WHOLE, now=NOW)

    for question, answer in before.items():
        assert after[question] == answer, question
    assert len(before["lines"]) > 12
    assert [one.name for one in before["found train"]] == ["stays"]
    assert before["found elsewhere"] == []
    assert coverage.archived
    (span,) = coverage.archived
    assert span.place == str(tmp_path / "archive")
    assert archive_reasons(coverage) == []


async def test_what_is_hot_does_not_open_the_archive(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path / "archive")
    # It would be noticed.
    (tmp_path / "archive").rename(tmp_path / "away")
    window = Window(noon(7), NOW)

    async with opened(database, tmp_path) as reading:
        assert isinstance(reading, ArchivedReading)
        why = WhyQuestion(node="gpu-001", window=window)
        await ask_why(reading, why, shipped(), now=NOW)
        await ask_object(reading, ObjectQuestion(object=POD), now=NOW)
        await ask_entries(
            reading, EntryQuestion(window=Window(), limit=5), now=NOW
        )
        await ask_search(
            reading, SearchQuestion(text="stays", limit=5), now=NOW
        )
        coverage = await covered(reading, window, now=NOW)
        assert reading.days.opened is None
    assert archive_reasons(coverage) == []
    assert not (tmp_path / "data").exists()


async def test_an_entry_of_the_archive_is_opened_by_its_name(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    names = [EntryName(1, position) for position in range(1, 12)]
    async with opened(database, tmp_path) as reading:
        before = [await an_entry(reading, name) for name in names]
    await run(database, tmp_path / "archive")

    for name, known in zip(names, before, strict=True):
        async with opened(database, tmp_path) as reading:
            assert await ask_entry(reading, name) == known[0]
        async with opened(database, tmp_path) as reading:
            assert await an_entry(reading, name) == known


async def an_entry(reading: Reading, name: EntryName) -> Sequence[Any]:
    found = await ask_opened(
        reading, OpenedQuestion(entry=name, all_fields=True), now=NOW
    )
    return found.entry, found.facts, found.previous, found.changed


async def test_pages_that_are_merged_are_in_order_and_whole(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path / "archive")
    async with opened(database, tmp_path) as reading:
        positions = [line.entry.position for line in await listed(reading)]
        size = reading.log.size
    assert positions == [*range(1, size + 1)]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def swap_days(place: Path) -> None:
    first, second = sorted(place.glob("*/2*"))[:2]
    first.rename(place / "between")
    second.rename(first)
    (place / "between").rename(second)


def first(place: Path, name: str) -> Path:
    return min(place.glob(f"*/*/{name}"))


DAMAGES = {
    "away": lambda place: place.rename(place.with_name("away")),
    "a manifest": lambda place: first(place, "manifest.json").unlink(),
    "another manifest": lambda place: flip(first(place, "manifest.json")),
    "a file": lambda place: first(place, "facts-00000.parquet").unlink(),
    "a byte": lambda place: flip(first(place, "entries-00000.parquet")),
    "a byte of facts": lambda place: flip(first(place, "facts-00000.parquet")),
    "an end": lambda place: cut(first(place, "objects.parquet")),
    "another day": swap_days,
}


@pytest.fixture(scope="module")
def archived(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, Path]]:
    """A database with archived days, and the place they are in."""
    place = tmp_path_factory.mktemp("spanning") / "archive"
    with asyncio.Runner() as runner:
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(fresh.__aenter__())
        try:
            runner.run(write_days(database))
            runner.run(run(database, place))
            yield database, place
        finally:
            runner.run(fresh.__aexit__(None, None, None))


@pytest.fixture
def damaged(
    archived: tuple[Database, Path], tmp_path: Path, damage: str
) -> Iterator[tuple[Database, Path]]:
    """The same with a damage, repaired afterwards."""
    _, place = archived
    shutil.copytree(place, tmp_path / "whole")
    DAMAGES[damage](place)
    yield archived
    shutil.rmtree(place, ignore_errors=True)
    shutil.move(tmp_path / "whole", place)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_an_archive_that_cannot_be_read_is_a_hole_with_a_name(
    damaged: tuple[Database, Path], tmp_path: Path
) -> None:
    database, place = damaged

    async with opened(database, tmp_path) as reading:
        lines = await listed(reading)
        await everything(reading)
        coverage = await covered(reading, WHOLE, now=NOW)

    assert not coverage.complete
    (reason,) = archive_reasons(coverage)
    assert f"{noon(10):%Y-%m-%d}" in reason
    assert f"archived in {place}, which cannot be read: " in reason
    assert lines, "the other days are read"


def archive_reasons(coverage: Coverage) -> list[str]:
    return [h.reason for h in coverage.holes if h.source == "recorder"]


async def test_days_that_were_never_archived_are_a_hole(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run_without(database)
    async with opened(database, tmp_path) as reading:
        await everything_listed(reading)
        coverage = await covered(reading, WHOLE, now=NOW)
    assert archive_reasons(coverage) == ["dropped by retention, not archived"]


async def run_without(database: Database) -> None:
    policy = Policy(place=None, unarchived="drop")
    await retain(database.dsn("retention"), Retaining(policy=policy))


async def everything_listed(reading: Reading) -> list[Entry]:
    return [*await listed(reading)]


async def test_a_question_that_reads_no_archive_says_so(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path / "archive")
    async with opened(database, tmp_path) as reading:
        coverage = await covered(reading, WHOLE, now=NOW)
    (reason,) = archive_reasons(coverage)
    assert reason.endswith("not read for this answer")
