"""Verifying as a whole: over several processes, resumed, in a window, and by
checkpoints of places and keys."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.integrity.notes import SignedNote, sign
from recorder.integrity.verified import Verified
from recorder.keeping import checking
from recorder.keeping.checking import ResumeFile
from recorder.keeping.checkpointing import MadeCheckpoint
from recorder.keeping.checkpoints.folder import Folder
from recorder.keeping.integrity import checkpoint_of, verified
from recorder.keeping.signing_key import load_signing_key, rotate
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.model.settings import Settings
from tests.support.builders import at
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.kept import unguarded
from tests.tampering.story import record, the_log

LOG = the_log(1)


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(embedded_server, record) as database:
        yield database


@pytest.fixture
async def own(database: Database) -> Database:
    """A log that no other test signs."""
    await record(database.dsn("writer"))
    return database


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path, checkpoint_places=(str(tmp_path / "kept"),)
    )


@pytest.fixture
def resume(tmp_path: Path) -> ResumeFile:
    return ResumeFile(tmp_path / "verify-1.json", Ed25519PrivateKey.generate())


def never() -> asyncio.Event:
    return asyncio.Event()


async def test_processes_find_what_one_finds(
    log: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await verify(log.dsn("writer"), LOG, Verifying(), never())
    monkeypatch.setattr(checking, "ENTRIES", 20)
    seen: list[tuple[int, int]] = []
    how = Verifying(processes=2, on_progress=lambda *at: seen.append(at))
    several = await verify(log.dsn("writer"), LOG, how, never())
    assert several == one
    assert one.ok
    assert seen[-1] == (one.size, one.size)


async def interrupted(
    log: Database, file: ResumeFile, monkeypatch: pytest.MonkeyPatch
) -> Verified:
    """Verify a part of it."""
    monkeypatch.setattr(checking, "ENTRIES", 20)
    monkeypatch.setattr("recorder.keeping.workers.LISTEN_SECONDS", 0)
    stop = asyncio.Event()

    def interrupt(done: int, total: int) -> None:
        if 0 < done < total:
            stop.set()

    how = Verifying(processes=1, resume=file, on_progress=interrupt)
    first = await verify(log.dsn("writer"), LOG, how, stop)
    assert first.stopped
    assert 0 < first.checked_entries < first.size
    assert file.path.exists()
    return first


async def resumed(log: Database, file: ResumeFile) -> Verified:
    """Verify the rest."""
    how = Verifying(processes=1, resume=file)
    return await verify(log.dsn("reader"), LOG, how, never())


async def test_an_interrupted_run_goes_on(
    log: Database, resume: ResumeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = datetime.now(UTC)
    first = await interrupted(log, resume, monkeypatch)
    second = await resumed(log, resume)
    assert second.ok
    assert second.checked_entries == second.size
    assert second.resumed_entries == first.checked_entries
    assert second.resumed_from is not None
    assert began < second.resumed_from < datetime.now(UTC)
    assert not resume.path.exists()


@pytest.mark.parametrize(
    "change",
    [
        "entry set observed_at = observed_at - interval '1 s'",
        "entry set payload = payload",
        "object set name = name",
        "node set name = name || 'x'",
    ],
)
async def test_what_was_written_again_meanwhile_is_read_again(
    own: Database,
    resume: ResumeFile,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    first = await interrupted(own, resume, monkeypatch)
    async with unguarded(own) as connection:
        await connection.execute(f"update recorder.{change} where log_id = 1")
    second = await resumed(own, resume)
    assert second.checked_entries == second.size
    assert second.resumed_entries < first.checked_entries
    harmless = change.endswith(("= payload", "= name"))
    is_found = any(one.kind == "batch-altered" for one in second.problems)
    assert is_found != harmless, second.problems


async def test_a_planted_file_is_not_believed(
    log: Database, resume: ResumeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    await interrupted(log, resume, monkeypatch)
    kept = resume.path.read_text()
    text = SignedNote.parse(kept).text
    other = sign(text, Ed25519PrivateKey.generate(), "kube-recorder/verify")
    for planted, why in (
        (kept.replace('"entries":', '"entries":9', 1), "as it was signed"),
        (str(other), "not signed"),
        (text, "as it was signed"),
    ):
        resume.path.write_text(planted)
        found = await resumed(log, resume)
        assert found.ok
        assert found.checked_entries == found.size
        assert found.resumed_from is None
        assert found.resume_refused is not None
        assert why in found.resume_refused
        assert str(resume.path) in found.resume_refused


async def test_a_window_reads_its_own_entries_alone(log: Database) -> None:
    connection = await asyncpg.connect(log.dsn("reader"))
    middle = await connection.fetchval(
        "select observed_min from recorder.batch"
        " where log_id = 1 order by batch offset 6 limit 1"
    )
    await connection.close()
    whole = await verify(log.dsn("writer"), LOG, Verifying(), never())
    how = Verifying(since=middle, until=middle + timedelta(microseconds=1))
    found = await verify(log.dsn("writer"), LOG, how, never())
    assert 0 < found.checked_entries < whole.checked_entries / 2
    assert found.root == whole.root, "headers are followed all the same"


async def test_checkpoints_of_a_place_are_compared(
    own: Database, settings: Settings
) -> None:
    made = await checkpoint_of(settings, own.dsn("writer"), 1)
    assert made is not None
    assert made.written == [str(settings.data_dir / "kept")]
    found = await verified(
        settings, own.dsn("writer"), LOG, Verifying(), never()
    )
    assert found.ok
    assert found.signed
    assert found.agreed == found.batches
    assert {one.place for one in found.checkpoints} >= {made.written[0]}


async def kinds(own: Database, settings: Settings) -> set[str]:
    found = await verified(
        settings, own.dsn("writer"), LOG, Verifying(), never()
    )
    return {problem.kind for problem in found.problems}


async def test_a_checkpoint_signed_with_another_key_does_not_count(
    own: Database, settings: Settings
) -> None:
    made = await checkpoint_of(settings, own.dsn("writer"), 1)
    assert made is not None
    other = Ed25519PrivateKey.generate()
    forged = sign(made.note.text, other, made.checkpoint.origin)
    put(settings, forged, uid_of(made))
    assert await kinds(own, settings) == {"checkpoint-untrusted"}


async def test_an_edited_checkpoint_is_reported(
    own: Database, settings: Settings
) -> None:
    made = await checkpoint_of(settings, own.dsn("writer"), 1)
    assert made is not None
    batches = str(made.checkpoint.batches)
    text = made.note.text.replace(f"\n{batches}\n", "\n1\n")
    forged = SignedNote(text, made.note.signatures)
    put(settings, forged, uid_of(made))
    assert await kinds(own, settings) == {"checkpoint-forged"}


async def test_a_checkpoint_of_another_log_is_reported(
    own: Database, settings: Settings
) -> None:
    other = await checkpoint_of(settings, own.dsn("writer"), 2)
    made = await checkpoint_of(settings, own.dsn("writer"), 1)
    assert made is not None
    assert other is not None
    put(settings, other.note, uid_of(made))
    assert await kinds(own, settings) == {"checkpoint-foreign"}


async def test_a_missing_place_is_reported(
    own: Database, settings: Settings
) -> None:
    await checkpoint_of(settings, own.dsn("writer"), 1)
    away = replace(settings, checkpoint_places=("/nonexistent/place",))
    assert await kinds(own, away) == {"place-away"}


async def test_what_a_replaced_key_signed_still_counts(
    own: Database, settings: Settings
) -> None:
    await checkpoint_of(settings, own.dsn("writer"), 1)
    old = load_signing_key(settings).public_key().public_bytes_raw()
    new = rotate(settings, at(0)).public_key().public_bytes_raw()
    assert old != new
    await checkpoint_of(settings, own.dsn("writer"), 1)
    assert await kinds(own, settings) == set()


async def test_a_key_that_is_lost_costs_no_checkpoint_of_before(
    own: Database, settings: Settings
) -> None:
    await checkpoint_of(settings, own.dsn("writer"), 1)
    (settings.data_dir / "signing.key").unlink()
    assert await kinds(own, settings) == set()
    made = await checkpoint_of(settings, own.dsn("writer"), 1)
    assert made is not None, "a new one is made"
    assert await kinds(own, settings) == set()


def put(settings: Settings, note: SignedNote, uid: str) -> None:
    """Put a note into the place, as of the log of a uid."""
    (kept,) = settings.checkpoint_places
    Folder(Path(kept)).add(uid, note, at(0))


def uid_of(made: MadeCheckpoint) -> str:
    return made.checkpoint.origin.rpartition("/")[2]
