"""Reads entries in log order, filtered, page by page.

Each page begins after the last position of the previous one.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recorder.answers.nouns import Part, Selection
from recorder.answers.ports import OnDay
from recorder.model.columns import OBJECT
from recorder.model.entry import Entry
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import Engine, fetch, fetch_planned, reading
from recorder.store.read_documents import Documents
from recorder.store.read_scan import (
    SELECTED,
    Asked,
    Scan,
    newest_statement,
    page_statement,
    positions_statement,
)
from recorder.store.read_selection import (
    Newest,
    event_resources,
    find_conditions,
)
from recorder.store.read_span import find_span
from recorder.store.rows import entries_of
from recorder.store.statement import Record, question

PAGE = 1000
PAGE_WITH_DOCUMENTS = 200
"""A document is bounded by etcd's 1.5 MiB; a page of Pods is about 2 MB."""

ACTION = "read entries"
FIRST = question("""
    select position from recorder.entry where log_id = :log
    order by position limit 1
""")
DOCUMENTS = Part.DOCUMENT | Part.SUMMARY


class EntryReader:
    """Reads the entries of one log up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)
        self._newest: Newest | None = None

    async def first_position(self) -> int:
        """Return the position of the oldest entry; 1 if there is none."""
        rows = await fetch(self._engine, ACTION, FIRST, log=self._log)
        return rows[0][0] if rows else 1

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest ``count`` entries are."""
        scan = await self._scan(selection, after=0)
        found: list[int] = []
        for part in () if scan is None else scan.newest_first():
            if on_day is not None and not part.conditions.indexed:
                on_day(part.span.recorded_max)
            asked = positions_statement(part, count + 1 - len(found))
            rows = await self._fetch(asked, again=part.goes_by_position)
            found += [position for (position,) in rows]
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
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield entries after a position, page by page.

        Between two pages no transaction or connection is held. The newest,
        once found by `skip_to_newest`, are read by their positions.
        """
        scan = await self._scan(selection, after=after)
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
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries of a scan, page by page."""
        most = _limit(parts)
        limit = most if limit is None else min(limit, most)
        while scan is not None:
            page = await self._page(scan, limit=limit, parts=parts)
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
    ) -> Entry | None:
        """Return the newest entry of a selection, with its document."""
        scan = await self._scan(selection, after=0, before=before)
        if scan is None:
            return None
        rows = await self._fetch(newest_statement(scan))
        if not rows:
            return None
        found = scan.of([rows[0][0]])
        page = await self._page(found, limit=1, parts=Part.OPENED)
        # Its day may have been dropped in between.
        return page[0] if page else None

    async def _scan(
        self, selection: Selection, *, after: int, before: int | None = None
    ) -> Scan | None:
        conditions = await find_conditions(self._engine, self._log, selection)
        if conditions is None:
            return None
        span = await find_span(
            self._engine,
            self._log,
            (after + 1, self._size if before is None else before - 1),
            since=selection.since,
            until=selection.until,
        )
        return None if span is None else Scan(span, conditions)

    async def _page(
        self, scan: Scan, *, limit: int, parts: Part
    ) -> list[Entry]:
        events: Sequence[int] = ()
        if Part.SUMMARY in parts and Part.DOCUMENT not in parts:
            events = await event_resources(self._engine)
        statement, values = page_statement(
            scan, limit=limit, parts=parts, events=events
        )
        decoded: Mapping[int, bytes] = {}
        if parts & DOCUMENTS:
            # In one state of the log, with the keyframes of deltas.
            async with reading(self._engine, ACTION) as connection:
                rows = await connection.fetch(statement, **values)
                decoded = await self._documents.decode(connection, rows)
        else:
            rows = await self._fetch(
                (statement, values), again=scan.goes_by_position
            )
        return _entries(rows, self._log, decoded)

    async def _fetch(
        self, asked: Asked, *, again: bool = False
    ) -> Sequence[Record]:
        """Execute a statement, planned for its values unless ``again``."""
        statement, values = asked
        ask = fetch if again else fetch_planned
        return await ask(self._engine, ACTION, statement, **values)


def _limit(parts: Part) -> int:
    return PAGE_WITH_DOCUMENTS if Part.DOCUMENT in parts else PAGE


def _entries(
    rows: Sequence[Record], log: int, raws: Mapping[int, bytes]
) -> list[Entry]:
    """Return the rows of a `page_statement` as entries."""
    if not rows:
        return []
    columns: dict[str, Sequence[Any]] = dict(
        zip(SELECTED, zip(*rows, strict=True), strict=True)
    )
    things = zip(*(columns[part] for part in OBJECT), strict=True)
    columns["identity"] = [
        None if number is None else ObjectIdentity(*thing)
        for number, thing in zip(columns["object_id"], things, strict=True)
    ]
    return entries_of(log, columns, raws)
