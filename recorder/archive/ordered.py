"""A day of the archive in the order of the log.

Its files are ordered by node. DuckDB sorts them in bounded memory, and on
disk beyond that. Rows are read forwards only.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from recorder.archive.errors import ArchiveError

MEMORY = "512MB"
SPILL = "64GB"
"""Room on disk to sort a day with its documents."""

THREADS = 2
ROWS_AT_ONCE = 2_000

Row = Mapping[str, Any]
"""With times as microseconds since 1970."""

ENTRIES = """
    select * replace (epoch_us(recorded_at) as recorded_at,
      epoch_us(observed_at) as observed_at,
      epoch_us(occurred_at) as occurred_at)
    from {entries} order by position
"""
FACTS = """
    select f.position, f."index", epoch_us(f.recorded_at) as recorded_at,
      epoch_us(f.at) as at, epoch_us(f.observed_at) as observed_at, f.kind,
      f.fact, f.bearing, f.mark, f.value, f.place, f.labels, f.keys, f.owners,
      f.detail, f.object_id, f.owner_id, f.node_id, f.actor_id, f.topic_id,
      n.name as node, a.text as actor, t.text as topic,
      o.api_group as object_group, o.kind as object_kind,
      o.namespace as object_namespace, o.name as object_name,
      o.uid as object_uid,
      w.api_group as owner_group, w.kind as owner_kind,
      w.namespace as owner_namespace, w.name as owner_name,
      w.uid as owner_uid
    from {facts} f
    left join {nodes} n on n.node_id = f.node_id
    left join {words} a on a.word_id = f.actor_id
    left join {words} t on t.word_id = f.topic_id
    left join {objects} o on o.object_id = f.object_id
    left join {objects} w on w.object_id = f.owner_id
    order by f.position, f."index"
"""
NEWEST = """
    select object_id, max(position), arg_max(operation, position)
    from {entries}
    where object_id is not null and operation in ('recovered', 'listed',
        'added', 'modified', 'deleted', 'absent')
      and resource not in ('v1/events', 'events.k8s.io/v1/events')
    group by object_id
"""
DOCUMENTS = """
    select position, raw from {entries}
    where position in (select unnest(?::int8[]))
"""
NAMES = {
    "objects": "select * from {objects}",
    "nodes": "select * from {nodes}",
    "words": "select * from {words}",
}
ENTRIES_AT = """
    select * replace (epoch_us(recorded_at) as recorded_at,
      epoch_us(observed_at) as observed_at,
      epoch_us(occurred_at) as occurred_at)
    from {entries} where position in (select unnest(?::int8[]))
"""
ALIVE = frozenset({"recovered", "listed", "added", "modified"})


class OrderedDay:
    """The files of one day, as tables."""

    def __init__(
        self, files: Mapping[str, Sequence[Path]], scratch: Path
    ) -> None:
        """Take the files of each kind; none is read before it is needed."""
        self._files = {
            kind: _listed(paths) for kind, paths in files.items() if paths
        }
        self._connection = duckdb.connect(
            config={
                "memory_limit": MEMORY,
                "max_temp_directory_size": SPILL,
                "threads": THREADS,
                "temp_directory": str(scratch),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "python_enable_replacements": False,
            }
        )
        self._cursors: dict[str, _Forwards] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._connection.close()

    def entries(self, until: int) -> Sequence[Row]:
        """Return the next entries, up to a position."""
        return self._taken(ENTRIES, until)

    def facts(self, until: int) -> Sequence[Row]:
        """Return the next facts, of entries up to a position."""
        if "facts" not in self._files:
            return []
        return self._taken(FACTS, until)

    def newest(self) -> Iterator[tuple[int, int | None]]:
        """Yield each object's newest position; None if it was deleted."""
        for number, position, operation in self._ask(NEWEST).fetchall():
            yield number, position if operation in ALIVE else None

    def entries_at(self, positions: Sequence[int]) -> Sequence[Row]:
        """Return the entries at positions."""
        return self._dicts(ENTRIES_AT, [list(positions)])

    def names(self, kind: str) -> Sequence[Row]:
        """Return the rows of a file of names: objects, nodes or words."""
        if kind not in self._files:
            return []
        return self._dicts(NAMES[kind])

    def _dicts(
        self, statement: str, given: Sequence[object] = ()
    ) -> Sequence[Row]:
        found = self._ask(statement, given)
        columns = [name for name, *_ in found.description or ()]
        return [
            dict(zip(columns, row, strict=True)) for row in found.fetchall()
        ]

    def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        found = self._ask(DOCUMENTS, [list(positions)]).fetchall()
        return dict(found)

    def _taken(self, statement: str, until: int) -> Sequence[Row]:
        if statement not in self._cursors:
            self._cursors[statement] = self._begun(statement)
        try:
            return self._cursors[statement].up_to(until)
        except (duckdb.Error, pa.ArrowException, OSError) as exc:
            raise _unreadable(exc) from exc

    def _begun(self, statement: str) -> "_Forwards":
        cursor = self._connection.cursor()
        try:
            found = cursor.sql(statement.format(**self._files))
            return _Forwards(cursor, found.to_arrow_reader(ROWS_AT_ONCE))
        except duckdb.Error as exc:
            raise _unreadable(exc) from exc

    def _ask(
        self, statement: str, given: Sequence[object] = ()
    ) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.cursor().execute(
                statement.format(**self._files), given
            )
        except duckdb.Error as exc:
            raise _unreadable(exc) from exc


class _Forwards:
    """Rows in the order of their positions, read forwards."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, batches: pa.RecordBatchReader
    ) -> None:
        self._cursor = cursor
        self._rows = _rows(batches)
        self._next = next(self._rows, None)

    def up_to(self, until: int) -> Sequence[Row]:
        taken = []
        while self._next is not None and self._next["position"] <= until:
            taken.append(self._next)
            self._next = next(self._rows, None)
        return taken


def _rows(batches: pa.RecordBatchReader) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _listed(paths: Sequence[Path]) -> str:
    names = ", ".join("'{}'".format(str(p).replace("'", "''")) for p in paths)
    return f"read_parquet([{names}])"


def _unreadable(error: Exception) -> ArchiveError:
    said = (str(error) or type(error).__name__).splitlines()[0]
    return ArchiveError(f"cannot read the archive: {said}")
