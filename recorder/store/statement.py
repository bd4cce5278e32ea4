"""Statements: SQL with names for values and for stored numbers.

Every statement of the store is one of these. The text has ``:since`` for a
value, and ``#appeared`` for the number of a kind, bearing or mark of facts, or
of an operation. Values become numbered parameters in the order in which they
first appear. Stored numbers become literals, so that the planner can use
partial indices. Both is done once for each statement; the driver prepares it
by its text, once for a connection.

`question` makes statements that also run on the archive, which refuses all
others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakSet

import asyncpg
from asyncpg.cursor import CursorFactory

from recorder.store.codes import (
    BEARING_CODES,
    FACT_CODES,
    MARK_CODES,
    OPERATION_CODES,
)

Condition: TypeAlias = tuple[str, Mapping[str, object]]
"""An SQL expression, and its values by name."""

NAME = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
"""A cast begins with two colons and is no name."""

WORD = re.compile(r"#([a-z-]+)")

NUMBERS = {
    str(word): str(number)
    for codes in (BEARING_CODES, FACT_CODES, MARK_CODES, OPERATION_CODES)
    for word, number in codes.items()
}

REMEMBERED = 500
"""How many statements that are composed at run time are cached."""


class Record(asyncpg.Record):  # type: ignore[misc]
    """A row with its columns as attributes."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Statement:
    """One statement, as the driver takes it."""

    text: str
    names: tuple[str, ...]
    """The names of its values, in order."""

    is_archived: bool = False
    """Whether it also runs on the archive."""

    @staticmethod
    @lru_cache(REMEMBERED)
    def of(text: str, *, archive: bool = False) -> "Statement":
        """Return the statement of a text with names.

        Raises:
            KeyError: no stored number has the name.
        """
        places: dict[str, int] = {}

        def numbered(found: re.Match[str]) -> str:
            return f"${places.setdefault(found[1], len(places) + 1)}"

        text = WORD.sub(lambda found: NUMBERS[found[1]], text)
        made = Statement(NAME.sub(numbered, text), tuple(places), archive)
        STATEMENTS.add(made)
        return made

    def values(self, given: Mapping[str, object]) -> list[object]:
        """Return the values in order; their names must be all that it has."""
        assert given.keys() == set(self.names), (self.names, list(given))
        return [given[name] for name in self.names]

    async def fetch(
        self, connection: asyncpg.Connection, /, **values: object
    ) -> Sequence[Record]:
        """Return its rows, on a connection of the driver."""
        given = self.values(values)
        rows: Sequence[Record] = await connection.fetch(
            self.text, *given, record_class=Record
        )
        return rows

    async def fetch_row(
        self, connection: asyncpg.Connection, /, **values: object
    ) -> Any:
        """Return its first row, or None."""
        given = self.values(values)
        return await connection.fetchrow(
            self.text, *given, record_class=Record
        )

    async def fetch_value(
        self, connection: asyncpg.Connection, /, **values: object
    ) -> Any:
        """Return the first column of its first row, or None."""
        return await connection.fetchval(self.text, *self.values(values))

    async def execute(
        self, connection: asyncpg.Connection, /, **values: object
    ) -> None:
        """Execute it without returning rows."""
        given = self.values(values)
        await connection.execute(self.text, *given)

    async def execute_many(
        self,
        connection: asyncpg.Connection,
        many: Iterable[Mapping[str, object]],
    ) -> None:
        """Execute it for many sets of values, in one transaction."""
        rows = [self.values(values) for values in many]
        await connection.executemany(self.text, rows)

    def cursor(
        self,
        connection: asyncpg.Connection,
        prefetch: int | None = None,
        /,
        **values: object,
    ) -> CursorFactory:
        """Return a cursor over its rows, within a transaction.

        ``prefetch`` is how many rows it takes at once where it is iterated.
        """
        given = self.values(values)
        return connection.cursor(
            self.text, *given, prefetch=prefetch, record_class=Record
        )


def question(text: str) -> Statement:
    """Return a statement that also runs on the archive."""
    return Statement.of(text, archive=True)


STATEMENTS: WeakSet[Statement] = WeakSet()
"""All statements in use."""


def conjoined(conditions: Iterable[Condition]) -> Condition:
    """Return the conjunction of conditions.

    A name must have the same value in all of them.
    """
    texts: list[str] = []
    values: dict[str, object] = {}
    for text, own in conditions:
        assert own == {name: values.get(name, own[name]) for name in own}
        texts.append(text)
        values |= own
    return " and ".join(texts), values
