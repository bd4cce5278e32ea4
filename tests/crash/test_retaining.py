"""The crash matrix of retention: killed at any statement of a run.

A run is killed before a statement is sent, after it was, and when its answer
has come. Whatever lives can be read then, and the next run comes to what an
undisturbed one leaves, in the database and in the archive. Each commit
another sample of these deaths is died; ``make scenarios`` dies all.
"""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.archive.manifest import Manifest
from recorder.archive.place import FolderPlace
from recorder.archive.verifying import verify_day
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.store.writer import Writer
from tests.conftest import migrated
from tests.contract.test_log import SPEC
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.statements import StatementLoop, watch_statements
from tests.support.days import owner, write_days, write_events
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    make_template,
)
from tests.support.sampling import sampled

TEMPLATE = "two_days"
DEATHS = 24
"""Of about a hundred; each takes two runs of retention."""

WRITERS = ("retention.", "steps.", "holds.")
TRANSACTION = ("BEGIN;", "COMMIT;")
SENT = ("sent B", "sent Q", "sent X")
"""Messages with which a statement is carried out, or a session ended."""
KILLED = {
    "retention.ARCHIVE",
    "retention.BUILD_KEPT",
    "retention.DROP",
    "retention.FORGET_WORDS",
    "retention.GIVE_UP_BUILDING",
    "retention.LOOK_FOR_WORDS",
    "retention.PRUNE_BATCHES",
    "retention.REMOVE_DROPPED",
    "retention.SEAL",
    "retention.VERIFIED",
    "steps.LEAVE_NOTICE",
}
RETAINING = KILLED | {
    # Of one transaction each, with the notice of it.
    "holds.ADD",
    "holds.LIFT",
    # One function, which attaches what is not attached yet.
    "attaching.ATTACH",
    # In the transaction that begins a derivation.
    "derivation.KEEP_FACTS",
}
"""Writes that are not of the writer of a log."""

LEFT = """
    select json_build_object(
      'entries', (select array_agg(e.position order by e.position)
        from recorder.entry e),
      'facts', (select array_agg(array[f.position, f.index]
        order by f.position, f.index) from recorder.fact f),
      'batches', (select count(*) from recorder.batch),
      'objects', (select array_agg(name order by name) from recorder.object),
      'words', (select array_agg(text order by text) from recorder.word),
      'states', (select array_agg(name || state order by name)
        from recorder.partition),
      'days', (select array_agg(encode(range, 'hex') order by partition)
        from recorder.archived_day),
      'notices', (select count(*) from recorder.notice
        where document::json->>'action' <> 'ran'),
      'runs', (select count(*) > 0 from recorder.notice
        where document::json->>'action' = 'ran'),
      'tables', (select array_agg(relname order by relname) from pg_class
        where relkind = 'r' and relnamespace = 'recorder'::regnamespace))
"""


async def _run(database: Database, place: Path) -> None:
    policy = Policy(place=str(place))
    await retain(database.dsn("retention"), Retaining(policy=policy))


def in_a_child(
    database: Database, place: Path, passed: Path, kill: Kill | None
) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            failpoints = Failpoints(kill)
            watch_statements(failpoints)
            with asyncio.Runner(
                loop_factory=lambda: StatementLoop(failpoints)
            ) as runner:
                runner.run(_run(database, place))
            passed.write_text(json.dumps(failpoints.passed))
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def kills_of(passed: Path) -> Iterator[Kill]:
    """Yield every write, before it and once it was sent; reads but once.

    A statement that was only prepared has changed nothing.
    """
    for place, count in json.loads(passed.read_text()).items():
        name, _, moment = place.rpartition(", ")
        if name.startswith(WRITERS) or name in TRANSACTION:
            if moment == "before" or moment in SENT:
                yield from (Kill(place, n) for n in sorted({1, count}))
        elif moment == "before":
            yield Kill(place, 1)


async def left(database: Database, place: Path) -> dict[str, object]:
    """Return what a run leaves, and see that the archive proves itself."""
    async with owner(database) as connection:
        found = json.loads(await connection.fetchval(LEFT))
    kept = FolderPlace(place)
    days = sorted(place.rglob("manifest.json"))  # noqa: ASYNC240
    for path in days:
        content = path.read_bytes()
        folder = str(path.parent.relative_to(place))
        verify_day(kept, folder, Manifest.parse(content, folder))
    return {**found, "archived": [path.parent.name for path in days]}


async def read_what_lives(database: Database) -> None:
    """See that each live object has its document, and is of its day."""
    writer = Writer(database.dsn("writer"), SPEC, holder="heir")
    recovered = await writer.take_lease()
    positions = {head.position for head in recovered.heads}
    assert {head.identity.name for head in recovered.heads} == {
        "stays",
        "gpu-001",
        "day-1",
    }
    assert (await writer.documents(sorted(positions))).keys() == positions
    await writer.close()


@pytest.mark.timeout(600)
async def test_a_run_that_is_killed_at_any_statement_is_made_again(
    embedded_server: DatabaseServer, tmp_path: Path
) -> None:
    async def prepare(database: Database) -> None:
        await migrated(database)
        await write_days(database, 2)
        await write_events(database, "Gone", 9)
        await write_events(database, "Kept", 7)

    await make_template(embedded_server, TEMPLATE, prepare)
    passed = tmp_path / "passed"
    whole = tmp_path / "whole"
    async with fresh_database(embedded_server, TEMPLATE) as database:
        assert in_a_child(database, whole, passed, None) == 0
        wanted = await left(database, whole)
        assert wanted["words"] == ["Kept", "kubelet"]
    places = json.loads(passed.read_text())
    # The notice goes by the name of the first module that has it.
    named = {
        place.partition(",")[0].replace("holds.", "steps.") for place in places
    }
    assert named >= KILLED
    every = [*kills_of(passed)]
    assert len(every) > 40
    for number, kill in enumerate(sampled("retaining", every, DEATHS)):
        place = tmp_path / str(number)
        async with fresh_database(embedded_server, TEMPLATE) as database:
            status = in_a_child(database, place, tmp_path / "again", kill)
            assert status == -signal.SIGKILL, kill
            await read_what_lives(database)
            again = in_a_child(database, place, tmp_path / "again", None)
            assert again == 0, kill
            assert await left(database, place) == wanted, kill
