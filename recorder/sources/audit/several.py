"""Several ways in which audit records arrive, as one source."""

import asyncio
from collections.abc import Sequence

from recorder.intake.ports import Known, Sink, Source


class Several:
    """Runs sources that do not end, in parallel."""

    finite = False

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    async def run(self, sink: Sink, known: Known) -> None:
        """Run all of them until cancelled."""
        async with asyncio.TaskGroup() as group:
            for source in self._sources:
                group.create_task(source.run(sink, known))
