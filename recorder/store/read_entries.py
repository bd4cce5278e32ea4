"""Reading: entries in log order, filtered, page by page.

A page is found by position first and only then joined with the names that
stand for its numbers, so that the size of the dimension tables does not
matter. Pages follow one another by position (keyset), never by offset.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import CTE, ColumnElement, case, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from recorder.model.reference import EntryName, ObjectIdentity
from recorder.questions.ports import Line, OnDay, Selection
from recorder.store.codes import OPERATIONS, SOURCES
from recorder.store.engine import reading
from recorder.store.read_documents import Documents
from recorder.store.read_selection import (
    Conditions,
    Newest,
    find_conditions,
    told_by_recorder,
)
from recorder.store.read_span import Span, find_span
from recorder.store.tables import (
    Query,
    QueryRow,
    entry,
    kind,
    node,
    object_,
    resource,
    word,
)

__all__ = [
    "EntryReader",
    "Scan",
    "newest_query",
    "page_query",
    "positions_query",
]

PAGE = 1000
PAGE_WITH_DOCUMENTS = 200
"""A document is bounded by etcd's 1.5 MiB; a page of Pods is about 2 MB."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The log, the window and the filters to read."""

    span: Span
    conditions: Conditions

    def parts(self) -> Sequence["Scan"]:
        """Return the spans to scan, one per statement, oldest first.

        A walk through the whole log would take longer than it may.
        """
        if self.conditions.indexed:
            return [self]
        return [replace(self, span=day) for day in self.span.days()]

    def newest_first(self) -> Iterator["Scan"]:
        """Yield the spans to scan for the newest, one per statement."""
        if self.conditions.indexed:
            spans = self.span.widening()
        else:
            spans = reversed(self.span.days())
        for span in spans:
            yield replace(self, span=span)

    def of(self, positions: Sequence[int]) -> "Scan":
        """Look for entries that were found before."""
        named = replace(
            self.conditions,
            asked=(entry.c.position.in_(positions),),
            indexed=True,
        )
        return replace(self, conditions=named)


def page_query(scan: Scan, *, limit: int, documents: bool) -> Query:
    """Select one page of lines, with the names of what they refer to."""
    payload: ColumnElement[bytes] = entry.c.payload
    if not documents:
        # Of the others nobody needs the document to tell what they say.
        needed = or_(
            told_by_recorder(),
            entry.c.resource_id.in_(scan.conditions.events),
        )
        payload = case((needed, entry.c.payload)).label("payload")
    columns = [column for column in entry.c if column.name != "payload"]
    page = (
        select(*columns, payload)
        .where(scan.span.holds(), *scan.conditions.asked)
        .order_by(entry.c.position)
        .limit(limit)
        .subquery("page")
    )
    reason, actor = word.alias("reason"), word.alias("actor")
    return (
        select(
            page,
            resource.c.name.label("resource"),
            node.c.name.label("node"),
            reason.c.text.label("reason"),
            actor.c.text.label("actor"),
            kind.c.api_group,
            kind.c.name.label("kind"),
            object_.c.namespace,
            object_.c.name,
            object_.c.uid,
        )
        .select_from(page)
        .outerjoin(resource, resource.c.resource_id == page.c.resource_id)
        .outerjoin(node, node.c.node_id == page.c.node_id)
        .outerjoin(reason, reason.c.word_id == page.c.reason_id)
        .outerjoin(actor, actor.c.word_id == page.c.actor_id)
        .outerjoin(object_, object_.c.object_id == page.c.object_id)
        .outerjoin(kind, kind.c.kind_id == object_.c.kind_id)
        .order_by(page.c.position)
    )


def positions_query(scan: Scan, count: int) -> Query:
    """Select the newest positions of a selection, newest first.

    What is found is put in order afterwards, not looked for backwards by the
    position for a limit that may never be reached.
    """
    if not (scan.conditions.indexed or scan.conditions.narrows):
        return (
            select(entry.c.position)
            .where(scan.span.holds(), *scan.conditions.asked)
            .order_by(entry.c.position.desc())
            .limit(count)
        )
    matches = _matches(scan)
    return (
        select(matches.c.position)
        .order_by(matches.c.position.desc())
        .limit(count)
    )


def _matches(scan: Scan) -> CTE:
    return (
        select(entry.c.position)
        .where(scan.span.holds(), *scan.conditions.asked)
        .cte("matches")
        .prefix_with("materialized")
    )


def newest_query(scan: Scan) -> Query:
    """Select the newest position of a selection.

    The matches are materialized first: with a limit of one the planner would
    hope to meet one soon when it walks back through the whole log.
    """
    matches = _matches(scan)
    return (
        select(matches.c.position).order_by(matches.c.position.desc()).limit(1)
    )


class EntryReader:
    """Reads the entries of one log up to a size."""

    def __init__(self, engine: AsyncEngine, log: int, size: int) -> None:
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
        self, selection: Selection, *, after: int, documents: bool
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
            places, limit = newest.positions, _limit(documents=documents)
            scans = [
                scan.of(places[first : first + limit])
                for first in range(0, len(places), limit)
            ]
        for part in scans:
            async for page in self.scanned(part, documents=documents):
                yield page

    async def scanned(
        self, scan: Scan | None, *, documents: bool
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield the lines of a scan, page by page."""
        limit = _limit(documents=documents)
        while scan is not None:
            async with reading(self._engine, "read entries") as connection:
                page = await self._page(
                    connection, scan, limit=limit, documents=documents
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
                documents=True,
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
        documents: bool,
    ) -> list[Line]:
        query = page_query(scan, limit=limit, documents=documents)
        rows = (await connection.execute(query)).all()
        decoded = await self._documents.decode(connection, rows)
        return [_line(row, decoded.get(row.position)) for row in rows]


def _limit(*, documents: bool) -> int:
    return PAGE_WITH_DOCUMENTS if documents else PAGE


def _line(row: QueryRow, raw: bytes | None) -> Line:
    identity = None
    if row.object_id is not None:
        identity = ObjectIdentity(
            row.api_group, row.kind, row.namespace, row.name, row.uid
        )
    version = row.version
    return Line(
        entry=EntryName(row.log_id, row.position),
        operation=OPERATIONS[row.operation],
        source=SOURCES[row.source],
        resource=row.resource,
        identity=identity,
        resource_version=row.resource_version
        if version is None
        else str(version),
        node=row.node,
        reason=row.reason,
        actor=row.actor,
        occurred_at=row.occurred_at,
        observed_at=row.observed_at,
        recorded_at=row.recorded_at,
        raw=raw,
    )
