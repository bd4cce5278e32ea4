"""Days of the archive as the tables of the log, in DuckDB.

Tables, columns and numbers are those of the database, so that a statement on
the log also runs on the archive. Files are read in place, and only the parts
that a statement needs: their statistics lead to a node and a time, and
documents are read only if they are selected.

A name that was gone for long may return with another number: retention removes
names that nothing refers to. The views give each node, reason and actor its
least number, in the rows of all days.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from recorder.archive.errors import ArchiveError, ArchiveSlowError
from recorder.archive.manifest import Manifest
from recorder.model.columns import STORED, Column, Holds, numbers_of

MEMORY = "512MB"
"""Of DuckDB for a statement; beyond that it uses the disk."""

SPILL = "4GB"
THREADS = 2

MOMENTS = ("recorded_at", "at", "observed_at")
FACTS = {
    **dict.fromkeys(MOMENTS, "timestamptz"),
    "position": "int8",
    "object_id": "int8",
    "owner_id": "int8",
    "node_id": "int4",
    "actor_id": "int4",
    "topic_id": "int4",
    "index": "int2",
    "kind": "int2",
    "bearing": "int2",
    "mark": "int2",
    "value": "text",
    "place": "text",
    "labels": "text[]",
    "keys": "text[]",
    "owners": "text[]",
    "detail": "text",
}
"""The columns of facts that statements use."""

STATEMENTS = {
    "entries": """operation in ('audit', 'renewed')
      or operation in ('recovered', 'listed', 'added', 'modified', 'deleted',
          'absent')
        and resource in ('v1/events', 'events.k8s.io/v1/events')""",
    "facts": "fact in ('event', 'requested', 'lease-silent', 'unreadable')",
}
"""Conditions for what a thinned day may lack in the database."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TableDay:
    """A day with the paths of its files on this machine."""

    manifest: Manifest
    lower: datetime
    upper: datetime
    files: Mapping[str, Path]
    """By the names of the manifest."""

    only_statements: bool = False
    """Whether only audit records, Events and silences of Leases are read: the
    database has the rest of the day."""

    def paths(self, kind: str) -> list[Path]:
        """Return its files of a kind: ``entries``, ``facts``, ``nodes``."""
        return [
            path
            for name, path in self.files.items()
            if name.removesuffix(".parquet").partition("-")[0] == kind
        ]


@dataclass(frozen=True, slots=True)
class Codes:
    """The numbers of statements for the words of the archive."""

    log: int
    derivation: int
    operations: Mapping[Any, int]
    """By word."""

    sources: Mapping[str, int]


class ArchiveTables:
    """A connection to some days of one log, read only."""

    def __init__(
        self,
        days: Sequence[TableDay],
        codes: Codes,
        scratch: Path,
    ) -> None:
        """Open the files; only their footers and the names are read.

        Raises:
            ArchiveError: a file cannot be read.
        """
        self._days = days
        self._codes = codes
        self._read_schemas: dict[str, Sequence[pa.Schema]] = {}
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
        try:
            for statement in (
                "set timezone = 'UTC'",
                "create schema recorder",
                *make_names(codes.log, self._read),
            ):
                self._connection.execute(statement)
            self._columns_of = columns_of(self._connection)
            for statement in self._definitions():
                self._connection.execute(statement)
        except (duckdb.Error, pa.ArrowException, OSError) as exc:
            self.close()
            raise _unreadable(exc) from exc

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(
        self, text: str, given: Sequence[object], seconds: float
    ) -> tuple[tuple[str, ...], list[Row]]:
        """Return the columns and the rows of a statement.

        Raises:
            ArchiveSlowError: it took longer than the seconds allowed.
            ArchiveError: a file is damaged.
        """
        cursor = self._connection.cursor()
        watch = threading.Timer(seconds, cursor.interrupt)
        watch.daemon = True
        watch.start()
        try:
            found = cursor.sql(text, params=[*given]).to_arrow_table()
        except duckdb.InterruptException as exc:
            msg = (
                "cannot read the archive: the statement took too long; ask"
                " for a shorter time, or for one node or object"
            )
            raise ArchiveSlowError(msg) from exc
        except (duckdb.IOException, duckdb.InvalidInputException) as exc:
            raise _unreadable(exc) from exc
        finally:
            watch.cancel()
            cursor.close()
        return tuple(found.column_names), _rows(found)

    def _definitions(self) -> Sequence[str]:
        return [
            self._entries(),
            self._facts(),
            *self._names(),
            *self._bookkeeping(),
            # Few entries, which coverage reads for each answer.
            """create table recorder.coverage_entry as
            select * from recorder.entry where operation >= 100""",
        ]

    def _entries(self) -> str:
        # A column that was added after a day was archived is null in it.
        there = {
            name for one in self._schemas("entries") for name in one.names
        }
        columns = ", ".join(
            f"{self._value_of(column, there)} as {column.name}"
            for column in STORED
        )
        return f"""
            create view recorder.entry as
            select {columns} from {self._read("entries")}"""

    def _value_of(self, column: Column, there: Collection[str]) -> str:
        """Return the expression for a column of the database."""
        name, codes = column.name, self._codes
        if column.holds is Holds.CODE:
            of = {"operation": codes.operations, "source": codes.sources}
            return _coded(name, of[name])
        if name in there:
            return self._columns_of.get(name, name)
        made = {"log_id": codes.log, "encoding": 0, "payload": "raw"}
        return f"{made.get(name, 'null')}::{column.sql}"

    def _facts(self) -> str:
        there = self._columns("facts")
        if not there:
            columns = ", ".join(
                f'null::{kind} as "{name}"' for name, kind in FACTS.items()
            )
            source = "(select 1) where false"
        else:
            missing = FACTS.keys() - there
            if missing:
                msg = (
                    "cannot read the facts in the archive: another release"
                    f' wrote them, without "{min(missing)}"'
                )
                raise ArchiveError(msg)
            columns = ", ".join(
                self._columns_of.get(name, f'"{name}"') + f' as "{name}"'
                for name in FACTS
            )
            source = self._read("facts")
        # Details as the database stores them without compression.
        return f"""
            create view recorder.fact as
            select * replace ('\\x00'::blob || encode(detail) as detail),
              {self._codes.derivation}::int4 as derivation_id
            from (select {columns} from {source})"""

    def _names(self) -> Sequence[str]:
        log = self._codes.log
        objects = self._read("objects")
        return [
            f"""create view recorder.object_of_day as
            select object_id, {log}::int4 as log_id, kind_id, namespace, name,
              uid from {objects}""",
            # An object is in the files of every day that has entries of it.
            """create view recorder.object as
            select distinct * from recorder.object_of_day""",
            f"""create table recorder.kind as
            select distinct kind_id, api_group, kind as name from {objects}""",
            f"""create table recorder.resource as
            select distinct resource_id, resource as name
            from {self._read("entries")} where resource_id is not null""",
        ]

    def _bookkeeping(self) -> Sequence[str]:
        first = min(day.manifest.first_position for day in self._days)
        begun = min(day.manifest.first_batch for day in self._days)
        last = max(day.manifest.last_batch for day in self._days)
        log = self._codes.log
        days = ", ".join(
            f"('{day.manifest.day}', '{day.lower.isoformat()}'::timestamptz,"
            f" '{day.upper.isoformat()}'::timestamptz)"
            for day in self._days
        )
        lower = min(day.lower for day in self._days).isoformat()
        return [
            f"""create table recorder.batch as
            select {log}::int4 as log_id, batch, first_position, entries,
              term, recorded_at, observed_min, observed_max
            from {self._read("batches")}""",
            # Time before the first day reads as dropped.
            f"""create table recorder.partition as
            select name, lower, upper, min(b.observed_min) as observed_min,
              max(b.observed_max) as observed_max, 'open' as state
            from (values {days}) d (name, lower, upper)
            join recorder.batch b
              on b.recorded_at >= lower and b.recorded_at < upper
            group by name, lower, upper
            union all select 'before', '{lower}'::timestamptz,
              '{lower}'::timestamptz, 'infinity'::timestamptz,
              '-infinity'::timestamptz, 'dropped'""",
            f"""create table recorder.log_head as
            select {log}::int4 as log_id, {last}::int8 as batches,
              {begun - 1}::int8 as pruned_batches,
              {first - 1}::int8 as pruned_positions""",
            f"""create table recorder.derivation as
            select {self._codes.derivation}::int4 as derivation_id,
              {log}::int4 as log_id""",
            """create table recorder.dictionary as
            select 0::int2 as dictionary_id, ''::blob as bytes where false""",
            """create table recorder.object_head as
            select 0::int8 as object_id, 0::int4 as log_id,
              0::int8 as heartbeats,
              null::timestamptz as heartbeat_at, null::int8 as version,
              null::text as resource_version where false""",
        ]

    def _paths(self, kind: str) -> list[Path]:
        return [path for day in self._days for path in day.paths(kind)]

    def _read(self, kind: str) -> str:
        where = STATEMENTS.get(kind)
        parts = [day for day in self._days if day.only_statements and where]
        whole = [day for day in self._days if day not in parts]
        files = self._files(kind, whole)
        if not parts:
            return files
        some = f"select * from {self._files(kind, parts)} where {where}"
        if not whole:
            return f"({some})"
        return f"(select * from {files} union all by name {some})"

    def _files(self, kind: str, days: Sequence[TableDay]) -> str:
        paths = [str(path) for day in days for path in day.paths(kind)]
        listed = ", ".join(
            "'{}'".format(path.replace("'", "''")) for path in paths
        )
        # With `union_by_name` each statement opens all files first.
        by_name = ", union_by_name = true" if self._differ(kind) else ""
        return f"read_parquet([{listed}]{by_name})"

    def _differ(self, kind: str) -> bool:
        """Return whether files of a kind have different columns."""
        first, *others = self._schemas(kind)
        return any(other != first for other in others)

    def _columns(self, kind: str) -> set[str]:
        """Return the columns that all files of a kind have."""
        found = [{*schema.names} for schema in self._schemas(kind)]
        return set.intersection(*found) if found else set()

    def _schemas(self, kind: str) -> Sequence[pa.Schema]:
        if kind not in self._read_schemas:
            self._read_schemas[kind] = [
                pq.read_schema(path) for path in self._paths(kind)
            ]
        return self._read_schemas[kind]


def _coded(column: str, codes: Mapping[Any, int]) -> str:
    cases = " ".join(f"when '{w}' then {n}" for w, n in codes.items())
    return f"(case {column} {cases} end)::int2"


def _rows(found: pa.Table) -> list[Row]:
    columns = [
        [value and value.replace(tzinfo=UTC) for value in column.to_pylist()]
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in found.columns
    ]
    return list(zip(*columns, strict=True))


def _unreadable(error: Exception) -> ArchiveError:
    said = (str(error) or type(error).__name__).splitlines()[0]
    return ArchiveError(f"cannot read the archive: {said}")


NUMBERED = {
    "node": numbers_of("node"),
    "word": (*numbers_of("word"), "topic_id"),
}
"""Columns of entries and facts with the numbers of nodes and of words."""

AGAIN = """
    select number, least from (
      select number, min(number) over (partition by name) as least
      from found_{what})
    where number <> least
"""


def make_names(log: int, read: Callable[[str], str]) -> Sequence[str]:
    """Return the statements that create the tables of nodes and words."""
    return [
        f"""create table found_node as
        select distinct node_id as number, name from {read("nodes")}""",
        f"""create table found_word as
        select distinct word_id as number, text as name
        from {read("words")}""",
        f"""create table recorder.node as
        select min(number) as node_id, {log}::int4 as log_id, name
        from found_node group by name""",
        """create table recorder.word as
        select min(number) as word_id, name as text
        from found_word group by name""",
    ]


def columns_of(connection: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    """Return, by column, the expression for the least number of its name."""
    found = {}
    for what, columns in NUMBERED.items():
        again = connection.execute(AGAIN.format(what=what)).fetchall()
        cases = " ".join(f"when {old} then {new}" for old, new in again)
        for column in columns:
            found[column] = (
                f"(case {column} {cases} else {column} end)::int4"
                if again
                else column
            )
    return found
