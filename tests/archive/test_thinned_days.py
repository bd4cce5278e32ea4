"""Days that are here but for what went before them, which the archive has."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recorder.coverage.coverage import Coverage, covered
from recorder.knowledge import shipped
from recorder.model.reference import EntryName
from recorder.model.window import Window
from recorder.questions.entries import EntryQuestion, ask_entries
from recorder.questions.entry import ask_entry
from recorder.questions.fact_ports import ALWAYS, Stay
from recorder.questions.ports import Reading
from recorder.questions.show import ask_object
from recorder.questions.why import WhyQuestion, ask_why
from recorder.store.archive_engine import ArchiveEngine
from recorder.store.read_facts import EVIDENCE
from recorder.wiring.archived import ArchivedReading
from tests.archive.test_spanning import (
    NOW,
    POD,
    WHOLE,
    archive_reasons,
    everything,
    listed,
    opened,
)
from tests.retention.test_thinning import ALL, rows, run
from tests.support.days import noon, write_days, write_statements
from tests.support.postgres import Database


@pytest.fixture
async def log(database: Database) -> Database:
    """A log of four days, and statements five and two days ago."""
    await write_days(database)
    await write_statements(database, 5)
    await write_statements(database, 2)
    return database


async def all_of_it(reading: Reading) -> dict[str, Any]:
    """Return answers of days out of which something went."""
    return {
        **await everything(reading),
        "requests": await listed(reading, source="audit"),
        "newest requests": await listed(reading, source="audit", limit=3),
        "newest 12": await listed(reading, limit=12),
        "newest 12 facts": await listed(reading, facts=True, limit=12),
        "of a reason": await listed(reading, reason="Pulled"),
        "an entry": [
            await ask_entry(reading, EntryName(1, position))
            for position in range(1, reading.log.size - 2)
        ],
    }


async def answers(log: Database, folder: Path) -> tuple[dict[str, Any], Any]:
    async with opened(log, folder) as reading:
        found = await all_of_it(reading)
        return found, await covered(reading, WHOLE, now=NOW)


@pytest.mark.parametrize(
    ("hot", "longer"), [(300, {"audit/delete": 400}), (4, {})]
)
async def test_what_went_before_its_day_is_answered_from_the_archive(
    log: Database, tmp_path: Path, hot: int, longer: dict[str, int]
) -> None:
    """Each row once: also what stayed, and where days before were dropped."""
    before, _ = await answers(log, tmp_path)
    place = tmp_path / "archive"

    done = await run(log, place, hot=timedelta(days=hot), longer=longer)
    after, coverage = await answers(log, tmp_path)

    assert bool(done.dropped) is (hot < 10)
    assert done.thinned
    for question, answer in before.items():
        assert after[question] == answer, question
    assert len(before["requests"]) == 4
    assert archive_reasons(coverage) == []
    assert thinned(coverage) == []
    assert {span.place for span in coverage.archived} == {str(place)}


async def test_of_a_day_that_is_here_only_statements_are_asked_for(
    log: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(log, tmp_path / "archive")
    asked = []

    async def fetch(_: object, __: str, statement: object, ___: object) -> Any:
        asked.append(statement)
        return []

    async with opened(log, tmp_path) as reading:
        await reading.reach(WHOLE.since, WHOLE.until)
        monkeypatch.setattr(ArchiveEngine, "fetch", fetch)
        stay = Stay("gpu-001", *ALWAYS)
        given = {"since": WHOLE.since, "until": WHOLE.until}
        await reading.facts.evidence(["gpu-001"], **given, locks=[])
        await reading.facts.disrupted([stay], **given)
        await reading.facts.places()
        await reading.gangs.pods_on([stay])
        await reading.nodes_before(["gpu-404"], NOW)
    assert asked == [EVIDENCE]


def thinned(coverage: Coverage) -> list[str]:
    return [h.reason for h in coverage.holes if "by policy" in h.reason]


async def test_what_went_and_cannot_be_read_is_a_hole_that_says_why(
    log: Database, tmp_path: Path
) -> None:
    place = tmp_path / "archive"
    await run(log, place)
    (manifest,) = place.glob(f"*/{noon(5):%Y-%m-%d}/manifest.json")
    manifest.unlink()

    async with opened(log, tmp_path) as reading:
        found = await listed(reading, source="audit")
        coverage = await covered(reading, WHOLE, now=NOW)

    assert len(found) == 2, "those of the other day"
    reasons = thinned(coverage)
    assert len(reasons) == len(ALL)
    for reason in reasons:
        assert f"in the archive, {place}, which cannot be read: " in reason
    assert archive_reasons(coverage) == []


async def test_only_what_went_opens_the_archive(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path / "archive")
    positions = await rows(log, "select position from recorder.entry")
    here = {row["position"] for row in positions}

    async with opened(log, tmp_path) as reading:
        assert isinstance(reading, ArchivedReading)
        yesterday = Window(noon(1), NOW)
        why = WhyQuestion(node="gpu-001", window=yesterday)
        await ask_why(reading, why, shipped(), now=NOW)
        await ask_object(reading, POD, None, now=NOW)
        question = EntryQuestion(window=Window(), limit=5)
        await ask_entries(reading, question, now=NOW)
        for position in sorted(here)[:-1]:
            await ask_entry(reading, EntryName(1, position))
        assert thinned(await covered(reading, yesterday, now=NOW)) == []
        assert reading.days.opened is None
        (gone, *_) = {*range(1, max(here))} - here
        await ask_entry(reading, EntryName(1, gone))
        assert reading.days.opened is not None
