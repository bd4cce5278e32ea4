"""Facts of a log to be listed, as far as a reader may see them."""

from collections.abc import AsyncIterator, Sequence

from api.visible.counting import newest_seen
from api.visible.sight import Sight
from recorder.model.fact import StoredFact
from recorder.questions.ports import FactPages, OnDay, Selection

__all__ = ["VisibleFactPages"]


class VisibleFactPages:
    """Satisfies the port `FactPages`."""

    def __init__(self, pages: FactPages, sight: Sight) -> None:
        self._pages = pages
        self._sight = sight

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return a position behind which about the newest facts lie.

        Of those that may be seen: hidden ones are neither counted nor told.
        """
        return await newest_seen(
            lambda n: self._pages.skip_to_newest(selection, n, on_day=on_day),
            lambda after: self.pages(selection, after=after),
            count,
        )

    async def pages(
        self, selection: Selection, *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Yield facts behind a position, page by page; none is empty."""
        async for page in self._pages.pages(
            selection, after=after, limit=limit
        ):
            if seen := await self._sight.facts(page):
                yield seen
