"""The bounded queue between sources and the sequencer.

When it is full the source waits, stops reading its socket, and the API server
buffers, then cuts the watch; we resume from our place. Nothing is dropped and
nothing is spooled to disk.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from recorder.intake.receipts import NotCommittedError, Receipt
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Observation,
    PlaceReached,
    Polled,
    WatchFrame,
)

Request = Callable[[], Awaitable[None]]
"""Something to do when all that was put before has been taken."""

BYTES_MAX = 8 << 20
"""Of waiting documents: a page of 500 large Pods, and the next."""

OBSERVATION_BYTES = 200
"""The size of an observation without its document."""


def weight(observation: Observation) -> int:
    """Estimate the memory of an observation, in bytes."""
    match observation:
        case WatchFrame():
            return OBSERVATION_BYTES + len(observation.object)
        case ListPage() | Polled():
            return OBSERVATION_BYTES + sum(map(len, observation.items))
        case AuditRecorded() | CloudEventPosted():
            return OBSERVATION_BYTES + len(observation.event)
        case InputRefused():
            return OBSERVATION_BYTES + len(observation.head)
        case _:
            return OBSERVATION_BYTES


class Chunk(msgspec.Struct, frozen=True):
    """The observations of one call."""

    observations: Sequence[Observation]
    receipt: Receipt

    def may_end_behind(self, observation: Observation) -> bool:
        """Return whether a batch may end in it, after an observation.

        If the chunk has places, only after one.
        """
        return isinstance(observation, PlaceReached) or not isinstance(
            self.observations[-1], PlaceReached
        )


class IntakeQueue:
    """Chunks of observations, in the order in which they were put.

    One chunk may exceed the bound; another is only taken when there is room.
    """

    def __init__(self, *, bytes_max: int = BYTES_MAX) -> None:
        self._chunks: deque[tuple[Chunk | Request, int]] = deque()
        self._bytes = 0
        self._bytes_max = bytes_max
        self._closed = False
        self._changed = asyncio.Condition()

    @property
    def bytes(self) -> int:
        """How many bytes wait."""
        return self._bytes

    def __len__(self) -> int:
        """Count the observations that wait."""
        return sum(
            len(chunk.observations)
            for chunk, _ in self._chunks
            if isinstance(chunk, Chunk)
        )

    async def put(self, chunk: Chunk) -> None:
        """Add a chunk; wait while the queue is full.

        Raises:
            NotCommittedError: the queue is closed; it was not added.
        """
        size = sum(map(weight, chunk.observations))
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._bytes < self._bytes_max or self._closed
            )
            if self._closed:
                msg = "the recording has ended"
                raise NotCommittedError(msg)
            self._chunks.append((chunk, size))
            self._bytes += size
            self._changed.notify_all()

    async def ask(self, request: Request) -> None:
        """Add a request after all that was put."""
        async with self._changed:
            self._chunks.append((request, 0))
            self._changed.notify_all()

    async def get(self) -> Chunk | Request | None:
        """Take the oldest chunk; None when the queue is closed and empty."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: bool(self._chunks) or self._closed
            )
            if not self._chunks:
                return None
            chunk, size = self._chunks.popleft()
            self._bytes -= size
            self._changed.notify_all()
            return chunk

    async def close(self) -> None:
        """Note that nothing more will be put."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()
