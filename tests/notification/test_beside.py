"""Beside a recording: it posts, ends with it, and never ends it."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import TAPE
from recorder.model.settings import Settings
from recorder.sources.tape import TapeReader, TapeSource
from recorder.store.outbox import outbox
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.beside import followed_beside
from tests.corpus.logs import tape_of
from tests.notification.receiving import receiver
from tests.support.postgres import Database, connected

BEFORE = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture
async def live(database: Database) -> Database:
    """A live log, as a cluster's, with the incident of a tape in it."""
    tape = tape_of("crash")
    with TapeReader(tape) as reader:
        header = reader.header
    spec = LogSpec(
        cluster_name="prod",
        cluster_uid=header.cluster_uid,
        kubernetes=header.kubernetes,
        redaction_key_id=None,
    )
    writer = Writer(database.dsn("writer"), spec, holder="test")
    redaction = Redaction(RedactionRules(), b"0" * 32)
    recording = Recording(writer, redaction)
    await recording.run({TAPE: TapeSource(tape)}, asyncio.Event())
    async with outbox(database.dsn("notifier")) as kept:
        # As if the rule had been there before.
        await kept.begin(1, ["oncall"], BEFORE)
    return database


def settings(database: Database, file: Path) -> Settings:
    return Settings(
        database_url=database.superuser_dsn(),
        data_dir=file.parent,
        notify_file=file,
        notify_listen="",
    )


async def test_every_live_cluster_is_notified_of_beside_a_recording(
    live: Database, tmp_path: Path
) -> None:
    file = tmp_path / "notify.yaml"
    async with receiver() as there:
        file.write_text(
            "rules:\n- name: oncall\n  settle: 0s\n"
            f"  post: {{shape: slack, url: '{there.url}'}}\n"
        )
        async with followed_beside(
            settings(live, file), with_api=True, say=lambda _: None
        ):
            await there.until(1)
            assert await notifiers(live) > 0
        # It ended with who began it.
        assert await notifiers(live) == 0

    assert b"recorder why node/gpu-002" in there.taken[0].body
    assert b"--cluster prod" in there.taken[0].body


async def test_rules_that_are_wrong_are_said_and_end_nothing(
    live: Database, tmp_path: Path
) -> None:
    file, said = tmp_path / "notify.yaml", asyncio.Queue[str]()
    file.write_text("rules: []")
    async with (
        asyncio.timeout(60),
        followed_beside(
            replace(
                settings(live, file),
                metrics_file=file,
                send_url="https://recorder.invalid",
            ),
            with_api=True,
            say=said.put_nowait,
        ),
    ):
        printed = {await said.get(), await said.get()}

    assert printed == {
        f"the process of `recorder {command}` ended with status 2; it is"
        " started again in 30 s"
        for command in ("notify", "measure")
    }


async def notifiers(database: Database) -> int:
    async with connected(database.superuser_dsn()) as connection:
        count: int = await connection.fetchval(
            "select count(*) from pg_stat_activity"
            " where application_name = 'recorder notify'"
            " and datname = current_database()"
        )
    return count
