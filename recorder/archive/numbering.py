"""One number for each name, over days of the archive.

A name that was gone for long comes back with another number: retention removes
names that nothing refers to. Statements that name a node, a reason or an actor
find one number, which is the least, and rows of all days have that one.
"""

from collections.abc import Callable, Mapping, Sequence

import duckdb

__all__ = ["columns_of", "make_names"]

NUMBERED = {
    "node": ("node_id",),
    "word": ("reason_id", "actor_id", "topic_id"),
}
"""What has numbers, and the columns of entries and facts that hold them."""

AGAIN = """
    select number, least from (
      select number, min(number) over (partition by name) as least
      from found_{what})
    where number <> least
"""


def make_names(log: int, read: Callable[[str], str]) -> Sequence[str]:
    """Return what makes the tables of nodes and words.

    Args:
        log: what the log is called.
        read: gives the expression that reads the files of a kind.
    """
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
    """Return, by column, the expression that gives its one number."""
    found = {}
    for what, columns in NUMBERED.items():
        again = connection.execute(AGAIN.format(what=what)).fetchall()
        cases = " ".join(f"when {old} then {new}" for old, new in again)
        for column in columns:
            found[column] = (
                f"(case {column} {cases} else {column} end)::int4 as {column}"
                if again
                else column
            )
    return found
