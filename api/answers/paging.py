"""Pages of facts and entries, by keyset.

A page is read from a place on, never by counting from an end; to go back, the
log is read as it was when it ended at the cursor.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from api.context import RequestContext
from api.cursors import INDEX_MAX, Cursor, check_kept
from api.errors import PageSizeError
from api.types.coverage import Coverage
from api.types.entries import EntryConnection, EntryEdge
from api.types.facts import FactConnection, FactEdge
from api.types.pages import PageInfo
from recorder.answers.entries import (
    entry_coverage,
    find_asked,
    find_beside,
    selection_of,
)
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.nouns import Line, Part
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery, FactListQuery
from recorder.answers.references import KnownObject
from recorder.model.fact import StoredFact
from recorder.model.window import Window

__all__ = [
    "UNASKED",
    "ReadPage",
    "Page",
    "Pages",
    "entries",
    "facts",
    "page_size",
    "read_page",
]

PAGE_MAX = 500
"""Items of one page; their rendering takes about 20 ms."""

PAGE = 100

PARTS = {
    "resource": Part.RESOURCE,
    "node": Part.NODE,
    "object": Part.OBJECT,
    "reason": Part.WORDS,
    "actor": Part.WORDS,
    # An Event says its reason too.
    "says": Part.TOLD | Part.RESOURCE | Part.WORDS,
}
"""What is read of an entry for which field."""

UNASKED = Coverage.of(Window())

Item = TypeVar("Item")
Edge = TypeVar("Edge")


def page_size(count: int | None, name: str = "first") -> int:
    """Return how many are wanted.

    Raises:
        PageSizeError: it is none, or more than one answer holds.
    """
    if count is None:
        return PAGE
    if not 0 < count <= PAGE_MAX:
        msg = f"cannot use {name}: {count}: it is 1 to {PAGE_MAX}"
        raise PageSizeError(msg)
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which page is wanted, as the arguments say it."""

    size: int
    forward: bool
    after: str | None
    before: str | None

    @classmethod
    def of(
        cls,
        first: int | None,
        after: str | None,
        last: int | None,
        before: str | None,
    ) -> Self:
        """Read the arguments.

        Raises:
            PageSizeError: they do not fit together.
        """
        if first is not None and last is not None:
            msg = "cannot use first and last together: leave one out"
            raise PageSizeError(msg)
        forward = first is not None or (last is None and after is not None)
        size = page_size(first) if forward else page_size(last, "last")
        return cls(size=size, forward=forward, after=after, before=before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Generic[Item]):
    """How something is read page by page."""

    read: Callable[[Reading, int, int], AsyncIterator[Sequence[Item]]]
    """Behind a position, in log order, so many at a time."""

    newest: Callable[[Reading, int], Awaitable[int]]
    """Return a position after which at least N entries lie."""

    place: Callable[[Item], tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage(Generic[Item]):
    """A page."""

    items: Sequence[Item]
    cursor: Callable[[Item], str]
    info: PageInfo

    def edges(
        self, edge: Callable[..., Edge], nodes: Sequence[object], **more: str
    ) -> list[Edge]:
        """Return the items with their cursors."""
        return [
            edge(cursor=self.cursor(item), node=node, **more)
            for item, node in zip(self.items, nodes, strict=True)
        ]


async def read_page(
    reading: Reading, page: Page, pages: Pages[Item]
) -> ReadPage[Item]:
    """Read one page.

    The reading knew its derivation before anything is read here: where facts
    are derived anew meanwhile, the page is whole and its cursors expire.

    Raises:
        CursorError: a cursor that this log never gave.
        ExpiredCursorError: what lies behind one was pruned, or it is of facts
            that answers are no longer made from.
    """
    log = reading.log
    after = Cursor(log.id, 0)
    before = Cursor(log.id, log.size + 1, 0)
    if page.after is not None:
        after = Cursor.parse(page.after, reading)
        await check_kept(reading, after)
    if page.before is not None:
        before = Cursor.parse(page.before, reading)
    turn = _forward if page.forward else _backward
    found, more = await turn(reading, pages, (after, before), page.size)
    derived = reading.log.derivation

    def cursor(item: Item) -> str:
        return str(Cursor(log.id, *pages.place(item), derived))

    return ReadPage(
        items=found,
        cursor=cursor,
        info=PageInfo(
            has_next_page=more if page.forward else page.before is not None,
            has_previous_page=page.after is not None if page.forward else more,
            start_cursor=cursor(found[0]) if found else None,
            end_cursor=cursor(found[-1]) if found else page.after,
        ),
    )


Ends = tuple[Cursor, Cursor]


async def _forward(
    reading: Reading, pages: Pages[Item], ends: Ends, size: int
) -> tuple[list[Item], bool]:
    after, before = ends
    # The rest of an entry may lie behind a cursor within it.
    start = after.position - (after.index < INDEX_MAX)
    found: list[Item] = []
    # One more, to know whether there are more.
    async for read in pages.read(reading, start, size + 1):
        for item in read:
            place = pages.place(item)
            if place >= (before.position, before.index):
                return found, False
            if place > (after.position, after.index):
                if len(found) == size:
                    return found, True
                found.append(item)
    return found, False


async def _backward(
    reading: Reading, pages: Pages[Item], ends: Ends, size: int
) -> tuple[list[Item], bool]:
    after, before = ends
    ended = reading.as_of(min(before.position, reading.log.size))
    wanted = size + 1
    while True:
        start = await pages.newest(ended, wanted)
        start = max(start, after.position - (after.index < INDEX_MAX))
        found: deque[Item] = deque(maxlen=size + 1)
        async for read in pages.read(ended, start, wanted):
            found.extend(
                item
                for item in read
                if (after.position, after.index)
                < pages.place(item)
                < (before.position, before.index)
            )
        # Facts of the cursor's own entry were counted and left out.
        if len(found) > size or start <= after.position:
            items = list(found)
            return items[-size:], len(items) > size
        wanted *= 2


async def facts(
    asked: RequestContext,
    reading: Reading,
    question: EntryQuestion,
    page: Page,
    fields: frozenset[str],
) -> FactConnection:
    """Return one page of facts; of each what the fields need."""
    question = replace(question, facts=True)
    found = await find_asked(reading, question)
    beside = await find_beside(reading, question)
    query = FactListQuery(selection_of(question, found, beside))
    pages: Pages[StoredFact] = Pages(
        read=lambda log, after, limit: log.pages(
            query, after=after, limit=limit
        ),
        newest=lambda log, n: log.skip_to_newest(query, n),
        place=lambda fact: (fact.entry.position, fact.index),
    )
    read = await read_page(reading, page, pages)
    nodes = [*read.items]
    return FactConnection(
        edges=read.edges(FactEdge, nodes) if "edges" in fields else [],
        nodes=nodes,
        page_info=read.info,
        coverage=await _coverage(asked, reading, question, found, fields),
    )


async def entries(
    asked: RequestContext,
    reading: Reading,
    question: EntryQuestion,
    page: Page,
    fields: frozenset[str],
) -> EntryConnection:
    """Return one page of entries; of each what the fields need."""
    found = await find_asked(reading, question)
    beside = await find_beside(reading, question)
    parts = Part(0)
    for field, part in PARTS.items():
        if field in fields:
            parts |= part
    query = EntryQuery(selection_of(question, found, beside), parts)
    pages: Pages[Line] = Pages(
        read=lambda log, after, limit: log.pages(
            query, after=after, limit=limit
        ),
        newest=lambda log, n: log.skip_to_newest(query, n),
        place=lambda line: (line.entry.position, INDEX_MAX),
    )
    read = await read_page(reading, page, pages)
    nodes = [*read.items]
    return EntryConnection(
        edges=read.edges(EntryEdge, nodes, cluster=reading.log.cluster_name)
        if "edges" in fields
        else [],
        nodes=nodes,
        page_info=read.info,
        coverage=await _coverage(asked, reading, question, found, fields),
    )


async def _coverage(
    asked: RequestContext,
    reading: Reading,
    question: EntryQuestion,
    found: KnownObject | None,
    fields: frozenset[str],
) -> Coverage:
    if "coverage" not in fields:
        # Nobody looks at it, and to judge it takes as long as the page.
        return UNASKED
    return await entry_coverage(reading, question, found, now=asked.now)
