"""Statements: a text with names for its values and for its numbers.

Every statement of the store is one of these, for the read side and for what
writes. A text has ``:since`` for a value and ``#appeared`` for the number of a
kind of facts, of what they bear or are marked by, or of an operation. The
driver knows neither: values get numbers in the order in which the text first
has their names, and the number for a word is put in as a literal, so that the
planner knows the partial indices. Both is done once, where a statement is
made: the driver prepares it by its text, once for a connection.

Statements that the archive answers too are made by `question`; the archive
refuses all others.
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

__all__ = [
    "STATEMENTS",
    "Condition",
    "Record",
    "Statement",
    "conjoined",
    "question",
]

Condition: TypeAlias = tuple[str, Mapping[str, object]]
"""A text, and its values by name."""

NAME = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
"""But no cast, which begins with two colons."""

WORD = re.compile(r"#([a-z-]+)")

NUMBERS = {
    str(word): str(number)
    for codes in (BEARING_CODES, FACT_CODES, MARK_CODES, OPERATION_CODES)
    for word, number in codes.items()
}

REMEMBERED = 500
"""Statements that are put together for a question: by what it asks for, and
not by the values."""


class Record(asyncpg.Record):  # type: ignore[misc]
    """A row, of which the columns are attributes too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Statement:
    """One statement, as the driver takes it."""

    text: str
    names: tuple[str, ...]
    """Of its values, in their order."""

    is_archived: bool = False
    """Whether the archive answers it too."""

    @staticmethod
    @lru_cache(REMEMBERED)
    def of(text: str, *, archive: bool = False) -> "Statement":
        """Make a statement of a text with names, once.

        Raises:
            KeyError: nothing that has a number is called so.
        """
        places: dict[str, int] = {}

        def numbered(found: re.Match[str]) -> str:
            return f"${places.setdefault(found[1], len(places) + 1)}"

        text = WORD.sub(lambda found: NUMBERS[found[1]], text)
        made = Statement(NAME.sub(numbered, text), tuple(places), archive)
        STATEMENTS.add(made)
        return made

    def values(self, given: Mapping[str, object]) -> list[object]:
        """Return values in their order; one that is not named is a mistake."""
        assert given.keys() == set(self.names), (self.names, list(given))
        return [given[name] for name in self.names]

    async def fetch(
        self, connection: asyncpg.Connection, /, **values: object
    ) -> Sequence[Record]:
        """Return its rows, over a connection of the driver."""
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
        """Execute it for what it changes."""
        given = self.values(values)
        await connection.execute(self.text, *given)

    async def execute_many(
        self,
        connection: asyncpg.Connection,
        many: Iterable[Mapping[str, object]],
    ) -> None:
        """Execute it for each of many values, in one transaction."""
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
    """Make a statement that the archive answers too."""
    return Statement.of(text, archive=True)


STATEMENTS: WeakSet[Statement] = WeakSet()
"""All of them that are in use."""


def conjoined(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all of some hold.

    A name stands for one value in all of them.
    """
    texts: list[str] = []
    values: dict[str, object] = {}
    for text, own in conditions:
        assert own == {name: values.get(name, own[name]) for name in own}
        texts.append(text)
        values |= own
    return " and ".join(texts), values
