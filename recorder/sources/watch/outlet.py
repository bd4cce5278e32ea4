"""The way from every reflector into the sink, one epoch at a time.

When the cluster's history turns out to be rewound, nothing of the old history
may follow the observation that says so, and nothing of the new one may come
before it. Reflectors therefore name the epoch in which they saw what they put,
and what comes from an epoch that is over is not put at all.
"""

import asyncio
from collections.abc import Callable, Sequence

from recorder.intake.ports import Sink
from recorder.model.observation import Observation

__all__ = ["EpochOverError", "Outlet"]


class EpochOverError(Exception):
    """The observation belongs to a history that has ended."""


class Outlet:
    """Puts observations, in the order in which they are handed in."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        # Serves whoever waits in order of arrival. Without it a put that
        # waits for room in the queue could be overtaken by the beginning of
        # an epoch, and so end up in the wrong one.
        self._lock = asyncio.Lock()
        self.epoch = 0
        """Counts the histories seen by this process."""

    async def put(
        self, observations: Sequence[Observation], *, epoch: int | None = None
    ) -> None:
        """Put observations; waits while the sink is full.

        Raises:
            EpochOverError: a newer epoch began; nothing was put.
        """
        async with self._lock:
            if epoch is not None and epoch != self.epoch:
                raise EpochOverError
            await self._sink.put(observations)

    async def begin_epoch(
        self, last_words: Callable[[], Sequence[Observation]]
    ) -> None:
        """End the epoch: from here on nothing seen in it is put.

        ``last_words`` is called once nobody else is putting.
        """
        async with self._lock:
            self.epoch += 1
            await self._sink.put(last_words())
