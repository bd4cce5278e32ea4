"""Places of checkpoints keep every checkpoint, or report that they do not."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.integrity.notes import SignedNote, sign
from recorder.keeping.checkpoints import PlaceError, open_place
from recorder.model.errors import ConfigError
from tests.support.fake_bucket import FakeBucket, served_bucket

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
DAYS = [datetime(2026, 11, day, tzinfo=UTC) for day in (24, 24, 25)]
NOTES = [sign(f"log\n{n}\n", KEY, "log") for n in range(3)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def git(repository: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


async def filled(address: str) -> list[SignedNote]:
    place = open_place(address)
    for note, day in zip(NOTES, DAYS, strict=True):
        await place.write("the-log", note, day)
    notes, damaged = await place.read("the-log")
    assert damaged == 0
    return list(notes)


async def test_a_place_shows_its_logs_and_its_newest_checkpoints(
    tmp_path: Path, bucket: FakeBucket
) -> None:
    assert bucket.address
    for address in (str(tmp_path / "kept"), "s3://checkpoints/newest"):
        place = open_place(address)
        for note, day in zip(NOTES[1:], DAYS[1:], strict=True):
            await place.write("the-log", note, day)
        await place.write("other", NOTES[0], DAYS[0])
        assert await place.logs() == ["other", "the-log"]
        newest = await place.newest("the-log")
        assert str(newest[-1]) == str(NOTES[-1])
        assert await place.newest("none") == ()
    (tmp_path / "kept/the-log/2026-11-25.notes").write_text("")
    newest = await open_place(str(tmp_path / "kept")).newest("the-log")
    assert str(newest[-1]) == str(NOTES[1])


async def test_a_folder_keeps_every_checkpoint(tmp_path: Path) -> None:
    found = await filled(str(tmp_path / "new"))
    assert [str(note) for note in found] == [str(note) for note in NOTES]
    days = [p.name for p in sorted((tmp_path / "new/the-log").iterdir())]
    assert days == ["2026-11-24.notes", "2026-11-25.notes"]


async def test_a_repository_has_a_commit_for_each(repository: Path) -> None:
    found = await filled(f"git:{repository}")
    assert [str(note) for note in found] == [str(note) for note in NOTES]
    log = git(repository, "log", "--format=%s")
    assert log.splitlines() == ["checkpoint of the-log"] * 3


async def test_a_commit_that_failed_is_made_with_the_next(
    repository: Path,
) -> None:
    place = open_place(f"git:{repository}")
    lock = repository / ".git/index.lock"
    lock.touch()
    with pytest.raises(PlaceError, match="cannot commit a checkpoint"):
        await place.write("the-log", NOTES[0], DAYS[0])
    lock.unlink()
    await place.write("the-log", NOTES[1], DAYS[0])
    notes, _ = await place.read("the-log")
    assert [str(note) for note in notes] == [str(note) for note in NOTES[:2]]
    assert git(repository, "status", "--porcelain") == ""


async def test_a_folder_that_is_no_repository_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(PlaceError, match="git init"):
        await open_place(f"git:{tmp_path}").write("log", NOTES[0], DAYS[0])


async def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "the-log").write_text("a file where a folder should be")
    with pytest.raises(PlaceError, match="the-log"):
        await open_place(str(tmp_path)).write("the-log", NOTES[0], DAYS[0])
    with pytest.raises(PlaceError, match="there is no folder"):
        await open_place(str(tmp_path / "away")).read("the-log")


def test_an_address_of_no_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="git:FOLDER or s3://"):
        open_place("ftp://somewhere")


@pytest.fixture
async def bucket(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeBucket]:
    async with served_bucket() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.address)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        yield served


async def test_a_bucket_has_an_object_for_each(bucket: FakeBucket) -> None:
    bucket.locks = True
    days = [day.replace(hour=n) for n, day in enumerate(DAYS)]
    place = open_place("s3://checkpoints/prod")
    for note, day in zip(NOTES, days, strict=True):
        await place.write("the-log", note, day)
    found, damaged = await place.read("the-log")
    assert ([str(note) for note in found], damaged) == (
        [str(note) for note in NOTES],
        0,
    )
    assert set(bucket.objects) == {
        "prod/the-log/2026-11-24/000000.000000.note",
        "prod/the-log/2026-11-24/010000.000000.note",
        "prod/the-log/2026-11-25/020000.000000.note",
    }


async def test_what_lies_in_a_bucket_is_not_written_again(
    bucket: FakeBucket,
) -> None:
    place = open_place("s3://checkpoints/prod")
    await place.write("the-log", NOTES[0], DAYS[0])
    with pytest.raises(PlaceError, match="already exists"):
        await place.write("the-log", NOTES[1], DAYS[0])
    assert list(bucket.objects.values()) == [str(NOTES[0]).encode()]


async def test_a_bucket_that_refuses_is_named(bucket: FakeBucket) -> None:
    bucket.refuses = (403, "AccessDenied")
    with pytest.raises(PlaceError, match="s3://checkpoints/prod") as refused:
        await open_place("s3://checkpoints/prod").write(
            "the-log", NOTES[0], DAYS[0]
        )
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("bucket")
async def test_a_bucket_that_is_away_is_given_up_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(PlaceError, match="cannot write a checkpoint"):
        async with asyncio.timeout(30):
            await open_place("s3://checkpoints/prod").write(
                "the-log", NOTES[0], DAYS[0]
            )
