"""Reads the recorder's own entries, which have their own index.

These are closed gaps, and jumps of the recorder's clock. Open gaps are known
from the streams.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

import orjson
from msgspec.structs import replace

from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import ClockJump
from recorder.model.entry import Operation
from recorder.model.reference import EntryName
from recorder.store.codes import OPERATION_CODES, SOURCES
from recorder.store.engine import Engine, asking, fetch, reading
from recorder.store.read_documents import Documents
from recorder.store.read_scan import Asked
from recorder.store.read_selection import BY_RECORDER
from recorder.store.read_span import Span, find_span
from recorder.store.statement import Record, question

PAGE = 1000

# The least operation of the recorder is a literal, so that the planner can
# prove that the partial index `entry_by_gap` has all such entries.
FEW = question(f"""
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


def own_entries_statement(span: Span, operation: Operation) -> Asked:
    """Select a page of the recorder's own entries of one operation."""
    where, values = span.holds()
    statement = question(f"""
    select page.*, r.name as resource from (
      select e.position, e.recorded_at, e.observed_at, e.operation, e.source,
        e.resource_id, e.base_distance, e.encoding, e.payload
      from recorder.entry e
      where {where} and {BY_RECORDER} and e.operation = :operation
      order by e.position limit {PAGE}) page
    left join recorder.resource r on r.resource_id = page.resource_id
    order by page.position
    """)
    return statement, {**values, "operation": OPERATION_CODES[operation]}


class GapReader:
    """Reads the recorder's own entries in one log, up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)
        self._asked = False
        self._few: Sequence[tuple[Record, bytes]] | None = None

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""
        async for row, document in self._own(Operation.GAP_CLOSED, since):
            gap = Gap.from_closed(
                document, source=SOURCES[row.source], resource=row.resource
            )
            if since is None or gap.until is None or gap.until > since:
                # Its document may have the number in another database.
                opened = EntryName(self._log, gap.opened.position)
                yield replace(gap, opened=opened)

    async def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""
        async for row, document in self._own(Operation.CLOCK_JUMPED, None):
            yield ClockJump(
                EntryName(self._log, row.position),
                row.observed_at,
                orjson.loads(document)["seconds"],
            )

    async def _own(
        self, operation: Operation, since: datetime | None
    ) -> AsyncIterator[tuple[Record, bytes]]:
        few = await self._all()
        if few is None:
            async for one in self._paged(operation, since):
                yield one
            return
        for one in few:
            if one[0].operation == OPERATION_CODES[operation]:
                yield one

    async def _all(self) -> Sequence[tuple[Record, bytes]] | None:
        """Return all own entries if there are few; they are read once."""
        if not self._asked:
            rows = await fetch(
                self._engine, "read gaps", FEW, log=self._log, size=self._size
            )
            if len(rows) < PAGE:
                self._few = await self._decoded(rows)
            self._asked = True
        return self._few

    async def _decoded(
        self, rows: Sequence[Record]
    ) -> Sequence[tuple[Record, bytes]]:
        if not rows:
            return []
        async with asking(self._engine, "read gaps") as connection:
            found = await self._documents.decode(connection, rows)
        return [(row, found[row.position]) for row in rows]

    async def _paged(
        self, operation: Operation, since: datetime | None
    ) -> AsyncIterator[tuple[Record, bytes]]:
        span = await find_span(
            self._engine, self._log, (1, self._size), since=since
        )
        while span is not None:
            async with reading(self._engine, "read gaps") as connection:
                statement, values = own_entries_statement(span, operation)
                rows = await connection.fetch(statement, **values)
                documents = await self._documents.decode(connection, rows)
            for row in rows:
                yield row, documents[row.position]
            if len(rows) < PAGE:
                return
            last = rows[-1]
            span = span.behind(last.position, last.recorded_at)
