"""Merging two halves of a log, in log order, each item once."""

from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Hashable,
    Iterable,
    Sequence,
)
from dataclasses import replace
from typing import Generic, TypeVar

from recorder.answers.queries import FactQuery, once
from recorder.model.fact import StoredFact

Item = TypeVar("Item")
AskFacts = Callable[[FactQuery], Awaitable[Sequence[StoredFact]]]

ROUNDS_MAX = 4
"""Rounds of queries to both halves, to follow owners of Pods."""

Place = tuple[int, int]
"""Position of an entry, and index of the fact."""


def place(stored: StoredFact) -> tuple[int, int]:
    """Return the place of a fact in the log."""
    return stored.entry.position, stored.index


def union(*parts: Sequence[StoredFact]) -> Sequence[StoredFact]:
    """Return facts in log order, each once; the first part wins."""
    some = [part for part in parts if part]
    if len(some) < 2:  # noqa: PLR2004 - nothing to merge
        return [*some[0]] if some else []
    return once(sorted((s for p in some for s in p), key=place), place)


async def related(
    query: FactQuery, hot: AskFacts, cold: AskFacts
) -> Sequence[StoredFact]:
    """Query both halves, and again for objects that only one of them has."""
    found: Sequence[StoredFact] = ()
    asked, known = {*query.uids}, {*query.uids}
    for _ in range(ROUNDS_MAX):
        again = replace(query, uids=asked)
        halves = [await hot(again), await cold(again)]
        found = union(*halves, found)
        uids = [_uids(half) for half in halves]
        # Both halves have followed the objects that both have.
        asked = (uids[0] ^ uids[1]) - known
        known |= uids[0] | uids[1]
        if not asked:
            break
    return found


def _uids(facts: Sequence[StoredFact]) -> set[str]:
    """Return the UIDs of objects in facts."""
    named = (stored.fact.object for stored in facts)
    return {one.uid for one in named if one is not None and one.uid}


async def each_once(
    halves: Iterable[AsyncIterator[Item]], key: Callable[[Item], Hashable]
) -> AsyncIterator[Item]:
    """Yield the items of each half in turn, each item once."""
    known = set()
    for half in halves:
        async for item in half:
            if key(item) not in known:
                known.add(key(item))
                yield item


async def merged(
    first: AsyncIterator[Sequence[Item]],
    second: AsyncIterator[Sequence[Item]],
    key: Callable[[Item], Place],
) -> AsyncIterator[Sequence[Item]]:
    """Merge the pages of two ordered sources into ordered pages.

    The first source wins for items in both. At most one page of each is in
    memory.
    """
    sources = [_Source(first), _Source(second)]
    while True:
        for source in sources:
            await source.fill()
        ends = [key(s.held[-1]) for s in sources if s.held and not s.over]
        if not any(source.held for source in sources):
            return
        end = min(ends, default=None)
        taken: list[Item] = []
        for source in sources:
            while source.held and (end is None or key(source.held[0]) <= end):
                taken.append(source.held.popleft())
        page = once(sorted(taken, key=key), key)
        if page:
            yield page


class _Source(Generic[Item]):
    """Pages of one half, and the items that were read but not returned."""

    def __init__(self, pages: AsyncIterator[Sequence[Item]]) -> None:
        self._pages = pages
        self.held: deque[Item] = deque()
        self.over = False

    async def fill(self) -> None:
        while not self.held and not self.over:
            page = await anext(self._pages, None)
            if page is None:
                self.over = True
            else:
                self.held.extend(page)
