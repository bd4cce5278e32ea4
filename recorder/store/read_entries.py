"""Reading: entries in log order, filtered, page by page.

Pages follow one another by position (keyset), never by offset.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.model.reference import EntryName, ObjectIdentity
from recorder.questions.ports import Line, OnDay, Part, Selection
from recorder.store.codes import OPERATIONS, SOURCES
from recorder.store.engine import Engine, reading
from recorder.store.read_documents import Documents
from recorder.store.read_scan import (
    Scan,
    newest_query,
    page_query,
    positions_query,
)
from recorder.store.read_selection import (
    Newest,
    find_conditions,
)
from recorder.store.read_span import find_span
from recorder.store.tables import (
    QueryRow,
    entry,
)

__all__ = ["EntryReader"]

PAGE = 1000
PAGE_WITH_DOCUMENTS = 200
"""A document is bounded by etcd's 1.5 MiB; a page of Pods is about 2 MB."""


class EntryReader:
    """Reads the entries of one log up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)
        self._newest: Newest | None = None

    async def first_position(self) -> int:
        """Return the place of the oldest entry that is kept; 1 of none."""
        query = (
            select(entry.c.position)
            .where(entry.c.log_id == self._log)
            .order_by(entry.c.position)
            .limit(1)
        )
        async with reading(self._engine, "read entries") as connection:
            return await connection.scalar(query) or 1

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest ``count`` lines lie."""
        async with reading(self._engine, "read entries") as connection:
            scan = await self._scan(connection, selection, after=0)
        found: list[int] = []
        for part in () if scan is None else scan.newest_first():
            if on_day is not None and not part.conditions.indexed:
                on_day(part.span.recorded_max)
            query = positions_query(part, count + 1 - len(found))
            async with reading(self._engine, "read entries") as connection:
                found += (await connection.scalars(query)).all()
            if len(found) > count:
                break
        after = found[count] if len(found) > count else 0
        self._newest = Newest(selection, after, found[:count][::-1])
        return after

    async def lines(
        self,
        selection: Selection,
        *,
        after: int,
        parts: Part = Part.LISTED,
        limit: int | None = None,
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield lines after a position, page by page.

        Between two pages nothing is held: no transaction, no connection.
        What was walked through to find the newest is not walked through
        again.
        """
        async with reading(self._engine, "read entries") as connection:
            scan = await self._scan(connection, selection, after=after)
        if scan is None:
            return
        scans = scan.parts()
        newest = self._newest
        if newest is not None and newest[:2] == (selection, after):
            places, size = newest.positions, _limit(parts)
            scans = [
                scan.of(places[first : first + size])
                for first in range(0, len(places), size)
            ]
        for part in scans:
            async for page in self.scanned(part, parts=parts, limit=limit):
                yield page

    async def scanned(
        self,
        scan: Scan | None,
        *,
        parts: Part = Part.LISTED,
        limit: int | None = None,
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield the lines of a scan, page by page."""
        most = _limit(parts)
        limit = most if limit is None else min(limit, most)
        while scan is not None:
            async with reading(self._engine, "read entries") as connection:
                page = await self._page(
                    connection, scan, limit=limit, parts=parts
                )
            if page:
                yield page
            if len(page) < limit:
                return
            last = page[-1]
            scan = replace(
                scan,
                span=scan.span.behind(last.entry.position, last.recorded_at),
            )

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Line | None:
        """Return the newest line of a selection, with its document."""
        async with reading(self._engine, "read an object") as connection:
            scan = await self._scan(
                connection, selection, after=0, before=before
            )
            if scan is None:
                return None
            position = await connection.scalar(newest_query(scan))
            if position is None:
                return None
            at = await find_span(connection, self._log, (position, position))
            assert at is not None, "the position was found a moment ago"
            page = await self._page(
                connection,
                replace(scan, span=at),
                limit=1,
                parts=Part.OPENED,
            )
            return page[0]

    async def _scan(
        self,
        connection: AsyncConnection,
        selection: Selection,
        *,
        after: int,
        before: int | None = None,
    ) -> Scan | None:
        conditions = await find_conditions(connection, self._log, selection)
        if conditions is None:
            return None
        span = await find_span(
            connection,
            self._log,
            (after + 1, self._size if before is None else before - 1),
            since=selection.since,
            until=selection.until,
        )
        return None if span is None else Scan(span, conditions)

    async def _page(
        self,
        connection: AsyncConnection,
        scan: Scan,
        *,
        limit: int,
        parts: Part,
    ) -> list[Line]:
        query = page_query(scan, limit=limit, parts=parts)
        rows = (await connection.execute(query)).all()
        decoded = await self._documents.decode(connection, rows)
        return [
            _line(
                row,
                EntryName(self._log, row.position),
                decoded.get(row.position),
                parts,
            )
            for row in rows
        ]


def _limit(parts: Part) -> int:
    return PAGE_WITH_DOCUMENTS if Part.DOCUMENT in parts else PAGE


def _line(
    row: QueryRow, name: EntryName, raw: bytes | None, parts: Part
) -> Line:
    identity = None
    words = Part.WORDS in parts
    if Part.OBJECT in parts and row.object_id is not None:
        identity = ObjectIdentity(
            row.api_group, row.kind, row.namespace, row.name, row.uid
        )
    version = row.version
    return Line(
        entry=name,
        operation=OPERATIONS[row.operation],
        source=SOURCES[row.source],
        resource=row.resource if Part.RESOURCE in parts else None,
        identity=identity,
        resource_version=row.resource_version
        if version is None
        else str(version),
        node=row.node if Part.NODE in parts else None,
        reason=row.reason if words else None,
        actor=row.actor if words else None,
        occurred_at=row.occurred_at,
        observed_at=row.observed_at,
        recorded_at=row.recorded_at,
        raw=raw,
    )
