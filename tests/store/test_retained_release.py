"""Logs of 0.1.0 with thinned days and kept rows answer as their archive does.

What was kept of a dropped day is a part of it: it hides nothing of the
archive, which has the whole. See `tests/store/retained_log.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recorder.admin.verifying import Verifying, verify
from recorder.documents.document import plain
from recorder.documents.impact import ImpactDocument
from recorder.documents.incidents import IncidentsDocument
from recorder.documents.verdict import WhyDocument
from recorder.knowledge import shipped
from recorder.model.window import Window
from recorder.questions.entries import EntryQuestion, ask_entries
from recorder.questions.impact import ImpactQuestion, ask_impact
from recorder.questions.incidents import IncidentsQuestion, ask_incidents
from recorder.questions.ports import Line, Reading
from recorder.questions.why import WhyQuestion, ask_why
from recorder.settings import Settings
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE, migrated
from tests.corpus.logs import play
from tests.corpus.questions import NOW
from tests.store.retained_log import DROPPED, THINNED, restored
from tests.store.retained_log import tape as as_played
from tests.support.days import owner
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.story import the_log

TAPES = {DROPPED: 2, THINNED: 3}
"""With the numbers of their logs."""


class Kept(NamedTuple):
    """A database, and the folder in which its archive is."""

    database: Database
    folder: Path

    @asynccontextmanager
    async def reading(self, number: int) -> AsyncIterator[Reading]:
        settings = Settings(
            database_url=self.database.dsn("reader"),
            data_dir=self.folder / "data",
        )
        async with open_logs(settings) as logs:
            yield await logs.read(number)


@pytest.fixture(scope="module")
def kept(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("retained")
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(embedded_server)
        database = runner.run(stack.enter_async_context(fresh))
        restored(database, folder)
        runner.run(migrated(database))
        yield Kept(database, folder)
        runner.run(stack.aclose())


@pytest.fixture
async def played(
    embedded_server: DatabaseServer, tape: str, tmp_path: Path
) -> AsyncIterator[Kept]:
    """A tape in the log of the same number, of which nothing went."""
    async with fresh_database(embedded_server, TEMPLATE) as fresh:
        async with owner(fresh) as connection:
            await connection.execute(
                "alter table recorder.log alter column log_id"
                f" restart with {TAPES[tape]}"
            )
        path = as_played(tape, tmp_path)
        await play(fresh.dsn("writer"), path, name=tape)
        yield Kept(fresh, tmp_path)


async def whole(reading: Reading) -> Window:
    """Return when a tape was recorded."""
    began = [stream.began_at for stream in reading.streams]
    return Window(min(filter(None, began)), reading.log.observed_at)


def answer(document: Any) -> Any:
    found = plain(document)
    for key in ("archived", "recorded_until"):
        found["coverage"].pop(key, None)
    return found


async def answers(reading: Reading, window: Window) -> dict[str, Any]:
    """Return what commands say of a window, but for where it was read."""
    know = shipped()
    found = {}
    for node in sorted(await reading.node_names()):
        why = WhyQuestion(node=node, window=window)
        found[f"why {node}"] = answer(
            WhyDocument.of(await ask_why(reading, why, know, now=NOW))
        )
        impact = ImpactQuestion(
            nodes=(node,), rack=None, labels=(), window=window
        )
        found[f"impact {node}"] = answer(
            ImpactDocument.of(await ask_impact(reading, impact, know, now=NOW))
        )
    incidents = IncidentsQuestion(window=window)
    found["incidents"] = answer(
        IncidentsDocument.of(
            await ask_incidents(reading, incidents, know, now=NOW)
        )
    )
    for name, more in LISTS.items():
        listed = await ask_entries(
            reading, EntryQuestion(window=window, **more), now=NOW
        )
        found[name] = [
            replace(one, recorded_at=NOW) if isinstance(one, Line) else one
            async for page in listed.pages(reading)
            for one in page
        ]
    return found


LISTS: Mapping[str, Any] = {
    "entries": {"documents": True},
    "facts": {"facts": True},
    "requests": {"source": "audit"},
    "newest": {"facts": True, "limit": 9},
}


@pytest.mark.parametrize("tape", TAPES)
async def test_a_tape_is_answered_as_if_nothing_had_gone(
    kept: Kept, played: Kept, tape: str
) -> None:
    async with played.reading(TAPES[tape]) as reading:
        window = await whole(reading)
        end = reading.log.size
        before = await answers(await reading.pinned(end), window)
    # Behind the end are the entries of the run.
    async with kept.reading(TAPES[tape]) as reading:
        after = await answers(await reading.pinned(end), window)

    for question, told in before.items():
        assert after[question] == told, question
    assert "alice@example.com" in str(after)


@pytest.mark.parametrize("log", [1, *TAPES.values()])
async def test_what_is_left_of_it_is_proven(kept: Kept, log: int) -> None:
    found = await verify(
        kept.database.dsn("writer"),
        replace(the_log(1), id=log),
        Verifying(),
        asyncio.Event(),
    )

    assert (found.problems, found.unrecorded) == ([], 0)
    assert found.dropped > 0 or log == TAPES[THINNED]
