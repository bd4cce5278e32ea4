"""Sorts rows into the order of their files, in bounded memory.

Rows come in the order of the log. They are sorted in memory, written to disk
as runs, merged, and written as Parquet.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from pyarrow import compute

from recorder.archive.columns import WHOSE, Schema, of_a_day
from recorder.archive.manifest import Part

RUN_BYTES = 128 << 20
"""How much is sorted in memory before it is written to disk as a run."""

CHUNK_BYTES = 1 << 20
CHUNK_ROWS_MIN = 16
"""While runs are merged, a chunk of each is in memory: a thousand runs, which
are 128 GB of documents, take a gigabyte."""

FILE_ROWS_MAX = 1_000_000
GROUP_ROWS_MAX = 50_000
GROUP_BYTES_MAX = 128 << 20
"""In memory; on disk a row group is a few megabytes."""

COMPRESSION = "zstd"
LEVEL = 9
"""A day is compressed once. Level 3 needs 20 % more room; level 12 saves 5 %
and takes more than twice as long."""

PAGE_BYTES = 8 << 20
"""A page is compressed alone, so that similar documents should share one.
Pages of 32 MiB save 5 %, and take three times as long to read."""

OWN_VALUES = frozenset({"raw", "uid", "root", "detail"})
NUMBERS = frozenset(
    {"at", "observed_at", "occurred_at", "position", "resource_version"}
)
"""Columns whose values mostly differ: a dictionary would be as large."""

HASHED_AT_ONCE = 1 << 20

Whose = tuple[str, str, date]
"""The log, its cluster and the day: the last columns of every file."""


def part_of(path: Path, rows: int) -> Part:
    """Describe a file."""
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(HASHED_AT_ONCE):
            digest.update(chunk)
    return Part(
        name=path.name,
        rows=rows,
        bytes=path.stat().st_size,
        sha256=digest.hexdigest(),
    )


def write_rows(
    path: Path, schema: Schema, rows: list[tuple[object, ...]], whose: Whose
) -> Part:
    """Write a small file at once."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [
        pa.array(column, kind.type)
        for column, kind in zip(columns, schema, strict=True)
    ]
    table = _of(pa.table(arrays, schema=schema), whose)
    with _writer(path, table.schema) as writer:
        writer.write_table(table, GROUP_ROWS_MAX)
    return part_of(path, len(rows))


class Sorted:
    """Collects the rows of one kind of file, and writes them in order."""

    def __init__(
        self,
        scratch: Path,
        name: str,
        schema: Schema,
        order: Sequence[str],
        whose: Whose,
    ) -> None:
        """Take the name of the files, their columns and their order."""
        self._order = [one for one in order if one in schema.names]
        self._scratch = scratch
        self._whose = whose
        self._name = name
        self._schema = schema
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._runs: list[Path] = []
        self.rows = 0

    def add(self, columns: list[list[object]]) -> None:
        """Add rows, column by column."""
        arrays = [
            pa.array(column, kind.type)
            for column, kind in zip(columns, self._schema, strict=True)
        ]
        batch = pa.record_batch(arrays, schema=self._schema)
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        self.rows += batch.num_rows
        if self._held_bytes >= RUN_BYTES:
            self._end_run()

    def files(self) -> Iterator[tuple[Path, Part]]:
        """Yield the files in order; each is written when it is yielded."""
        if self._held:
            self._end_run()
        groups = self._merged()
        number, more = 0, next(groups, None)
        while more is not None:
            path = self._scratch / f"{self._name}-{number:05}.parquet"
            rows = 0
            with _writer(path, of_a_day(self._schema)) as writer:
                while more and rows + more.num_rows <= FILE_ROWS_MAX:
                    writer.write_table(_of(more, self._whose))
                    rows += more.num_rows
                    more = next(groups, None)
            yield path, part_of(path, rows)
            path.unlink()
            number += 1
        for run in self._runs:
            run.unlink()

    def _end_run(self) -> None:
        """Sort the rows in memory, and write them to disk."""
        held = pa.Table.from_batches(self._held)
        self._held, size, self._held_bytes = [], self._held_bytes, 0
        by = [(name, "ascending", "at_start") for name in self._order]
        places = compute.sort_indices(held, sort_keys=by)
        rows = max(CHUNK_BYTES * held.num_rows // max(size, 1), CHUNK_ROWS_MIN)
        path = self._scratch / f"{self._name}-{len(self._runs)}.run"
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(path, self._schema, options=options) as run:
            run.write_table(held.take(places), max_chunksize=rows)
        self._runs.append(path)

    def _merged(self) -> Iterator[pa.Table]:
        """Yield row groups."""
        names = self._schema.names
        places = [names.index(name) for name in self._order]
        with ExitStack() as stack:
            runs = [
                _rows_of(stack.enter_context(pa.ipc.open_stream(path)), places)
                for path in self._runs
            ]
            held: list[_Place] = []
            size = 0.0
            for row in heapq.merge(*runs, key=_key):
                held.append(row)
                size += row.bytes
                if len(held) >= GROUP_ROWS_MAX or size >= GROUP_BYTES_MAX:
                    yield _gathered(held)
                    held, size = [], 0.0
            if held:
                yield _gathered(held)


class _Place(NamedTuple):
    """Where a row is, and its key in the order."""

    key: tuple[tuple[bool, Any], ...]
    chunk: pa.RecordBatch
    row: int
    bytes: float
    """The average size of a row of its chunk."""


def _key(place: _Place) -> tuple[tuple[bool, Any], ...]:
    return place.key


def _rows_of(
    run: Iterable[pa.RecordBatch], places: list[int]
) -> Iterator[_Place]:
    for chunk in run:
        size = chunk.nbytes / max(chunk.num_rows, 1)
        columns = [_comparable(chunk.column(place)) for place in places]
        for row, values in enumerate(zip(*columns, strict=True)):
            # A null is less than anything, and equal to itself.
            key = tuple((value is not None, value) for value in values)
            yield _Place(key, chunk, row, size)


def _comparable(column: pa.Array) -> list[Any]:
    """Return values that compare fast: times as numbers."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Any] = column.to_pylist()
    return values


def _gathered(rows: list[_Place]) -> pa.Table:
    """Return rows of many chunks as one table, in their order."""
    chunks: dict[int, pa.RecordBatch] = {}
    begins: dict[int, int] = {}
    count = 0
    for one in rows:
        number = id(one.chunk)
        if number not in chunks:
            chunks[number], begins[number] = one.chunk, count
            count += one.chunk.num_rows
    taken = pa.array([begins[id(one.chunk)] + one.row for one in rows])
    return pa.Table.from_batches(chunks.values()).take(taken)


def _of(table: pa.Table, whose: Whose) -> pa.Table:
    """Add the columns that say whose the rows are."""
    for field, value in zip(WHOSE, whose, strict=True):
        same = pa.repeat(pa.scalar(value, field.type), table.num_rows)
        table = table.append_column(field, same)
    return table


def _writer(path: Path, schema: Schema) -> pq.ParquetWriter:
    whole = OWN_VALUES | NUMBERS
    return pq.ParquetWriter(
        path,
        schema,
        compression=COMPRESSION,
        compression_level=LEVEL,
        use_dictionary=[name for name in schema.names if name not in whole],
        data_page_size=PAGE_BYTES,
        write_page_index=True,
    )
