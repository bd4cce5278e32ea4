"""Reading: what the recorder says about itself, through an index of its own.

Gaps that are still open are known from the streams; here are those that were
closed, and the jumps of the recorder's clock.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

import orjson
from sqlalchemy import Subquery, select

from recorder.coverage.hole import Gap
from recorder.coverage.ports import ClockJump
from recorder.model.entry import Operation
from recorder.model.reference import EntryName
from recorder.store.codes import OPERATION_CODES, SOURCES
from recorder.store.engine import Engine, Record, asking, fetch, reading
from recorder.store.read_documents import Documents
from recorder.store.read_selection import told_by_recorder
from recorder.store.read_span import Span, find_span
from recorder.store.statement import Statement
from recorder.store.tables import Query, QueryRow, entry, resource

__all__ = ["GapReader", "told_query"]

PAGE = 1000

Told: TypeAlias = QueryRow | Record

COLUMNS = (
    entry.c.position,
    entry.c.recorded_at,
    entry.c.observed_at,
    entry.c.operation,
    entry.c.source,
    entry.c.resource_id,
    entry.c.base_distance,
    entry.c.encoding,
    entry.c.payload,
)


# The first of what the recorder tells is a literal, so that the planner can
# prove that the partial index `entry_by_gap` holds every such entry.
FEW = Statement.of(f"""
    select page.*, r.name as resource from (
      select position, recorded_at, observed_at, operation, source,
        resource_id, base_distance, encoding, payload
      from recorder.entry
      where log_id = :log and position <= :size and operation >= #refused
        and operation in (#gap-closed, #clock-jumped)
      order by position limit {PAGE}) page
    left join recorder.resource r on r.resource_id = page.resource_id
    order by page.position
""")


def told_query(span: Span, operation: Operation) -> Query:
    """Select a page of the recorder's own entries of one operation."""
    page = (
        select(*COLUMNS)
        .where(
            span.holds(),
            told_by_recorder(),
            entry.c.operation == OPERATION_CODES[operation],
        )
        .order_by(entry.c.position)
        .limit(PAGE)
        .subquery("page")
    )
    return _with_resource(page)


def _with_resource(page: Subquery) -> Query:
    return (
        select(page, resource.c.name.label("resource"))
        .outerjoin_from(
            page, resource, resource.c.resource_id == page.c.resource_id
        )
        .order_by(page.c.position)
    )


class GapReader:
    """Reads the recorder's own entries in one log, up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)
        self._asked = False
        self._few: Sequence[tuple[Told, bytes]] | None = None

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        async for row, document in self._told(Operation.GAP_CLOSED, since):
            gap = Gap.from_closed(
                document, source=SOURCES[row.source], resource=row.resource
            )
            if since is None or gap.until is None or gap.until > since:
                # Its document was written where the log lies.
                opened = EntryName(self._log, gap.opened.position)
                yield replace(gap, opened=opened)

    async def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        async for row, document in self._told(Operation.CLOCK_JUMPED, None):
            yield ClockJump(
                EntryName(self._log, row.position),
                row.observed_at,
                orjson.loads(document)["seconds"],
            )

    async def _told(
        self, operation: Operation, since: datetime | None
    ) -> AsyncIterator[tuple[Told, bytes]]:
        few = await self._all()
        if few is None:
            async for told in self._paged(operation, since):
                yield told
            return
        for told in few:
            if told[0].operation == OPERATION_CODES[operation]:
                yield told

    async def _all(self) -> Sequence[tuple[Told, bytes]] | None:
        """Return all of them, if there are few; they are read once."""
        if not self._asked:
            rows = await fetch(
                self._engine, "read gaps", FEW, log=self._log, size=self._size
            )
            if len(rows) < PAGE:
                self._few = await self._decoded(rows)
            self._asked = True
        return self._few

    async def _decoded(
        self, rows: Sequence[Told]
    ) -> Sequence[tuple[Told, bytes]]:
        if not rows:
            return []
        async with asking(self._engine, "read gaps") as connection:
            found = await self._documents.decode(connection, rows)
        return [(row, found[row.position]) for row in rows]

    async def _paged(
        self, operation: Operation, since: datetime | None
    ) -> AsyncIterator[tuple[Told, bytes]]:
        async with reading(self._engine, "read gaps") as connection:
            span = await find_span(
                connection, self._log, (1, self._size), since=since
            )
        while span is not None:
            async with reading(self._engine, "read gaps") as connection:
                rows = (
                    await connection.execute(told_query(span, operation))
                ).all()
                documents = await self._documents.decode(connection, rows)
            for row in rows:
                yield row, documents[row.position]
            if len(rows) < PAGE:
                return
            last = rows[-1]
            span = span.behind(last.position, last.recorded_at)
