"""Statements of questions as DuckDB understands them.

They are written for PostgreSQL. What DuckDB says in another way is replaced
here and nowhere else, so that one text answers from both: lists are not
unnested side by side in a FROM, a subquery is no array, patterns come one by
one, and some words are reserved. `offset 0`, which keeps PostgreSQL from
reading whole tables, would keep DuckDB from joining them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from recorder.store.read_nodes import NEWEST
from recorder.store.read_span import WINDOW, window_statement
from recorder.store.statement import Statement

__all__ = ["translated"]

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
    # DuckDB takes no limit inside of what is joined sideways. Files lie by
    # node, and a Node's own entries beside those of its Pods.
    NEWEST.text: Statement.of("""
    with thing as materialized (
      select distinct o.object_id, o.name, o.uid
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
      e.resource_id, e.operation, thing.name, thing.uid, r.name as resource
    from recorder.entry e
    join thing on thing.object_id = e.object_id
    join recorder.resource r on r.resource_id = e.resource_id
    where e.node_id in (select node_id from place)
      and e.position in (select position from newest)
    """).text,
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
    """Return a statement in DuckDB's words."""
    assert statement.is_archived, statement.text
    asked = REPLACED.get(statement.text, statement.text)
    asked = LOOKUP.sub(_looked_up, asked)
    asked = NO_OFFSET.sub(" ", asked)
    asked = LIKE_ANY.sub(_like_any, asked)
    asked = _of_lists(asked)
    asked = WITHOUT_COLUMNS.sub("select 1 from", asked)
    asked = SEVERAL.sub(_side_by_side, asked)
    # What PostgreSQL has a partial index for is a table of its own.
    asked = COVERAGE.sub("recorder.coverage_entry", asked)
    asked = BYTES.sub(r"encode(\1)", asked)
    asked = _without_arrays(asked)
    parts = LITERALS.split(asked)
    parts[::2] = [RESERVED.sub('"at"', part) for part in parts[::2]]
    return "".join(parts)


def _looked_up(found: re.Match[str]) -> str:
    """Join what is looked up by its number, which a table is read less for.

    An object is told by each of its days: who looks it up takes one.
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
    """Look into a list itself, not into rows of it.

    To make rows of it DuckDB would read the whole table.
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
    """Unnest several lists in step, which a SELECT does and a FROM not."""
    lists = [one.strip() for one in found[1].split(",")]
    names = [one.strip() for one in found[3].split(",")]
    columns = ", ".join(
        f"unnest({one}) as {name}"
        for one, name in zip(lists, names, strict=True)
    )
    return f"(select {columns}) {found[2]}"


def _without_arrays(asked: str) -> str:
    """Compare with a subquery itself, not with an array of its rows."""
    while found := ARRAY.search(asked):
        end = _end_of(asked, found.end(), 2)
        word = "in" if found[1] == "= any" else "not in"
        inner = asked[found.end() : end - 1].rstrip().removesuffix(")")
        asked = f"{asked[: found.start()]}{word} ({inner}){asked[end:]}"
    return asked


def _end_of(text: str, start: int, depth: int) -> int:
    """Return where as many parentheses are closed as are open."""
    while depth:
        depth += {"(": 1, ")": -1}.get(text[start], 0)
        start += 1
    return start
