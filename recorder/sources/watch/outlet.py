"""The way from every reflector into the sink, one epoch at a time.

When the cluster's history was rewound, no observation of the old history may
follow the one that reports it, and none of the new one may precede it. So
reflectors name the epoch in which they made their observations, and
observations of an epoch that is over are not put.
"""

import asyncio
from collections.abc import Callable, Sequence

from recorder.intake.ports import Sink
from recorder.model.observation import Observation


class EpochOverError(Exception):
    """The observation belongs to a history that has ended."""


class Outlet:
    """Puts observations in the order in which they are handed in."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        # Waiting tasks are served in order of arrival. Otherwise the start of
        # an epoch could overtake a put that waits for room in the queue, which
        # would then be in the wrong epoch.
        self._lock = asyncio.Lock()
        self.epoch = 0
        """How many histories this process has seen."""

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
        """End the epoch: no observation of it is put from here on.

        ``last_words`` is called when no other task is putting.
        """
        async with self._lock:
            self.epoch += 1
            await self._sink.put(last_words())
