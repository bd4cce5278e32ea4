"""Facts that later rules derived for archived days.

The database has the digest of their manifest. Answers use only those with a
digest, even if other processes write into the archive.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

import asyncpg

from recorder.model.reference import ObjectIdentity
from recorder.store.codes import FACTS
from recorder.store.details import DetailEncoder
from recorder.store.dimension import Dimensions
from recorder.store.entry_windows import Window
from recorder.store.fact_rows import FACT_COLUMNS, fact_rows, name_facts
from recorder.store.names import Names, Numbers
from recorder.store.read_day import FACT_TYPES
from recorder.store.statement import Statement
from recorder.store.timestamps import EPOCH

LOCK = Statement.of("""
    select pg_try_advisory_lock(hashtext('recorder.rederive_archive'), :log)
""")
DAYS = Statement.of("""
    select d.name, d.first_batch, d.uri, encode(d.sha256, 'hex') as sha256,
      l.uid::text as uid, (
        select array_agg(f.rules) from recorder.later_facts f
        where f.log_id = :log and f.day = d.name) as rules
    from (
      select partition as name, first_batch, uri, manifest_sha256 as sha256
      from recorder.archived_day where log_id = :log
      union all
      select name, first_batch, uri, manifest_sha256
      from recorder.attached_day where log_id = :log) d
    join recorder.log l on l.log_id = :log
    order by d.first_batch
""")
NOTE = Statement.of("""
    insert into recorder.later_facts (log_id, day, rules, manifest_sha256)
    values (:log, :day, :rules, decode(:sha256, 'hex'))
""")
KINDS = Statement.of("select kind_id, api_group, name from recorder.kind")

Row = Sequence[Any]
Key = TypeVar("Key")


class OldDay(NamedTuple):
    """A day of the archive."""

    name: str
    first_batch: int
    uri: str | None
    sha256: str | None
    uid: str
    rules: Sequence[int] | None
    """Numbers of the rules that derived facts for it later."""


async def try_lock(connection: asyncpg.Connection, log: int) -> bool:
    """Lock the archived facts of a log; False if another process has it."""
    locked: bool = await LOCK.fetch_value(connection, log=log)
    return locked


async def old_days(
    connection: asyncpg.Connection, log: int
) -> Sequence[OldDay]:
    """Return the archived days of a log, in order."""
    return [OldDay(*row) for row in await DAYS.fetch(connection, log=log)]


async def note_later_facts(
    connection: asyncpg.Connection, log: int, day: str, rules: int, sha256: str
) -> None:
    """Note the facts of a day, which answers use from now on."""
    await NOTE.execute(
        connection, log=log, day=day, rules=rules, sha256=sha256
    )


async def columns_of_facts(
    connection: asyncpg.Connection,
) -> list[tuple[str, str]]:
    """Return the names and types of the columns of archived facts."""
    types: dict[str, str] = dict(await FACT_TYPES.fetch(connection))
    columns = [(name, types[name]) for name in FACT_COLUMNS]
    columns[FACT_COLUMNS.index("detail")] = ("detail", "text")
    return [*columns, ("fact", "text")]


class LaterFacts:
    """Facts of a window, as rows of a file."""

    def __init__(self) -> None:
        # Without dictionaries a detail is plain JSON after one byte.
        self._details = DetailEncoder({})

    def rows(
        self, window: Window, numbers: Numbers, derivation: int
    ) -> list[list[Any]]:
        """Return the rows, column by column."""
        rows = fact_rows(
            window.batch,
            numbers,
            self._details,
            derivation=derivation,
            recorded_at=window.recorded_at,
        )
        return columns_of_rows(rows)


def columns_of_rows(rows: Iterable[Row]) -> list[list[Any]]:
    """Return rows of facts as columns, with the names of their kinds."""
    kind = FACT_COLUMNS.index("kind")
    found = [
        [
            *(_plain(value) for value in row[:-1]),
            row[-1][1:].decode(),
            FACTS[row[kind]].value,
        ]
        for row in rows
    ]
    return [list(column) for column in zip(*found, strict=True)]


def _plain(value: Any) -> Any:
    """Return a value, with ticks as a time."""
    if isinstance(value, tuple):
        return EPOCH + timedelta(microseconds=value[0])
    return value


class DayNames:
    """The numbers of names in an archived day, and of new names."""

    def __init__(self, log: int, names: Mapping[str, Sequence[Any]]) -> None:
        """Take the rows of the day's files of names, by kind."""
        self._dimensions = Dimensions(log, beside_a_writer=True)
        self._kinds: dict[tuple[str, str], int] = {}
        self._nodes = {r["name"]: r["node_id"] for r in names["nodes"]}
        self._words = {r["text"]: r["word_id"] for r in names["words"]}
        self._objects: dict[ObjectIdentity, int] = {}
        for row in names["objects"]:
            self._kinds[row["api_group"], row["kind"]] = row["kind_id"]
            self._objects[
                ObjectIdentity(
                    row["api_group"],
                    row["kind"],
                    row["namespace"],
                    row["name"],
                    row["uid"],
                )
            ] = row["object_id"]
        self._used_nodes: dict[str, int] = {}
        self._used_words: dict[str, int] = {}
        self._used_objects: dict[ObjectIdentity, int] = {}

    async def numbers(
        self, connection: asyncpg.Connection, window: Window
    ) -> Numbers:
        """Return the numbers of the names that facts of a window refer to.

        They are those of the day, else those of the database, which creates
        new ones in short transactions.
        """
        names, make = Names(), self._dimensions
        name_facts(window.batch, names)
        objects = {**self._objects, **window.objects()}
        nodes, words = self._nodes, self._words
        if missing := names.nodes - nodes.keys():
            nodes |= _of(await make.nodes(connection, missing), missing)
        if missing := names.words - words.keys():
            words |= _of(await make.words(connection, missing), missing)
        if unknown := names.objects.keys() - objects.keys():
            async with connection.transaction():
                made = await make.objects(connection, dict.fromkeys(unknown))
            self._objects |= _of(made, unknown)
            objects |= made
        self._used_nodes |= _of(nodes, names.nodes)
        self._used_words |= _of(words, names.words)
        self._used_objects |= _of(objects, names.objects)
        return Numbers(nodes=nodes, words=words, objects=objects, resources={})

    async def tables(
        self, connection: asyncpg.Connection
    ) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of the files of names that the facts refer to."""
        for number, group, name in await KINDS.fetch(connection):
            self._kinds.setdefault((group, name), number)
        return {
            "objects": [
                (number, self._kinds[of.group, of.kind], *of)
                for of, number in self._used_objects.items()
            ],
            "nodes": [
                (number, name) for name, number in self._used_nodes.items()
            ],
            "words": [
                (number, text) for text, number in self._used_words.items()
            ],
        }


def _of(numbers: Mapping[Key, int], names: Iterable[Key]) -> dict[Key, int]:
    return {name: numbers[name] for name in names}
