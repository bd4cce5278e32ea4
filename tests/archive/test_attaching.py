"""An archive without the database that wrote it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recorder.answers.node_questions import WhyQuestion
from recorder.answers.queries import NodeNames
from recorder.answers.why import ask_why
from recorder.archive.errors import ArchiveError
from recorder.explain.knowledge import shipped
from recorder.facts.coverage.coverage import covered
from recorder.keeping.attaching import attach
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.store.steps import RefusedError
from tests.archive.test_answering import drop_all
from tests.archive.test_spanning import (
    NOW,
    WHOLE,
    archive_reasons,
    everything,
    listed,
    opened,
)
from tests.conftest import TEMPLATE
from tests.corpus.logs import play, tape_of
from tests.retention.test_dropping import run
from tests.support.days import set_clock, write_days
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.story import the_log

TAPE = "kernel-deadlock"


@pytest.fixture
async def elsewhere(
    embedded_server: DatabaseServer,
) -> AsyncIterator[Database]:
    async with fresh_database(embedded_server, TEMPLATE) as fresh:
        yield fresh


async def answered(
    database: Database, folder: Path, node: str
) -> Sequence[object]:
    async with opened(database, folder) as reading:
        why = WhyQuestion(node=node, window=WHOLE)
        return (await ask_why(reading, why, shipped(), now=NOW)).verdicts


async def test_every_question_works_on_an_archive_from_elsewhere(
    database: Database, elsewhere: Database, tmp_path: Path
) -> None:
    await write_days(elsewhere)
    await run(elsewhere, tmp_path / "archive", hot=timedelta(days=1))
    async with opened(elsewhere, tmp_path) as reading:
        before = await everything(reading)

    (found,) = await attach(
        database.dsn("retention"), str(tmp_path / "archive")
    )
    async with opened(database, tmp_path) as reading:
        assert reading.log.id == found.log
        after = await everything(reading)
        coverage = await covered(reading, WHOLE, now=NOW)

    for question, answer in before.items():
        assert after[question] == answer, question
    assert coverage.archived
    assert archive_reasons(coverage) == []
    assert not coverage.complete, "an archive does not say what was proven"


async def test_an_incident_is_explained_from_an_archive_alone(
    database: Database, elsewhere: Database, tmp_path: Path
) -> None:
    await set_clock(elsewhere, -timedelta(days=20))
    await play(elsewhere.dsn("writer"), tape_of(TAPE), name=TAPE)
    await set_clock(elsewhere, timedelta(0))
    async with opened(elsewhere, tmp_path) as reading:
        nodes = await reading.names(NodeNames())
    before = [await answered(elsewhere, tmp_path, node) for node in nodes]
    await drop_all(elsewhere, tmp_path / "archive")

    await attach(database.dsn("retention"), str(tmp_path / "archive"))
    after = [await answered(database, tmp_path, node) for node in nodes]

    assert any(before)
    assert [len(one) for one in after] == [len(one) for one in before]


async def test_an_attached_log_is_proven_by_what_it_has_here(
    database: Database, elsewhere: Database, tmp_path: Path
) -> None:
    await write_days(elsewhere)
    theirs = await verify(
        elsewhere.dsn("writer"), the_log(1), Verifying(), asyncio.Event()
    )
    await run(elsewhere, tmp_path / "archive", hot=timedelta(days=1))
    (found,) = await attach(
        database.dsn("retention"), str(tmp_path / "archive")
    )

    ours = await verify(
        database.dsn("writer"),
        replace(the_log(1), id=found.log),
        Verifying(),
        asyncio.Event(),
    )

    assert (ours.problems, ours.checked_entries) == ([], 0)
    assert ours.origin == theirs.origin
    if ours.batches == theirs.batches:
        assert ours.root == theirs.root


async def test_days_that_came_are_attached_to_the_same_log(
    database: Database, elsewhere: Database, tmp_path: Path
) -> None:
    await write_days(elsewhere)
    place = tmp_path / "archive"
    await run(elsewhere, place)
    newest = max(place.glob("*/2*"))
    newest.rename(tmp_path / "later")
    dsn = database.dsn("retention")

    (first,) = await attach(dsn, str(place))
    (tmp_path / "later").rename(newest)
    (second,) = await attach(dsn, str(place))
    (third,) = await attach(dsn, str(place))

    assert first.log == second.log == third.log
    assert first.entries < second.entries
    async with opened(database, tmp_path) as reading:
        assert len(await listed(reading)) == second.entries


async def test_what_is_no_whole_archive_is_refused(
    database: Database, elsewhere: Database, tmp_path: Path
) -> None:
    await write_days(elsewhere)
    place = tmp_path / "archive"
    await run(elsewhere, place)
    dsn = database.dsn("retention")
    with pytest.raises(ArchiveError, match="is no archive"):
        await attach(dsn, str(tmp_path))
    with pytest.raises(RefusedError, match="was recorded by this database"):
        await attach(elsewhere.dsn("retention"), str(place))
    middle = sorted(place.glob("*/2*"))[1]
    middle.rename(tmp_path / "middle")
    with pytest.raises(ArchiveError, match="is missing before"):
        await attach(dsn, str(place))
