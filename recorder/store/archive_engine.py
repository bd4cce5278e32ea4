"""The archive where the readers expect PostgreSQL.

It is asked the statements that they ask, so that nothing is worded twice.
Statements run in threads: each reads files.
"""

import asyncio
from collections import namedtuple
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, Protocol, cast

from sqlalchemy import ClauseElement
from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.store.archive_dialect import translated
from recorder.store.engine import STATEMENT_TIMEOUT, Record
from recorder.store.statement import Statement

__all__ = ["ArchiveEngine", "Asked"]

DIALECT = dialect()  # type: ignore[no-untyped-call]

Row = tuple[Any, ...]


class Asked(Protocol):
    """What takes a statement in the words of DuckDB."""

    def ask(
        self, text: str, given: Sequence[object], seconds: float
    ) -> tuple[tuple[str, ...], Sequence[Row]]:
        """Return the columns and the rows."""


class ArchiveEngine:
    """Asks the archive; satisfies the port `Elsewhere` of the engine."""

    def __init__(self, tables: Asked) -> None:
        self._tables = tables

    async def fetch(
        self,
        action: str,  # noqa: ARG002 - its errors name the file
        statement: Statement,
        given: Sequence[object],
    ) -> Sequence[Record]:
        """Ask one statement."""
        rows = await self._ask(statement.text, given)
        return cast("Sequence[Record]", rows)

    @asynccontextmanager
    async def opened(
        self,
        action: str,  # noqa: ARG002 - likewise
    ) -> AsyncIterator[AsyncConnection]:
        """Yield what runs statements of SQLAlchemy."""
        yield cast("AsyncConnection", _Connection(self._ask))

    async def _ask(
        self, text: str, given: Sequence[object]
    ) -> Sequence[tuple[Any, ...]]:
        names, rows = await asyncio.to_thread(
            self._tables.ask,
            translated(text),
            given,
            STATEMENT_TIMEOUT.total_seconds(),
        )
        made = _row_of(names)
        return [made(*row) for row in rows]


class _Connection:
    """Executes as a connection of SQLAlchemy does."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    async def execute(
        self, query: ClauseElement, given: dict[str, object] | None = None
    ) -> "_Result":
        compiled = query.compile(
            dialect=DIALECT, compile_kwargs={"render_postcompile": True}
        )
        values = compiled.construct_params(given) or {}
        names: Sequence[str] = getattr(compiled, "positiontup", None) or ()
        rows = await self._ask(str(compiled), [values[name] for name in names])
        return _Result(rows)

    async def scalar(
        self, query: ClauseElement, given: dict[str, object] | None = None
    ) -> object:
        row = (await self.execute(query, given)).first()
        return None if row is None else row[0]

    async def scalars(self, query: ClauseElement) -> "_Result":
        rows = (await self.execute(query)).all()
        return _Result([row[0] for row in rows])


class _Result:
    """Rows, as they are asked for."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> Sequence[Any]:
        return self._rows

    def first(self) -> Any:
        return self._rows[0] if self._rows else None

    def one(self) -> Any:
        (row,) = self._rows
        return row


@lru_cache(maxsize=256)
def _row_of(names: tuple[str, ...]) -> Callable[..., Row]:
    """Return what makes a row of which the columns are attributes."""
    made: Callable[..., Row] = namedtuple("Row", names, rename=True)  # type: ignore[misc] # noqa: PYI024
    return made
