"""Days into the archive: what is there, and what is refused."""

import resource
from pathlib import Path

import asyncpg
import pyarrow.parquet as pq
import pytest

from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.manifest import Manifest
from recorder.archive.place import FolderPlace
from recorder.archive.verifying import verify_day
from recorder.keeping.archiving import Archiver
from recorder.keeping.archiving_day import AlteredError
from recorder.store.retention import RetentionStore, connect_for_retention
from tests.contract.test_log import SPEC
from tests.support.days import DAYS, asked, days_of_a_log, owner, write_days
from tests.support.postgres import Database


async def archive(database: Database, folder: Path, **more: object) -> int:
    """Seal and archive whatever is over; return how many days were."""
    connection = await connect_for_retention(database.dsn("retention"))
    try:
        store = RetentionStore(connection)
        archiver = Archiver(
            connection=connection,
            store=store,
            place=FolderPlace(folder),
            **more,  # type: ignore[arg-type]
        )
        count = 0
        for partition in await store.days():
            await archiver.seal(partition.day)
            count += len(await archiver.archive(partition.day))
        return count
    finally:
        await connection.close()


def times(place: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in place.rglob("*.*")}


def contents(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*.*")}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def folders(place: Path) -> list[Path]:
    return sorted(path.parent for path in place.rglob("manifest.json"))


def manifest(folder: Path) -> Manifest:
    content = (folder / "manifest.json").read_bytes()
    return Manifest.parse(content, str(folder))


async def test_every_day_is_there_and_proves_itself(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)

    assert await archive(any_database, tmp_path) == DAYS

    place = FolderPlace(tmp_path)
    for folder in folders(tmp_path):
        verify_day(place, str(folder.relative_to(tmp_path)), manifest(folder))
    found = [manifest(folder) for folder in folders(tmp_path)]
    assert [one.day for one in found] == days_of_a_log()
    size = await asked(any_database, "select size from recorder.log_head")
    assert sum(one.entries for one in found) == size
    assert found[0].first_position == 1
    assert found[-1].last_position == size
    assert {"archived"} == {
        row[0]
        for row in await _rows(
            any_database,
            "select state from recorder.partition where upper < now()",
        )
        if row[0] != "open"
    }


async def _rows(database: Database, query: str) -> list[asyncpg.Record]:
    async with owner(database) as connection:
        return list(await connection.fetch(query))


async def test_an_archived_entry_is_the_one_of_the_log(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)

    rows = [
        row
        for folder in folders(tmp_path)
        for row in pq.read_table(folder / "entries-00000.parquet").to_pylist()
    ]
    names = {row["name"] for row in rows if row["kind"] == "Pod"}
    assert {"stays", "day-0", "day-1"} <= names
    first = min(rows, key=lambda row: int(row["position"]))
    assert first["raw"].startswith(b"{")
    assert first["operation"] == "listed"
    assert first["resource"] == "v1/pods"
    facts = pq.read_table(folders(tmp_path)[0] / "facts-00000.parquet")
    assert facts.num_rows > 0


async def test_every_row_of_every_file_names_its_log_and_day(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)

    for folder in folders(tmp_path):
        for path in folder.glob("*.parquet"):
            table = pq.read_table(path)
            assert table.column_names[-3:] == ["log_uid", "cluster", "day"]
            for row in table.select(table.column_names[-3:]).to_pylist():
                assert row["log_uid"] == folder.parent.name
                assert row["cluster"] == SPEC.cluster_name
                assert f"{row['day']}" == folder.name
    facts = pq.read_table(folders(tmp_path)[0] / "facts-00000.parquet")
    assert {"appeared", "field-changed"} & set(facts["fact"].to_pylist())


async def test_archiving_again_changes_nothing(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)
    before = contents(tmp_path)

    assert await archive(database, tmp_path) == 0
    assert contents(tmp_path) == before


async def test_a_half_written_day_is_written_again(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    uid = await asked(database, "select uid::text from recorder.log")
    folder = tmp_path / str(uid) / days_of_a_log()[0]
    folder.mkdir(parents=True)
    (folder / "entries-00000.parquet.unfinished").write_bytes(b"half")
    (folder / "entries-00007.parquet").write_bytes(b"of a larger day")

    await archive(database, tmp_path)

    assert names_in(folder) == {
        "batches.parquet",
        "entries-00000.parquet",
        "facts-00000.parquet",
        "manifest.json",
        "nodes.parquet",
        "objects.parquet",
        "words.parquet",
    }


EDITS = {
    "update recorder.entry set reason_id = null, node_id = null"
    " where position = 2": 2,
    "update recorder.entry set payload = '\\x00' where position = 4": 4,
    "delete from recorder.entry where position = 3": 3,
    "update recorder.object set name = 'other' where name = 'stays'": 1,
    "update recorder.batch set root = sha256('') where batch = 2": 2,
    "delete from recorder.batch where batch = 2": 2,
}


@pytest.mark.parametrize("change", EDITS)
async def test_a_day_that_was_edited_is_refused_by_the_name_of_its_batch(
    database: Database, tmp_path: Path, change: str
) -> None:
    await write_days(database)
    async with owner(database) as connection:
        for table in ("entry", "object", "batch"):
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        await connection.execute(change)

    with pytest.raises(AlteredError, match=f"batch {EDITS[change]} of log 1"):
        await archive(database, tmp_path)

    state = "select state from recorder.partition order by lower limit 1"
    assert await asked(database, state) == "sealed"
    assert folders(tmp_path) == []


async def test_an_archive_of_another_log_is_left_alone(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)
    log = folders(tmp_path)[0].parent / "log.json"
    content = log.read_text().replace("uid-of-kube-system", "another")
    log.write_text(content)
    await _forget_archive(database)

    with pytest.raises(ArchiveError, match="not of this log"):
        await archive(database, tmp_path)


async def _forget_archive(database: Database) -> None:
    """Let the database know of no archive, as one of a backup does."""
    async with owner(database) as connection:
        await connection.execute(
            "alter table recorder.archived_day disable trigger all;"
            "delete from recorder.archived_day;"
            "update recorder.partition set state = 'sealed',"
            " archived_at = null where state = 'archived'"
        )


async def test_another_history_of_a_day_is_left_alone(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)
    await _forget_archive(database)
    folder = folders(tmp_path)[0]
    path = folder / "manifest.json"
    changed = path.read_text().replace(manifest(folder).range[:8], "00000000")
    path.write_text(changed)

    with pytest.raises(ArchiveError, match="another history"):
        await archive(database, tmp_path)


async def test_a_day_of_another_log_is_left_alone(
    database: Database, tmp_path: Path
) -> None:
    """Also if what names the log is not there any more."""
    await write_days(database)
    await archive(database, tmp_path)
    await _forget_archive(database)
    folder = folders(tmp_path)[0]
    (folder.parent / "log.json").unlink()
    path = folder / "manifest.json"
    origin = manifest(folder).origin
    path.write_text(path.read_text().replace(origin, "another"))
    written = times(tmp_path)

    with pytest.raises(ArchiveError, match="of another, not"):
        await archive(database, tmp_path)
    assert times(tmp_path).items() >= written.items()


async def test_a_day_that_was_whole_is_only_checked(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await archive(database, tmp_path)
    await _forget_archive(database)
    written = times(tmp_path)

    assert await archive(database, tmp_path) == DAYS
    assert times(tmp_path) == written


async def test_a_full_disk_leaves_the_day_as_it_was(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        with pytest.raises(PlaceError, match="make room"):
            await archive(database, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert folders(tmp_path) == []

    assert await archive(database, tmp_path) == DAYS


async def test_a_full_place_leaves_the_day_as_it_was(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)

    class Full(FolderPlace):
        def put(self, name: str, file: Path) -> None:
            if name.endswith("nodes.parquet"):
                msg = "no space left on device"
                raise PlaceError(msg)
            super().put(name, file)

    connection = await connect_for_retention(database.dsn("retention"))
    store = RetentionStore(connection)
    archiver = Archiver(
        connection=connection, store=store, place=Full(tmp_path)
    )
    (first, *_) = await store.days()
    await archiver.seal(first.day)
    with pytest.raises(PlaceError, match="no space left"):
        await archiver.archive(first.day)
    await connection.close()
    assert folders(tmp_path) == []

    assert await archive(database, tmp_path) == DAYS
