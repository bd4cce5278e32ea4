"""Playing a tape is killed after each write, and repeated.

The log is then what it is without a kill: each frame of the tape
once, and the place on the tape behind the last one.
"""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.keeping.playing import Playing, play_tape
from recorder.model.settings import Settings
from recorder.sources.tape import TapeWriter
from tests.conftest import TEMPLATE
from tests.crash.checking import check_log
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.script import BATCHES
from tests.crash.statements import StatementLoop, watch_statements
from tests.support.fact_rows import ask
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.read_log import read_log
from tests.tape.builders import HEADER

EXPIRE = """
    update recorder.log_head set expires_at = '-infinity' returning log_id
"""
Entries = list[tuple[str, str | None, str | None, bytes]]


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "a.tape.jsonl.zst"
    with TapeWriter(path, HEADER) as writer:
        for batch in BATCHES:
            writer.write(batch)
    return path


async def play(tape: Path, database: Database) -> None:
    settings = Settings(data_dir=tape.parent)
    await play_tape(
        Playing(path=tape), settings, database.dsn("writer"), asyncio.Event()
    )


def in_a_child(
    work: Callable[[], Coroutine[Any, Any, None]],
    passed: Path,
    kill: Kill | None,
) -> tuple[int, Counter[str]]:
    """Work in another process; return how it ended, and what it passed."""
    passed.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            failpoints = Failpoints(kill)
            watch_statements(failpoints)
            with asyncio.Runner(
                loop_factory=lambda: StatementLoop(failpoints)
            ) as runner:
                runner.run(work())
            passed.write_text(json.dumps(failpoints.passed))
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    found = passed.read_text() if passed.exists() else "{}"
    return os.waitstatus_to_exitcode(status), Counter(json.loads(found))


def played_in_a_child(
    tape: Path, database: Database, kill: Kill | None
) -> tuple[int, Counter[str]]:
    passed = tape.with_name("passed")
    return in_a_child(lambda: play(tape, database), passed, kill)


async def entries_of(database: Database) -> Entries:
    """Return the entries of the log, once it was verified."""
    assert await check_log(database.dsn("reader")) == []
    log = await read_log(database.dsn("reader"))
    return [
        (d.operation.value, d.resource, d.resource_version, d.raw)
        for _, d in log.entries
    ]


WRITES = ("append.", "bookkeeping.", "COPY ", "lease.", "writer.")


def kills_of(passed: Counter[str]) -> Iterator[Kill]:
    """Yield both sides of each commit, and the end of each write before it.

    What lies between is died in by `test_kills`. The first passage of each
    place is among them: how often it is passed depends on how many
    transactions the time between two writes makes of a tape.
    """
    for place, count in passed.items():
        if place in {"COMMIT;, sent Q", "COMMIT;, after"}:
            yield from (Kill(place, number + 1) for number in range(count))
        elif place.startswith(WRITES) and place.endswith(", after"):
            yield Kill(place, 1)
            if count > 1:
                yield Kill(place, count)


@pytest.mark.timeout(300)
def test_a_tape_that_is_played_again_is_in_the_log_once(
    embedded_server: DatabaseServer, tape: Path
) -> None:
    with asyncio.Runner() as runner:
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(fresh.__aenter__())
        status, passed = played_in_a_child(tape, database, None)
        assert status == 0
        whole = runner.run(entries_of(database))
        runner.run(fresh.__aexit__(None, None, None))
        assert len(whole) > 30
        kills = [*kills_of(passed)]
        assert len(kills) > 8
        for kill in kills:
            again = fresh_database(embedded_server, TEMPLATE)
            database = runner.run(again.__aenter__())
            status, seen = played_in_a_child(tape, database, kill)
            if status == 0 and kill.passage > 1:
                # Played in fewer transactions than the first time.
                assert seen[kill.place] < kill.passage, kill
            else:
                assert status == -signal.SIGKILL, kill
            runner.run(ask(database, EXPIRE))
            runner.run(play(tape, database))
            assert runner.run(entries_of(database)) == whole, kill
            runner.run(again.__aexit__(None, None, None))
