"""Pages of lists, by keyset: of one log, or of a fleet merged by time.

A single log is a fleet of one. Up to a whole page is read of each log, and the
parts are merged behind one cursor. A part is read from a place on, never by
counting from an end; backward, the log is read as it was when it ended at the
cursor.
"""

import heapq
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, Self, TypeVar

from api.resolvers.cursors import (
    BEGIN,
    Cursor,
    Order,
    Spot,
    check_kept,
    read_to,
    spot_at,
)
from api.resolvers.types.pages import PageInfo
from recorder.answers.ports import Reading
from recorder.model.errors import ConfigError

PAGE_MAX = 500
"""Items of one page; their rendering takes about 20 ms."""

PAGE = 100

Node = TypeVar("Node")


def page_size(count: int | None, name: str = "first") -> int:
    """Return the number of items of a page, with its default.

    Raises:
        ConfigError: it is not positive, or too large.
    """
    if count is None:
        return PAGE
    if not 0 < count <= PAGE_MAX:
        msg = f"cannot use {name}: {count}: it is 1 to {PAGE_MAX}"
        raise ConfigError(msg, code="question.first")
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page that the arguments request."""

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
            ConfigError: they cannot be used together, or a size is invalid.
        """
        if first is not None and last is not None:
            msg = "cannot use first and last together: leave one out"
            raise ConfigError(msg, code="question.first")
        forward = first is not None or (last is None and after is not None)
        size = page_size(first) if forward else page_size(last, "last")
        return cls(size=size, forward=forward, after=after, before=before)


class Item(NamedTuple, Generic[Node]):
    """An item of one log."""

    at: datetime
    """The time by which it is merged with the items of other logs."""

    spot: Spot
    node: Node


@dataclass(frozen=True, slots=True)
class Part(Generic[Node]):
    """The items of one log for a page, at most the size of the page."""

    items: Sequence[Item[Node]]
    """In the order of the log."""

    more: bool
    """Whether the log has more in the direction of the page."""

    derivation: int | None = None
    """The derivation of the facts in it."""


class Bounds(NamedTuple):
    """The range of a log to read, exclusive; None is unbounded."""

    after: Spot | None
    before: Spot | None

    def has(self, spot: Spot) -> bool:
        """Return whether a spot is between them."""
        return (self.after is None or spot > self.after) and (
            self.before is None or spot < self.before
        )


class Turn:
    """The requested page of one log or of a fleet, with its cursors."""

    def __init__(
        self, order: Order, page: Page, *, fleet: bool = False
    ) -> None:
        """Read the cursors of a page.

        Raises:
            CursorError: the log or the fleet did not issue one of them.
        """

        def read(text: str | None) -> Cursor | None:
            if text is None:
                return None
            return Cursor.parse(text, order, fleet=fleet)

        self.order = order
        self.page = page
        self.fleet = fleet
        self.after = read(page.after)
        self.before = read(page.before)

    def bounds(self, log: str) -> Bounds:
        """Return the range of a log to read.

        A log that is not in a cursor was away or did not exist: it is read
        from its beginning, or from its end.
        """
        after = self.after.spots.get(log) if self.after else None
        before = self.before.spots.get(log) if self.before else None
        if before is not None and self.before and self.before.log != log:
            # The item there comes before that of the cursor.
            before = before[0], before[1] + 1
        return Bounds(None if after == BEGIN else after, before)

    def checked(self, reading: Reading) -> Bounds:
        """Return the range of a log to read, after checking its cursors.

        Raises:
            CursorError: a cursor is of another log, or beyond the end.
            ExpiredCursorError: a cursor is of facts that were replaced by a
                later derivation.
        """
        for cursor in (self.after, self.before):
            if cursor is not None:
                cursor.check(reading)
        return self.bounds(str(reading.log.id))


@dataclass(frozen=True, slots=True)
class ReadPage(Generic[Node]):
    """A page."""

    turn: Turn
    items: Sequence[tuple[str, Item[Node]]]
    """Each with its log."""

    begun: Mapping[str, Spot]
    """How far each log was read at the beginning of the page."""

    more: bool
    derivation: int | None

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the items."""
        return [item.node for _, item in self.items]

    def rows(self) -> Iterator[tuple[str, str, Node]]:
        """Yield the cursor, the log and the node of each item."""
        spots = {**self.begun}
        for log, item in self.items:
            spots[log] = item.spot
            yield self._cursor(log, spots), log, item.node

    @property
    def info(self) -> PageInfo:
        """The GraphQL `PageInfo`."""
        page, items = self.turn.page, self.items
        start, end = None, page.after
        if items:
            (first, item), (last, _) = items[0], items[-1]
            start = self._cursor(first, {**self.begun, first: item.spot})
            read = {log: item.spot for log, item in items}
            end = self._cursor(last, {**self.begun, **read})
        before = page.before is not None
        return PageInfo(
            has_next_page=self.more if page.forward else before,
            has_previous_page=page.after is not None
            if page.forward
            else self.more,
            start_cursor=start,
            end_cursor=end,
        )

    def _cursor(self, log: str, spots: Mapping[str, Spot]) -> str:
        turn = self.turn
        return str(Cursor(turn.order, log, spots, self.derivation, turn.fleet))


def merged(turn: Turn, parts: Mapping[str, Part[Node]]) -> ReadPage[Node]:
    """Merge the parts of logs to a page, in order of time or of a sort key.

    The items of one log keep their order. Logs that are away keep their places
    in the cursors.
    """
    page, forward = turn.page, turn.page.forward
    tagged = [
        [(log, item) for item in (p.items if forward else reversed(p.items))]
        for log, p in parts.items()
    ]

    def rank(one: tuple[str, Item[Node]]) -> tuple[int, str]:
        log, item = one
        if turn.order is Order.ENTRIES:
            return spot_at(item.at, 0)[0], log
        return item.spot[0], log

    order = heapq.merge(*tagged, key=rank, reverse=not forward)
    found = [one for _, one in zip(range(page.size), order, strict=False)]
    shown = found if forward else found[::-1]
    return ReadPage(
        turn=turn,
        items=shown,
        begun=_begun(turn, parts, shown),
        more=any(p.more for p in parts.values())
        or len(shown) < sum(len(p.items) for p in parts.values()),
        derivation=next((p.derivation for p in parts.values()), None),
    )


def _begun(
    turn: Turn,
    parts: Mapping[str, Part[Node]],
    shown: Sequence[tuple[str, Item[Node]]],
) -> Mapping[str, Spot]:
    """Return how far each log was read at the beginning of a page."""
    if turn.page.forward:
        known = turn.after.spots if turn.after else {}
        return {**dict.fromkeys(parts, BEGIN), **known}
    begun: dict[str, Spot] = {}
    if turn.before:
        own = turn.before.log
        begun = {**turn.before.spots, own: _before(turn.before.spots[own])}
    for log, part in parts.items():
        first = next((item for of, item in shown if of == log), None)
        if first is not None:
            begun[log] = _before(first.spot)
        elif part.items:
            begun[log] = part.items[-1].spot
        else:
            begun.setdefault(log, BEGIN)
    return begun


def _before(spot: Spot) -> Spot:
    return spot[0], max(spot[1] - 1, 0)


def cut(bounds: Bounds, items: Iterable[Item[Node]], page: Page) -> Part[Node]:
    """Return the part of a page from all items of a log, in its order."""
    within = [one for one in items if bounds.has(one.spot)]
    shown = within[: page.size] if page.forward else within[-page.size :]
    return Part(shown, len(within) > len(shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Generic[Node]):
    """How the items of a log are read, in the order of its entries."""

    read: Callable[[Reading, int, int], AsyncIterator[Sequence[Node]]]
    """Reads pages of the reading, after a position, of a size."""

    newest: Callable[[Reading, int], Awaitable[int]]
    """Returns a position with at least N entries after it."""

    item: Callable[[Node], Item[Node]]


async def read_part(
    reading: Reading, turn: Turn, pages: Pages[Node]
) -> Part[Node]:
    """Read the part of one log.

    The derivation was read before the items: if facts are derived again
    meanwhile, the part is complete and its cursors expire.

    Raises:
        CursorError: this log did not issue a cursor.
        ExpiredCursorError: what follows a cursor was pruned, or its facts
            were replaced by a later derivation.
    """
    bounds = turn.checked(reading)
    if bounds.after is not None:
        await check_kept(reading, bounds.after)
    read = _forward if turn.page.forward else _backward
    found, more = await read(reading, pages, bounds, turn.page.size)
    return Part(found, more, reading.log.derivation)


async def _forward(
    reading: Reading, pages: Pages[Node], bounds: Bounds, size: int
) -> tuple[list[Item[Node]], bool]:
    after, before = bounds
    # A spot within an entry may be followed by more of that entry.
    start = read_to(after) if after else 0
    found: list[Item[Node]] = []
    # One more, to know whether there are more.
    async for read in pages.read(reading, start, size + 1):
        for node in read:
            item = pages.item(node)
            if before is not None and item.spot >= before:
                return found, False
            if after is None or item.spot > after:
                if len(found) == size:
                    return found, True
                found.append(item)
    return found, False


async def _backward(
    reading: Reading, pages: Pages[Node], bounds: Bounds, size: int
) -> tuple[list[Item[Node]], bool]:
    after, before = bounds
    end = reading.log.size
    ended = reading.as_of(min(before[0], end) if before else end)
    first = read_to(after) if after else 0
    wanted = size + 1
    while True:
        start = max(await pages.newest(ended, wanted), first)
        found: deque[Item[Node]] = deque(maxlen=size + 1)
        async for read in pages.read(ended, start, wanted):
            items = map(pages.item, read)
            found.extend(one for one in items if bounds.has(one.spot))
        # Facts of the cursor's own entry were counted and left out.
        if len(found) > size or start <= (after[0] if after else 0):
            return [*found][-size:], len(found) > size
        wanted *= 2
