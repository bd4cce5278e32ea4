"""The archive in Iceberg tables: each day once, whatever happens."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recorder.archive.columns import WHOSE, Schema
from recorder.archive.errors import (
    ArchiveError,
    ArchiveSettingError,
    CatalogError,
)
from recorder.archive.iceberg import (
    LOCAL,
    IcebergTables,
    _files,
    open_tables,
)
from recorder.archive.manifest import Manifest, Part
from recorder.archive.sorting import part_of
from recorder.keeping.listing import Iceberg, Listed
from recorder.keeping.retaining import Retained, Retaining, retain
from recorder.keeping.retention.policy import Policy
from tests.archive.test_archiving import contents, folders, manifest
from tests.support.days import DAYS, days_of_a_log, write_days
from tests.support.postgres import Database

SPACE = "fleet"


AWAY = (
    "http://someone:secret@127.0.0.1:1/catalog",
    "sqlite:////dev/null/catalog.db",
    "nothing-of-this-name",
)


async def run(
    database: Database, place: Path, catalog: str | None = LOCAL
) -> Retained:
    """Make one run that drops nothing."""
    tables = catalog and Iceberg(catalog=catalog, namespace=SPACE)
    how = Retaining(
        policy=Policy(place=str(place)), drop=False, iceberg=tables or None
    )
    return await retain(database.dsn("retention"), how)


def listed(done: Retained) -> Listed:
    assert done.listed is not None
    return done.listed


def read(place: Path, name: str) -> pa.Table:
    """Read a table the way that any program with pyiceberg does."""
    with open_tables(LOCAL, SPACE, str(place)) as tables:
        return tables._catalog.load_table((SPACE, name)).scan().to_arrow()


def archived(place: Path) -> dict[Path, bytes]:
    return {
        path: content
        for path, content in contents(place).items()
        if "iceberg" not in path.parts
    }


async def test_a_table_is_the_files_of_the_archive(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path, None)
    before = archived(tmp_path)

    done = await run(database, tmp_path)

    assert (listed(done).failure, listed(done).days) == (None, DAYS)
    assert archived(tmp_path) == before
    days = [manifest(folder) for folder in folders(tmp_path)]
    entries = read(tmp_path, "entries")
    assert entries.num_rows == sum(one.entries for one in days)
    assert {f"{day}" for day in entries["day"].to_pylist()} == set(
        days_of_a_log()
    )
    assert read(tmp_path, "facts").num_rows == sum(one.facts for one in days)
    for name in ("batches", "objects", "nodes"):
        assert read(tmp_path, name).num_rows > 0


async def test_a_day_is_added_once(database: Database, tmp_path: Path) -> None:
    await write_days(database)
    await run(database, tmp_path)
    rows = read(tmp_path, "entries").num_rows

    again = await run(database, tmp_path)

    assert (listed(again).failure, listed(again).days) == (None, 0)
    assert read(tmp_path, "entries").num_rows == rows


@pytest.mark.parametrize("survived", range(5))
async def test_a_killed_run_is_finished_by_the_next(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    survived: int,
) -> None:
    """Killed after each of its commits: one for each of five tables."""
    await write_days(database)
    add = IcebergTables._add
    done: list[str] = []

    class KilledError(BaseException):
        pass

    def dying(self: IcebergTables, name: str, files: Any) -> None:
        if len(done) == survived:
            raise KilledError
        add(self, name, files)
        done.append(name)

    with monkeypatch.context() as patch:
        patch.setattr(IcebergTables, "_add", dying)
        with pytest.raises(KilledError):
            await run(database, tmp_path)
    assert len(done) == survived

    again = await run(database, tmp_path)

    assert (listed(again).failure, listed(again).days) == (None, DAYS)
    for name in ("entries", "facts", "batches", "objects", "nodes"):
        with open_tables(LOCAL, SPACE, str(tmp_path)) as tables:
            table = tables._load(name)
            assert table is not None
            files = list(_files(table))
        assert len(files) == len(set(files)) == DAYS, name


@pytest.mark.parametrize("catalog", AWAY)
async def test_a_catalog_that_is_away_keeps_nothing_from_being_dropped(
    database: Database, tmp_path: Path, catalog: str
) -> None:
    await write_days(database)
    away = Iceberg(catalog=catalog, namespace=SPACE)
    how = Retaining(policy=Policy(place=str(tmp_path)), iceberg=away)

    done = await retain(database.dsn("retention"), how)

    assert len(done.dropped) == 2
    assert len(folders(tmp_path)) == DAYS
    assert listed(done).days == 0
    said = listed(done).failure or ""
    assert "cannot open the Iceberg catalog" in said
    assert "secret" not in said
    assert listed(await run(database, tmp_path)).days == DAYS


async def test_a_day_that_is_damaged_is_named_and_the_others_are_added(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path, None)
    (folders(tmp_path)[1] / "entries-00000.parquet").unlink()

    done = await run(database, tmp_path)

    assert listed(done).days == DAYS - 1
    assert f"{days_of_a_log()[1]}/entries-00000.parquet" in (
        listed(done).failure or ""
    )


OLD = pa.schema([("at", pa.int64()), ("index", pa.int32()), *WHOSE])
NEW = pa.schema(
    [("at", pa.int64()), ("index", pa.int64()), ("cause", pa.string()), *WHOSE]
)
"""A release later a column is wider, and there is one more."""


def add_releases(
    place: Path,
    schemas: Sequence[Schema],
    *,
    files: Path,
    namespace: str = SPACE,
) -> None:
    """Add a day of facts after another, of releases with such columns."""
    for number, schema in enumerate(schemas):
        folder = files / "log" / f"2026-11-{number + 1:02}"
        folder.mkdir(parents=True)
        row: dict[str, object] = {
            "at": number,
            "index": 7,
            "cause": "reboot",
            "log_uid": "log",
            "cluster": "east",
            "day": date(2026, 11, number + 1),
        }
        part = write_file(folder / "facts-00000.parquet", schema, [row])
        with open_tables(LOCAL, namespace, str(place)) as tables:
            tables.add([tables.read_day(str(folder), a_manifest(part))])


@pytest.mark.parametrize(
    "schemas", [(OLD, NEW), (NEW, OLD), (OLD, NEW, OLD)], ids=len
)
def test_facts_of_different_releases_are_one_table(
    tmp_path: Path, schemas: tuple[Schema, ...]
) -> None:
    add_releases(tmp_path, schemas, files=tmp_path)

    rows = read(tmp_path, "facts").sort_by("at").to_pylist()
    assert [row["index"] for row in rows] == [7] * len(schemas)
    assert [row["cause"] for row in rows] == [
        "reboot" if schema is NEW else None for schema in schemas
    ]


def test_old_states_of_a_table_are_forgotten_and_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.archive.iceberg.SNAPSHOTS_KEPT", 2)

    add_releases(tmp_path, [OLD] * 9, files=tmp_path)

    with open_tables(LOCAL, SPACE, str(tmp_path)) as tables:
        table = tables._load("facts")
        assert table is not None
        assert len(table.snapshots()) <= 4
    assert read(tmp_path, "facts").num_rows == 9


def test_a_column_that_became_another_is_refused_by_its_name(
    tmp_path: Path,
) -> None:
    text = pa.schema([("at", pa.string()), *WHOSE])
    for schema, at in ((OLD, 1), (text, "1")):
        folder = tmp_path / "log" / f"of-{schema.field('at').type}"
        folder.mkdir(parents=True)
        row: dict[str, object] = {
            "at": at,
            "index": 1,
            "log_uid": "log",
            "cluster": "east",
            "day": date(2026, 11, 1),
        }
        part = write_file(folder / "facts-00000.parquet", schema, [row])
        with open_tables(LOCAL, SPACE, str(tmp_path)) as tables:
            day = tables.read_day(str(folder), a_manifest(part))
            if schema is OLD:
                tables.add([day])
                continue
            with pytest.raises(CatalogError, match=r"fleet\.facts.*at"):
                tables.add([day])


def write_file(
    path: Path, schema: Schema, rows: list[dict[str, object]]
) -> Part:
    kept = [{name: row[name] for name in schema.names} for row in rows]
    pq.write_table(pa.Table.from_pylist(kept, schema), path)
    return part_of(path, len(rows))


def a_manifest(*parts: Part) -> Manifest:
    return Manifest(
        origin="kube-recorder/log",
        cluster_name="east",
        cluster_uid="uid",
        day="2026-11-01",
        first_batch=1,
        last_batch=1,
        first_position=1,
        last_position=1,
        entries=0,
        facts=1,
        rules=1,
        range="",
        tree=None,
        files=parts,
        written_at=datetime(2026, 11, 2, tzinfo=UTC),
        release="0",
    )


def test_a_file_that_does_not_name_its_log_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "log" / "2026-11-01"
    folder.mkdir(parents=True)
    schema = pa.schema([("at", pa.int64())])
    part = write_file(folder / "facts-00000.parquet", schema, [{"at": 1}])

    with (
        open_tables(LOCAL, SPACE, str(tmp_path)) as tables,
        pytest.raises(ArchiveError, match="does not name its log"),
    ):
        tables.read_day(str(folder), a_manifest(part))


def test_a_file_beside_a_bucket_is_refused() -> None:
    with (
        pytest.raises(ArchiveSettingError, match="name another catalog"),
        open_tables(LOCAL, SPACE, "s3://bucket/archive"),
    ):
        pass
