"""Statements of PostgreSQL in the words of DuckDB."""

import pytest

from recorder.store.archive_engine import translated
from recorder.store.read_facts import DISRUPTED, EVIDENCE
from recorder.store.read_gangs import FAMILIES, PLACED
from recorder.store.statement import Statement

PAIRS = [
    ("select f.at from f", 'select f."at" from f'),
    ("select 'at' as at", "select 'at' as \"at\""),
    ("where exists (select from t)", "where exists (select 1 from t)"),
    (
        "from recorder.entry\n where log = 1 and operation >= 100",
        "from recorder.coverage_entry\n where log = 1 and operation >= 100",
    ),
    (
        "from recorder.entry where log_id = $1 and operation >= 10",
        "from recorder.entry where log_id = $1 and operation >= 10",
    ),
    ("(select a from t where b offset 0) t", "(select a from t where b ) t"),
    (
        "x = any (array(select a from t where b = any ($1::text[])))",
        "x in (select a from t where b = any ($1::text[]))",
    ),
    ("x <> all (array(select a from t))", "x not in (select a from t)"),
    (
        "from unnest($1::text[], $2::int8[]) s (name, size)",
        (
            "from (select unnest($1::text[]) as name,"
            " unnest($2::int8[]) as size) s"
        ),
    ),
    (
        "w.text like any ($2::text[])",
        (
            "len(list_filter($2::text[], lambda pattern:"
            " w.text like pattern escape '\\')) > 0"
        ),
    ),
    (
        (
            "exists (select from unnest(f.keys) lock (key)\n"
            "  where lock.key = (select a from t)) and b"
        ),
        (
            "len(list_filter(f.keys, lambda lock: lock = (select a from t)))"
            " > 0 and b"
        ),
    ),
    (
        "t, lateral (\n select * from recorder.node where n = t.n offset 0) o",
        "t join recorder.node o on o.n = t.n",
    ),
    (
        (
            "t join lateral (select uid from recorder.object\n"
            " where n = t.n offset 0) o on o.uid > 0"
        ),
        "t join recorder.object_of_day o on o.n = t.n and o.uid > 0",
    ),
]


@pytest.mark.parametrize(("said", "meant"), PAIRS)
def test_what_duckdb_says_in_another_way_is_translated(
    said: str, meant: str
) -> None:
    assert translated(Statement(said, (), is_archived=True)) == meant


@pytest.mark.parametrize("statement", [DISRUPTED, EVIDENCE, PLACED, FAMILIES])
def test_the_statements_of_questions_are_translated_whole(
    statement: Statement,
) -> None:
    found = translated(statement)
    for left in ("offset 0", "array(", "select from", "like any", " f.at "):
        assert left not in found
    assert found.count("(") == found.count(")")
