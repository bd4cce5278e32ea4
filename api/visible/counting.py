"""Where the newest of what a reader may see begin.

A limit counts what is seen. Were hidden entries counted, a filter by actor,
reason or time and a small limit would tell how many there are.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from recorder.model.fact import StoredFact
from recorder.questions.ports import Line

__all__ = ["newest_seen"]

Pages = AsyncIterator[Sequence[Line]] | AsyncIterator[Sequence[StoredFact]]


async def newest_seen(
    newest: Callable[[int], Awaitable[int]],
    behind: Callable[[int], Pages],
    count: int,
) -> int:
    """Return a position after which the newest of what is seen lie.

    Zero where no more than these are seen.

    Args:
        newest: returns where so many begin, hidden ones among them.
        behind: yields what is seen behind a position.
        count: how many are wanted.
    """
    wanted = count + 1
    while True:
        after = await newest(wanted)
        places: deque[int] = deque(maxlen=count + 1)
        async for page in behind(after):
            places.extend(one.entry.position for one in page)
        if len(places) > count:
            return places[0]
        if not after:
            return 0
        wanted *= 2
