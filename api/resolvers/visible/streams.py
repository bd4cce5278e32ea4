"""The facts of a subscription that its reader may see.

Rights can change during a subscription: they are looked up again for each
batch, and while none comes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from api.access import ForbiddenError
from api.resolvers.types.coverage import Coverage
from api.resolvers.types.facts import FactBatch
from api.resolvers.visible.reading import VisibleReading
from recorder.answers.ports import Reading


class VisibleFactStream:
    """The facts of one subscription, of a reader with rights."""

    def __init__(
        self,
        reading: Reading,
        node: str | None,
        cover: Callable[[Reading], Awaitable[Coverage]],
    ) -> None:
        """Take a log, and what is wanted of it."""
        assert isinstance(reading, VisibleReading), "of a reader with rights"
        self._reading = reading
        self._sight = reading.sight
        self._node = node
        self._saw_node = False
        self._cover = cover

    async def check(self) -> None:
        """Check that the reader still has access.

        Raises:
            ForbiddenError: the log, or the node, may no longer be seen.
        """
        self._sight = await self._sight.afresh()
        node = self._node
        if node is None:
            return
        sees_node = node in await self._sight.nodes([node])
        if self._saw_node and not sees_node:
            msg = f'you may no longer read about node "{node}"'
            raise ForbiddenError(msg)
        self._saw_node = sees_node

    async def seen(
        self, batches: AsyncIterator[FactBatch]
    ) -> AsyncIterator[FactBatch]:
        """Yield batches with their visible facts.

        Raises:
            ForbiddenError: the log, or the node, may no longer be seen.
        """
        async for batch in batches:
            await self.check()
            facts = await self._sight.facts(batch.facts)
            if facts or not batch.facts:
                now = await self._reading.again()
                coverage = await self._cover(now)
                yield replace(batch, facts=facts, coverage=coverage)
