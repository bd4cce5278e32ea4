"""Places: a folder and a bucket keep the same files in the same way."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from recorder.archive.bucket import BucketPlace
from recorder.archive.errors import (
    ArchiveError,
    ArchiveSettingError,
    PlaceError,
)
from recorder.archive.kept import check_kept
from recorder.archive.place import FolderPlace, Place, open_place
from recorder.keeping.retaining import Retained, Retaining, retain
from recorder.keeping.retention.policy import Policy
from tests.support.days import asked, write_days
from tests.support.fake_bucket import FakeBucket, served_bucket
from tests.support.postgres import Database


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return FolderPlace(tmp_path / "place")
    return BucketPlace("s3://bucket/log", store=MemoryStore())


def test_a_file_is_kept_replaced_and_removed(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    assert place.read("a/b/one") is None
    assert place.size("a/b/one") is None
    for content in (b"first", b"second"):
        file.write_bytes(content)
        place.put("a/b/one", file)
        assert place.read("a/b/one") == content
        assert place.size("a/b/one") == len(content)
        with place.local("a/b/one") as path:
            assert path.read_bytes() == content
    place.put("a/c/two", file)
    assert (place.folders("a"), place.files("a")) == (["b", "c"], [])
    assert place.files("a/b") == ["one"]

    place.clear("a/b")
    place.clear("a/b")

    assert place.read("a/b/one") is None
    assert place.read("a/c/two") == b"second"


def test_a_missing_file_is_reported(place: Place) -> None:
    with pytest.raises(PlaceError, match="cannot read"):
        place.local("a/b/none").__enter__()
    with pytest.raises(ArchiveError, match="no manifest"):
        check_kept(place, "a/b", "00")


def test_an_address_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert open_place(str(tmp_path)).uri == str(tmp_path)
    with pytest.raises(ArchiveSettingError, match="s3://BUCKET"):
        open_place("ftp://somewhere/else")


def test_a_folder_without_room_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "place").write_bytes(b"a file, not a folder")
    file = tmp_path / "file"
    file.write_bytes(b"x")

    with pytest.raises(PlaceError, match="make room"):
        FolderPlace(tmp_path / "place").put("a", file)


@pytest.fixture
async def bucket(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeBucket]:
    async with served_bucket() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.address)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        yield served


async def test_a_bucket_that_locks_its_objects_takes_a_file(
    bucket: FakeBucket, tmp_path: Path
) -> None:
    bucket.locks = True
    file = tmp_path / "file"
    file.write_bytes(b"a day")

    place = BucketPlace("s3://days/prod")
    await asyncio.to_thread(place.put, "log/one", file)

    assert bucket.objects == {"prod/log/one": b"a day"}


def prune(database: Database) -> Retained:
    """Make one run into a bucket; it waits for it, and not the bucket."""
    how = Retaining(policy=Policy(place="s3://days/prod"))
    return asyncio.run(retain(database.dsn("retention"), how))


@pytest.mark.parametrize("fault", ["locked", "away"])
async def test_a_bucket_that_takes_nothing_leaves_days_as_they_were(
    database: Database,
    bucket: FakeBucket,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    """Nothing is dropped meanwhile, and the next run does it all."""
    await write_days(database)
    if fault == "away":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    bucket.refuses = (403, "AccessDenied: object lock is not allowed")

    async with asyncio.timeout(90):
        with pytest.raises(PlaceError, match="s3://days/prod") as refused:
            await asyncio.to_thread(prune, database)

    assert "\n" not in str(refused.value)
    noted = "select count(*) from recorder.archived_day"
    dropped = "select count(*) from recorder.partition where state = 'dropped'"
    assert await asked(database, noted) == 0
    assert await asked(database, dropped) == 0

    bucket.refuses = None
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.address)
    done = await asyncio.to_thread(prune, database)
    assert (len(done.archived), len(done.dropped)) == (4, 2)
