"""Several ways in which audit records come, as the one source of them."""

import asyncio
from collections.abc import Sequence

from recorder.intake.ports import Known, Sink, Source

__all__ = ["Several"]


class Several:
    """Runs sources that do not end, side by side."""

    finite = False

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    async def run(self, sink: Sink, known: Known) -> None:
        """Run all of them until cancelled."""
        async with asyncio.TaskGroup() as group:
            for source in self._sources:
                group.create_task(source.run(sink, known))
