"""Merging what two halves of a log hold, in its order, each thing once."""

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

__all__ = ["each_once", "merged", "related", "union"]

Item = TypeVar("Item")
AskFacts = Callable[[FactQuery], Awaitable[Sequence[StoredFact]]]

ROUNDS_MAX = 4
"""Steps from one half to the other, as between Pods and what owns them."""

Place = tuple[int, int]
"""Where something is in a log: an entry, and which of its facts."""


def place(stored: StoredFact) -> tuple[int, int]:
    """Return the place of a fact in its log."""
    return stored.entry.position, stored.index


def union(*parts: Sequence[StoredFact]) -> Sequence[StoredFact]:
    """Return facts in the order of the log, each once, of the first part."""
    some = [part for part in parts if part]
    if len(some) < 2:  # noqa: PLR2004 - nothing to merge
        return [*some[0]] if some else []
    return once(sorted((s for p in some for s in p), key=place), place)


async def related(
    query: FactQuery, hot: AskFacts, cold: AskFacts
) -> Sequence[StoredFact]:
    """Ask both halves, and again for what only one of them knew."""
    found: Sequence[StoredFact] = ()
    asked, known = {*query.uids}, {*query.uids}
    for _ in range(ROUNDS_MAX):
        again = replace(query, uids=asked)
        halves = [await hot(again), await cold(again)]
        found = union(*halves, found)
        uids = [_uids(half) for half in halves]
        # What both halves know both have followed.
        asked = (uids[0] ^ uids[1]) - known
        known |= uids[0] | uids[1]
        if not asked:
            break
    return found


def _uids(facts: Sequence[StoredFact]) -> set[str]:
    """Return the UIDs of the objects of facts."""
    named = (stored.fact.object for stored in facts)
    return {one.uid for one in named if one is not None and one.uid}


async def each_once(
    halves: Iterable[AsyncIterator[Item]], key: Callable[[Item], Hashable]
) -> AsyncIterator[Item]:
    """Yield the items of one half after the other, each once."""
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
    """Yield pages of two sources, both in order, as pages in order.

    What both have is the first one's. Not more than a page of each is held.
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
    """Pages of one half, and what is held of them."""

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
