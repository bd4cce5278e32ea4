"""Logs of 0.1.0 with thinned days and kept rows answer as their archive does.

What was kept of a dropped day is a part of it: it hides nothing of the
archive, which has the whole. See `tests/store/retained_log.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.answers.entries import ask_entries
from recorder.answers.entry import ask_entry
from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ALWAYS,
    FactQuery,
    NodeNames,
    NodePlaces,
    NodesBefore,
    PodsOn,
    Purpose,
    Stay,
)
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.facts.coverage.coverage import covered
from recorder.integrity.proof import check_proof
from recorder.integrity.verified import Verified
from recorder.keeping.checkpointing import make_checkpoint
from recorder.keeping.proving import UnprovenError, prove
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify, verify_database
from recorder.model.document import plain
from recorder.model.entry import Entry, Operation
from recorder.model.reference import EntryName
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.archive_engine import ArchiveEngine
from recorder.store.long_work import connect_to
from recorder.store.read_facts import EVIDENCE
from recorder.wiring.archived import ArchivedReading
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE, migrated
from tests.corpus.logs import play
from tests.corpus.questions import NOW
from tests.store.retained_log import DROPPED, THINNED, restored
from tests.store.retained_log import tape as as_played
from tests.store.rules import derived_anew
from tests.support.days import owner
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.tampering.story import the_log

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()

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
        for log in TAPES.values():
            runner.run(derived_anew(database, log))
        yield Kept(database, folder)
        runner.run(stack.aclose())


@pytest.fixture
async def played(
    embedded_server: DatabaseServer, tape: str, tmp_path: Path
) -> AsyncIterator[Kept]:
    """A tape in the log of the same number, with nothing removed."""
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
    for node in sorted(await reading.names(NodeNames())):
        for asked in (window, Window()):
            why = WhyQuestion(node=node, window=asked)
            found[f"why {node} {asked}"] = answer(
                await ask_why(reading, why, know, now=NOW)
            )
        impact = ImpactQuestion(
            nodes=(node,), rack=None, labels=(), window=window
        )
        found[f"impact {node}"] = answer(
            await ask_impact(reading, impact, know, now=NOW)
        )
    incidents = IncidentsQuestion(window=window)
    found["incidents"] = answer(
        await ask_incidents(reading, incidents, know, now=NOW)
    )
    for name, more in LISTS.items():
        found[name] = [
            msgspec.structs.replace(one, recorded_at=NOW)
            if isinstance(one, Entry)
            else one
            for one in await listed(reading, window, **more)
        ]
    return found


WHOLE = Window(datetime(2026, 11, 1, tzinfo=UTC), NOW)


async def listed(
    reading: Reading, window: Window = WHOLE, **more: Any
) -> list[Any]:
    question = EntryQuestion(window=window, **more)
    found = await ask_entries(reading, question, now=NOW)
    return [one async for page in found.pages(reading) for one in page]


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
        before = await answers(reading, window)
    async with kept.reading(TAPES[tape]) as reading:
        assert await whole(reading) == window
        after = await answers(reading, window)

    for question, answer in before.items():
        assert after[question] == answer, question
    assert "alice@example.com" in str(after)


async def verified(kept: Kept, log: int) -> Verified:
    return await verify(
        kept.database.dsn("writer"),
        replace(the_log(1), id=log),
        Verifying(),
        asyncio.Event(),
    )


@pytest.mark.parametrize("log", [1, *TAPES.values()])
async def test_what_is_left_of_it_is_proven(kept: Kept, log: int) -> None:
    found = await verified(kept, log)

    assert (found.problems, found.unrecorded) == ([], 0)
    assert found.dropped > 0 or log == TAPES[THINNED]


async def test_its_schema_is_the_one_of_this_release(kept: Kept) -> None:
    connection = await connect_to(kept.database.dsn("reader"))
    try:
        assert (await verify_database(connection)).problems == []
    finally:
        await connection.close()


async def positions(kept: Kept, log: int) -> set[int]:
    """Return which entries of a log are in the database."""
    async with owner(kept.database) as connection:
        rows = await connection.fetch(
            "select position from recorder.entry where log_id = $1", log
        )
    return {row["position"] for row in rows}


@pytest.mark.parametrize("log", [1, 3])
async def test_only_an_entry_that_went_opens_the_archive(
    kept: Kept, log: int
) -> None:
    here = await positions(kept, log)
    async with owner(kept.database) as connection:
        dropped = await connection.fetchval(
            "select pruned_positions from recorder.log_head where log_id = $1",
            log,
        )
    (gone, *_) = {*range(dropped + 1, max(here))} - here
    async with kept.reading(log) as reading:
        assert isinstance(reading, ArchivedReading)
        for position in sorted(here - {*range(dropped + 1)})[::9]:
            await ask_entry(reading, EntryName(log, position))
        assert reading.days.opened is None
        found = await ask_entry(reading, EntryName(log, gone))
        assert found.operation in {Operation.ADDED, Operation.LISTED}
        assert reading.days.opened is not None


async def test_of_a_thinned_day_only_statements_are_asked_for(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def fetch(_: object, statement: object, **_values: object) -> Any:
        asked.append(statement)
        return []

    async with kept.reading(TAPES[THINNED]) as reading:
        window = await whole(reading)
        await reading.reach(window.since, window.until)
        monkeypatch.setattr(ArchiveEngine, "fetch", fetch)
        stay = Stay("gpu-001", *ALWAYS)
        for purpose in (Purpose.EVIDENCE, Purpose.DISRUPTION):
            query = FactQuery(
                purpose=purpose,
                nodes=["gpu-001"],
                stays=[stay],
                since=window.since,
                until=window.until,
            )
            await reading.facts(query)
        await reading.states(NodePlaces())
        await reading.names(PodsOn([stay]))
        await reading.states(NodesBefore(names=["gpu-404"], at=NOW))
    assert asked == [EVIDENCE]


async def test_what_went_and_cannot_be_read_is_a_hole_that_says_why(
    kept: Kept,
) -> None:
    place = kept.folder / "archive"
    (manifest,) = place.glob("*/2026-11-19/manifest.json")
    away = manifest.rename(manifest.with_name("away"))
    try:
        async with kept.reading(TAPES[THINNED]) as reading:
            found = await listed(reading, source="audit")
            coverage = await covered(reading, WHOLE, now=NOW)
    finally:
        away.rename(manifest)

    assert len(found) == 42, "those that stayed"
    assert not coverage.complete
    reasons = [h.reason for h in coverage.holes if "by policy" in h.reason]
    assert [reason.partition(" older")[0] for reason in reasons] == [
        "Events", "silences of leases", "audit records (create)",
        "audit records (patch)",
    ]  # fmt: skip
    for reason in reasons:
        assert f"in the archive, {place}, which cannot be read: " in reason


async def test_what_went_and_what_stays_is_proven(kept: Kept) -> None:
    log = TAPES[THINNED]
    here = await positions(kept, log)
    gone = {*range(1, max(here))} - here
    connection = await connect_to(kept.database.superuser_dsn())
    change = connection.transaction()
    await change.start()
    try:
        await make_checkpoint(connection, log, KEY, [], NOW)
        for position in (min(here), min(gone), max(gone)):
            proof = await prove(connection, EntryName(log, position))
            check_proof(msgspec.json.encode(proof), [PUBLIC])
        await connection.execute(
            "alter table recorder.archived_day disable trigger all;"
            "update recorder.archived_day set uri = null,"
            f" manifest_sha256 = null where log_id = {log}"
        )
        with pytest.raises(UnprovenError, match="retention_shorter"):
            await prove(connection, EntryName(log, min(gone)))
    finally:
        await change.rollback()
        await connection.close()


async def test_the_next_run_drops_what_was_kept_and_thinned(
    embedded_server: DatabaseServer, tmp_path: Path
) -> None:
    """And the same is answered as before, all of it from the archive."""
    async with fresh_database(embedded_server) as database:
        place = restored(database, tmp_path)
        await migrated(database)
        one = Kept(database, tmp_path)
        async with one.reading(TAPES[THINNED]) as reading:
            before = await listed(reading, documents=True)
        policy = Policy(place=str(place), hot=timedelta(days=1))

        done = await retain(
            database.dsn("retention"), Retaining(policy=policy)
        )

        assert done.dropped
        assert done.stopped_by is None
        async with owner(database) as connection:
            left = await connection.fetchrow(LEFT)
        assert tuple(left) == (0, 0, 0)
        async with one.reading(TAPES[THINNED]) as reading:
            assert await listed(reading, documents=True) == before
        for log in (1, 2, 3):
            assert (await verified(one, log)).problems == []


LEFT = """
    select (select count(*) from recorder.thinned t
        join recorder.log_head h using (log_id)
        where t.batch <= h.pruned_batches),
      (select count(*) from recorder.entry_kept where operation in (6, 10)),
      (select count(*) from recorder.fact_kept f where f.kind = 21)
"""
