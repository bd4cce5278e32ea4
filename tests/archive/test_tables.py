"""Days of the archive as tables, and where their files come from."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import MemoryStore

from recorder.answers.queries import ALWAYS
from recorder.archive import opening
from recorder.archive.bucket import BucketPlace
from recorder.archive.errors import ArchiveError, ArchiveSlowError
from recorder.archive.listing import list_archive
from recorder.archive.opening import open_day
from recorder.archive.place import FolderPlace, Place
from recorder.archive.tables import ArchiveTables, Codes, TableDay
from recorder.store.archive_engine import translated
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.read_facts import EVIDENCE
from recorder.store.read_nodes import NEWEST
from recorder.store.statement import Statement
from tests.retention.test_dropping import run
from tests.support.days import write_days, write_events
from tests.support.postgres import Database

CODES = Codes(1, 1, OPERATION_CODES, SOURCE_CODES)


@pytest.fixture
async def archive(database: Database, tmp_path: Path) -> Path:
    await write_days(database)
    await run(database, tmp_path / "archive")
    return tmp_path / "archive"


def days_of(place: Place, cache: Path) -> list[TableDay]:
    (log,) = list_archive(place)
    return [
        open_day(
            place,
            day.uri.removeprefix(f"{place.uri}/"),
            day.sha256,
            span=span_of(day.manifest.day),
            cache=cache,
            hashed=True,
        )
        for day in log.days
    ]


def span_of(day: str) -> tuple[datetime, datetime]:
    lower = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return lower, lower + timedelta(days=1)


def asked(tables: ArchiveTables, text: str, *given: object) -> list[Any]:
    _, rows = tables.ask(text, given, 30)
    return rows


def test_a_bucket_is_read_from_what_was_fetched(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = BucketPlace("s3://somewhere", store=MemoryStore())
    for path in archive.rglob("*.*"):
        bucket.put(str(path.relative_to(archive)), path)
    cache = tmp_path / "fetched"

    tables = ArchiveTables(days_of(bucket, cache), CODES, tmp_path / "spill")
    ((count,),) = asked(tables, "select count(*) from recorder.entry")
    assert count > 10
    kept = {path: path.stat().st_mtime_ns for path in files(cache)}
    assert kept
    assert days_of(bucket, cache)
    assert {*files(cache)} == {*kept}

    monkeypatch.setattr(opening, "CACHE_BYTES_MAX", 20_000)
    old = cache / "old.parquet"
    old.write_bytes(bytes(30_000))
    os.utime(old, (0, 0))
    min(kept).unlink()
    days_of(bucket, cache)
    assert {*files(cache)} == {*kept}, "what is in use stays"


def files(folder: Path) -> Iterator[Path]:
    return folder.glob("*.parquet")


def test_an_object_of_several_days_is_one(
    archive: Path, tmp_path: Path
) -> None:
    days = days_of(FolderPlace(archive), tmp_path)
    tables = ArchiveTables(days, CODES, tmp_path / "spill")

    joined = "from recorder.entry join recorder.object using (object_id)"
    ((lines, entries),) = asked(
        tables, f"select count(*), count(distinct position) {joined}"
    )
    assert lines == entries > 0
    tables.close()


@pytest.mark.parametrize("statement", [EVIDENCE, NEWEST])
def test_what_is_asked_of_a_node_is_no_work_for_every_row(
    archive: Path, tmp_path: Path, statement: Statement
) -> None:
    days = days_of(FolderPlace(archive), tmp_path)
    tables = ArchiveTables(days, CODES, tmp_path / "spill")
    given = {
        "log": 1,
        "derivation": 1,
        "size": 1_000,
        "nodes": ["gpu-001"],
        "names": ["gpu-001"],
        "locks": ["weave.works/%"],
        "since": ALWAYS[0],
        "until": ALWAYS[1],
        "before": ALWAYS[1],
        "operations": [1],
        "events": ["v1/events"],
    }
    values = statement.values({name: given[name] for name in statement.names})

    text = f"explain (format json) {translated(statement)}"
    ((_, plan),) = asked(tables, text, *values)
    assert "READ_PARQUET" in plan
    # Rows that are numbered, or whose duplicates are removed, are read whole.
    assert "WINDOW" not in plan
    assert "#4" not in "".join(re.findall(r'"Groups": \[[^]]*\]', plan))
    tables.close()


def test_a_node_that_came_back_with_another_number_is_one(
    archive: Path, tmp_path: Path
) -> None:
    for name in ("nodes", "entries-00000", "facts-00000"):
        renumber(archive, name, "node_id")
    days = days_of_files(archive)

    tables = ArchiveTables(days, CODES, tmp_path / "spill")
    nodes = asked(tables, "select node_id, name from recorder.node")
    assert [name for _, name in nodes] == ["gpu-001"]
    ((number, _),) = nodes
    for table_name in ("entry", "fact"):
        found = asked(
            tables,
            f"select distinct node_id from recorder.{table_name}"
            " where node_id is not null",
        )
        assert found == [(number,)]


def renumber(archive: Path, name: str, column: str) -> None:
    """Renumber the names of the first day in a column."""
    first, *_ = sorted(archive.glob("*/2*"))
    path = first / f"{name}.parquet"
    table = pq.read_table(path)
    numbers = [n and n + 70 for n in table[column].to_pylist()]
    field = table.schema.field(column)
    place = table.schema.get_field_index(column)
    array = pa.array(numbers, field.type)
    pq.write_table(table.set_column(place, field, array), path)


async def test_a_word_that_came_back_with_another_number_is_one(
    database: Database, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    await write_events(database, "BackOff", 10)
    await write_events(database, "BackOff", 9)
    await run(database, archive)
    renumber(archive, "words", "word_id")
    for name, column in (
        ("entries-00000", "reason_id"),
        ("entries-00000", "actor_id"),
        ("facts-00000", "topic_id"),
        ("facts-00000", "actor_id"),
    ):
        renumber(archive, name, column)

    tables = ArchiveTables(days_of_files(archive), CODES, tmp_path / "spill")
    words = asked(tables, "select text, word_id from recorder.word")
    numbers = dict(words)
    assert len(words) == len(numbers)
    for table, column, text in (
        ("entry", "reason_id", "BackOff"),
        ("entry", "actor_id", "kubelet"),
        ("fact", "topic_id", "BackOff"),
        ("fact", "actor_id", "kubelet"),
    ):
        found = asked(
            tables,
            f"select distinct {column} from recorder.{table}"
            f" where {column} is not null",
        )
        assert found == [(numbers[text],)], (table, column)


def days_of_files(archive: Path) -> list[TableDay]:
    """Return days without a look at whether they are what was archived."""
    place = FolderPlace(archive)
    return [
        TableDay(
            one,
            *span_of(one.day),
            {part.name: folder / part.name for part in one.files},
        )
        for folder in sorted(archive.glob("*/2*"))
        if (one := manifest_in(place, folder)) is not None
    ]


def manifest_in(place: FolderPlace, folder: Path) -> Any:
    from recorder.archive.kept import read_manifest  # noqa: PLC0415

    return read_manifest(place, f"{folder.parent.name}/{folder.name}")


def test_nothing_can_be_written_into_files(
    archive: Path, tmp_path: Path
) -> None:
    tables = ArchiveTables(days_of_files(archive), CODES, tmp_path / "spill")
    with pytest.raises((ArchiveError, duckdb.Error)):
        asked(tables, "delete from recorder.entry")


def test_a_statement_ends_after_its_time(
    archive: Path, tmp_path: Path
) -> None:
    tables = ArchiveTables(days_of_files(archive), CODES, tmp_path / "spill")
    with pytest.raises(ArchiveSlowError, match="took too long"):
        tables.ask(
            "select count(*) from range(1000000) a, range(1000000) b"
            " where (a.range * b.range) % 7 = 3",
            [],
            0.2,
        )
