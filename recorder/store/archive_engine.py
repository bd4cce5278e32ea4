"""The archive where the readers expect PostgreSQL.

It is asked the statements that they ask, so that nothing is worded twice.
Statements run in threads: each reads files.
"""

import asyncio
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, cast

from recorder.store.archive_dialect import translated
from recorder.store.engine import STATEMENT_TIMEOUT
from recorder.store.statement import Record, Statement

__all__ = ["ArchiveEngine", "Asked"]

Row = tuple[Any, ...]


class Asked(Protocol):
    """What takes a statement in the words of DuckDB."""

    def ask(
        self, text: str, given: Sequence[object], seconds: float
    ) -> tuple[tuple[str, ...], Sequence[Row]]:
        """Return the columns and the rows."""


class ArchiveEngine:
    """Answers statements in a database's place."""

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
    """Return what makes a row of which the columns are attributes."""
    made: Callable[..., Row] = namedtuple("Row", names, rename=True)  # type: ignore[misc] # noqa: PYI024
    return made
