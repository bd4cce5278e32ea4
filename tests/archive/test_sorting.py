"""Rows in order, however many runs it takes."""

import random
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recorder.archive import sorting
from recorder.archive.sorting import Sorted

SCHEMA = pa.schema(
    [
        pa.field("node", pa.string()),
        pa.field("at", pa.timestamp("us", tz="UTC")),
        pa.field("position", pa.int64()),
        pa.field("raw", pa.binary()),
    ]
)


@pytest.mark.parametrize("bytes_of_a_run", [1, 4_000, 1 << 30])
def test_rows_are_written_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_of_a_run: int
) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", bytes_of_a_run)
    monkeypatch.setattr(sorting, "CHUNK_BYTES", 500)
    monkeypatch.setattr(sorting, "GROUP_ROWS_MAX", 70)
    monkeypatch.setattr(sorting, "FILE_ROWS_MAX", 200)
    chosen = random.Random(7)
    rows = [
        (
            chosen.choice([None, "a", "b"]),
            chosen.randrange(9),
            position,
            bytes([position % 251]) * 40,
        )
        for position in range(900)
    ]
    writing = Sorted(
        tmp_path,
        "rows",
        SCHEMA,
        ("node", "missing", "at", "position"),
        ("a-log", "a-cluster", date(2026, 11, 24)),
    )
    for begin in range(0, 900, 30):
        part = rows[begin : begin + 30]
        writing.add([list(column) for column in zip(*part, strict=True)])

    found: list[tuple[object, ...]] = []
    sizes = []
    for path, part_of_it in writing.files():
        table = pq.read_table(path)
        assert set(table.column("log_uid").to_pylist()) == {"a-log"}
        table = table.select(SCHEMA.names)
        assert table.schema.equals(SCHEMA)
        sizes.append(part_of_it.rows)
        table = table.set_column(1, "at", table["at"].cast(pa.int64()))
        found += [tuple(row.values()) for row in table.to_pylist()]

    assert found == sorted(
        rows, key=lambda r: (r[0] is not None, r[0] or "", r[1:])
    )
    assert max(sizes) <= 200
    assert not list(tmp_path.iterdir()), "nothing is left"
