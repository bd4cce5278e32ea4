"""The archive in place of PostgreSQL: its engine, and the dialect of DuckDB.

Statements are written for PostgreSQL. This module alone translates them, so
that one text serves both: DuckDB does not unnest lists side by side in a FROM,
takes no subquery for an array and one pattern at a time, and reserves other
words. `offset 0`, which keeps PostgreSQL from reading whole tables, would keep
DuckDB from joining them.
"""

import asyncio
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, cast

from recorder.store.engine import STATEMENT_TIMEOUT
from recorder.store.read_facts import (
    ALL_OF_NODES,
    ARCHIVED_ALL_OF_NODES,
    ARCHIVED_EVIDENCE,
    EVIDENCE,
)
from recorder.store.read_nodes import NEWEST, OBJECTS
from recorder.store.read_ports import OF_CROWDED, OF_CROWDED_ARCHIVED
from recorder.store.read_span import WINDOW, window_statement
from recorder.store.statement import Record, Statement

RESERVED = re.compile(r'(?<!")\bat\b(?!")')
LITERALS = re.compile(r"('[^']*')")
WITHOUT_COLUMNS = re.compile(r"\bselect\s+from\b")
NO_OFFSET = re.compile(r"\soffset 0\b")
LIKE_ANY = re.compile(r"(\w+\.\w+) like any \((\$\d+::text\[\])\)")
OF_LIST = re.compile(
    r"exists \(select from unnest\(([^()]+)\) (\w+) \((\w+)\)\s+where "
)
LOOKUP = re.compile(
    r"(?:,|\s+join)\s+lateral \(\s*select \S+ from (recorder\.\w+)"
    r"\s+where (\w+) = (\w+\.\w+) offset 0\) (\w+)( on)?"
)
SEVERAL = re.compile(
    r"unnest\(((?:\$\d+::\w+\[\],?\s*){2,})\)\s*(\w+) \(([^)]*)\)"
)
BYTES = re.compile(r"convert_to\((.*?),\s*'UTF8'\)", re.DOTALL)
COVERAGE = re.compile(
    r"\brecorder\.entry\b(?=(?:\s+e)?\s+where\s[^()]*\boperation >= 100\b)"
)
ARRAY = re.compile(r"(= any|<> all) \(array\(")

REPLACED: Mapping[str, str] = {
    # DuckDB supports no limit in a lateral join. Files are ordered by node,
    # and the entries of a Node are next to those of its Pods.
    NEWEST.text: Statement.of("""
    with thing as materialized (
      select distinct o.object_id, o.namespace, o.name, o.uid
      from recorder.object_of_day o
      join recorder.kind k on k.kind_id = o.kind_id
      where o.log_id = :log and o.namespace = ''
        and o.name = any (:names::text[])
        and k.api_group = '' and k.name = 'Node'
    ), place as materialized (
      select n.node_id from recorder.node n where n.name = any (:names::text[])
    ), newest as (
      select max(e.position) as position
      from recorder.entry e join thing on thing.object_id = e.object_id
      where e.node_id in (select node_id from place)
        and e.observed_at < :before and e.position <= :size
        and e.operation = any (:operations::int2[])
        and e.resource_id not in (select resource_id from recorder.resource
          where name = any (:events::text[]))
      group by thing.name
    )
    select e.position, e.recorded_at, e.base_distance, e.encoding, e.payload,
      e.resource_id, e.operation, thing.namespace, thing.name, thing.uid,
      r.name as resource
    from recorder.entry e
    join thing on thing.object_id = e.object_id
    join recorder.resource r on r.resource_id = e.resource_id
    where e.node_id in (select node_id from place)
      and e.position in (select position from newest)
    """).text,
    OBJECTS.text: Statement.of("""
    with thing as materialized (
      select distinct o.object_id, o.namespace, o.name, o.uid
      from recorder.object_of_day o
      join recorder.kind k on k.kind_id = o.kind_id
      where o.log_id = :log and o.name = any (:names::text[])
        and (:namespace::text is null or o.namespace = :namespace)
        and k.api_group || '/' || k.name = any (:kinds::text[])
    ), newest as (
      select max(e.position) as position
      from recorder.entry e join thing on thing.object_id = e.object_id
      where e.observed_at < :before and e.position <= :size
        and e.operation = any (:operations::int2[])
        and e.resource_id not in (select resource_id from recorder.resource
          where name = any (:events::text[]))
      group by thing.namespace, thing.name
    )
    select e.position, e.recorded_at, e.base_distance, e.encoding, e.payload,
      e.resource_id, e.operation, thing.namespace, thing.name, thing.uid,
      r.name as resource
    from recorder.entry e
    join thing on thing.object_id = e.object_id
    join recorder.resource r on r.resource_id = e.resource_id
    where e.position in (select position from newest)
    """).text,
    # Nor any in a recursive expression: claims are all read.
    OF_CROWDED.text: OF_CROWDED_ARCHIVED.text,
    ALL_OF_NODES.text: ARCHIVED_ALL_OF_NODES.text,
    EVIDENCE.text: ARCHIVED_EVIDENCE.text,
    # Batches of a few days are read at once.
    WINDOW.text: window_statement("""
    edge as (
      select
        coalesce((select min(b.batch) from recorder.batch b
          where b.log_id = :log and b.batch > head.pruned_batches
            and b.recorded_at >= touched.lower), head.batches + 1) as lower,
        coalesce((select min(b.batch) from recorder.batch b
          where b.log_id = :log and b.batch > head.pruned_batches
            and b.recorded_at >= touched.upper), head.batches + 1) as upper
      from head, touched where touched.lower is not null)
    """).text,
}


@lru_cache(maxsize=256)
def translated(statement: Statement) -> str:
    """Return the text of a statement in DuckDB's dialect."""
    assert statement.is_archived, statement.text
    asked = REPLACED.get(statement.text, statement.text)
    asked = LOOKUP.sub(_looked_up, asked)
    asked = NO_OFFSET.sub(" ", asked)
    asked = LIKE_ANY.sub(_like_any, asked)
    asked = _of_lists(asked)
    asked = WITHOUT_COLUMNS.sub("select 1 from", asked)
    asked = SEVERAL.sub(_side_by_side, asked)
    # The archive has a table where PostgreSQL has a partial index.
    asked = COVERAGE.sub("recorder.coverage_entry", asked)
    asked = BYTES.sub(r"encode(\1)", asked)
    asked = _without_arrays(asked)
    parts = LITERALS.split(asked)
    parts[::2] = [RESERVED.sub('"at"', part) for part in parts[::2]]
    return "".join(parts)


def _looked_up(found: re.Match[str]) -> str:
    """Replace a lateral lookup by a join, which reads less of a table.

    An object is in the files of each day that has it: one row is used.
    """
    table, column, number, name, more = found.groups()
    table = table.replace("recorder.object", "recorder.object_of_day")
    joined = f" join {table} {name} on {name}.{column} = {number}"
    return f"{joined} and" if more else joined


def _like_any(found: re.Match[str]) -> str:
    return (
        f"len(list_filter({found[2]}, lambda pattern:"
        f" {found[1]} like pattern escape '\\')) > 0"
    )


def _of_lists(asked: str) -> str:
    """Filter a list itself instead of its rows.

    With rows of a list, DuckDB would read the whole table.
    """
    while found := OF_LIST.search(asked):
        listed, name, column = found.groups()
        end = _end_of(asked, found.end(), 1)
        condition = asked[found.end() : end - 1].replace(
            f"{name}.{column}", name
        )
        asked = (
            f"{asked[: found.start()]}len(list_filter({listed},"
            f" lambda {name}: {condition})) > 0{asked[end:]}"
        )
    return asked


def _side_by_side(found: re.Match[str]) -> str:
    """Unnest several lists side by side, in a SELECT instead of a FROM."""
    lists = [one.strip() for one in found[1].split(",")]
    names = [one.strip() for one in found[3].split(",")]
    columns = ", ".join(
        f"unnest({one}) as {name}"
        for one, name in zip(lists, names, strict=True)
    )
    return f"(select {columns}) {found[2]}"


def _without_arrays(asked: str) -> str:
    """Compare with a subquery instead of an array of its rows."""
    while found := ARRAY.search(asked):
        end = _end_of(asked, found.end(), 2)
        word = "in" if found[1] == "= any" else "not in"
        inner = asked[found.end() : end - 1].rstrip().removesuffix(")")
        asked = f"{asked[: found.start()]}{word} ({inner}){asked[end:]}"
    return asked


def _end_of(text: str, start: int, depth: int) -> int:
    """Return the place after the parenthesis that closes the depth."""
    while depth:
        depth += {"(": 1, ")": -1}.get(text[start], 0)
        start += 1
    return start


Row = tuple[Any, ...]


class Asked(Protocol):
    """Executes a statement in DuckDB's dialect."""

    def ask(
        self, text: str, given: Sequence[object], seconds: float
    ) -> tuple[tuple[str, ...], Sequence[Row]]:
        """Return the columns and the rows."""


class ArchiveEngine:
    """Executes statements of readers on the archive.

    Each runs in a thread, because it reads files.
    """

    def __init__(self, tables: Asked) -> None:
        self._tables = tables

    async def fetch(
        self, statement: Statement, **values: object
    ) -> Sequence[Record]:
        """Return the rows of one statement."""
        names, rows = await asyncio.to_thread(
            self._tables.ask,
            translated(statement),
            statement.values(values),
            STATEMENT_TIMEOUT.total_seconds(),
        )
        made = _row_of(names)
        return cast("Sequence[Record]", [made(*row) for row in rows])


@lru_cache(maxsize=256)
def _row_of(names: tuple[str, ...]) -> Callable[..., Row]:
    """Return the type of rows that have their columns as attributes."""
    made: Callable[..., Row] = namedtuple("Row", names, rename=True)  # type: ignore[misc] # noqa: PYI024
    return made
