"""Facts of both halves of a log, to be listed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from recorder.model.fact import StoredFact
from recorder.questions.ports import FactPages, OnDay, Reading, Selection
from recorder.questions.spanning.merging import (
    merged,
    newest_after,
    place,
)

__all__ = ["SpanningPages"]

Cold = Callable[[], Reading | None]
"""Returns the days of the archive that are open, if there are any."""


class SpanningPages:
    """Lists facts; satisfies the port `FactPages`."""

    def __init__(
        self,
        hot: FactPages,
        cold: Cold,
        last_position: int,
        place: Callable[[], Awaitable[None]],
    ) -> None:
        """Take both halves; ``place`` opens the day of a single entry."""
        self._hot = hot
        self._cold = cold
        self._last = last_position
        self._place = place

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return a position behind which about the newest facts lie."""
        after = await self._hot.skip_to_newest(selection, count, on_day=on_day)
        cold = self._cold()
        if cold is None or after >= self._last:
            return after
        old = await cold.fact_pages.skip_to_newest(
            selection, count, on_day=on_day
        )
        after = max(after, old)
        pages = self.pages(selection, after=after)
        return await newest_after(pages, after, count)

    async def pages(
        self, selection: Selection, *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Yield facts behind a position, in pages of the limit at most."""
        if after < self._last:
            await self._place()
        cold = self._cold()
        pages = self._hot.pages(selection, after=after, limit=limit)
        if cold is not None and after < self._last:
            older = cold.fact_pages.pages(selection, after=after, limit=limit)
            pages = merged(pages, older, place)
        async for page in pages:
            yield page
