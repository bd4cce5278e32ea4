"""Two sources in one recording, killed on both sides of each commit.

One delivers the script, and what it repeats is known; the other delivers the
lines of a file, and nothing of it is known. Recorded again, each continues at
its own place: every line of both is in the log once.
"""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from recorder.intake.ports import Known, Sink, Source
from recorder.intake.recording import Recording
from recorder.model.entry import Operation
from recorder.model.observation import (
    AUDIT,
    AuditRecorded,
    Observation,
    PlaceReached,
)
from recorder.store.writer import LogSpec, Writer
from tests.conftest import TEMPLATE
from tests.crash.checking import check_log
from tests.crash.child import HOLDER, POLICY, REDACTION
from tests.crash.failpoints import Kill
from tests.crash.script import EXPECTED, SCRIPT, Script
from tests.crash.test_playing import in_a_child, kills_of
from tests.support.builders import at
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.read_log import read_log

LINES = [
    b'{"auditID":"%d","stage":"Panic","verb":"get"}' % n for n in range(30)
]
AT_ONCE = 7
SPEC = LogSpec(
    cluster_name="fake",
    cluster_uid="9d5e2c6e-0000-4000-8000-000000000001",
    kubernetes="v1.36.3",
    redaction_key_id="key",
)


class File:
    """Lines of a file, put with the offset behind them."""

    finite = True

    async def run(self, sink: Sink, known: Known) -> None:
        """Put what is left, and wait for each commit, as a receiver does."""
        done = int(known.resume_points().get("a.log", "0"))
        while done < len(LINES):
            lines = LINES[done : done + AT_ONCE]
            done += len(lines)
            chunk: list[Observation] = [
                AuditRecorded(observed_at=at(done), event=line)
                for line in lines
            ]
            chunk.append(
                PlaceReached(
                    observed_at=at(done),
                    source=AUDIT,
                    stream="a.log",
                    place=str(done),
                )
            )
            receipt = await sink.put(chunk)
            assert len(await receipt.committed()) == len(lines)


async def record(database: Database) -> None:
    recording = Recording(
        Writer(database.dsn("writer"), SPEC, holder=HOLDER),
        REDACTION,
        policy=POLICY,
    )
    sources: dict[str, Source] = {SCRIPT: Script(), AUDIT: File()}
    await recording.run(sources, asyncio.Event())


async def verify(database: Database) -> None:
    """See that the log is whole and holds each line of both once."""
    assert await check_log(database.dsn("reader")) == []
    log = await read_log(database.dsn("reader"))
    drafts = [draft for _, draft in log.entries]
    assert [
        (draft.operation.value, draft.resource, draft.resource_version)
        for draft in drafts
        if draft.operation is not Operation.AUDIT
    ] == EXPECTED
    assert [
        draft.raw for draft in drafts if draft.operation is Operation.AUDIT
    ] == LINES


@pytest.mark.timeout(300)
def test_each_of_two_sources_goes_on_where_it_was(
    embedded_server: DatabaseServer, tmp_path: Path
) -> None:
    with asyncio.Runner() as runner:

        def live(kill: Kill | None) -> None:
            fresh = fresh_database(embedded_server, TEMPLATE)
            database = runner.run(fresh.__aenter__())
            status, passed = in_a_child(
                lambda: record(database), tmp_path / "passed", kill
            )
            if kill is None:
                assert status == os.EX_OK
                kills.extend(kills_of(passed))
            elif status != os.EX_OK:
                assert status == -signal.SIGKILL, kill
                died.append(kill)
                runner.run(record(database))
            runner.run(verify(database))
            runner.run(fresh.__aexit__(None, None, None))

        kills: list[Kill] = []
        died: list[Kill] = []
        live(None)
        for kill in kills:
            live(kill)
        # How much goes into one commit is a matter of luck, so the last of
        # them may not come. Most must, whatever their number.
        assert len(died) > len(kills) // 2 > 6
