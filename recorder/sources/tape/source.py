"""Playing a tape: the source whose cluster is a file.

Observations come in the order of the tape, in chunks, as fast as the sink
takes them or paced by the times on the tape. After each chunk comes the place
after it, in the same call, so that intake commits both together. If the tape
is cut or damaged, everything before is put first.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Protocol

from recorder.intake.ports import Known, Sink
from recorder.model.observation import (
    TAPE,
    ListPage,
    Observation,
    PlaceReached,
)
from recorder.sources.tape.errors import TapeError
from recorder.sources.tape.reader import TapeReader

STREAM = "tape"
"""The one stream of a tape; its place is the number of the next frame."""

_CHUNK_FRAMES = 64
_CHUNK_BYTES = 2**20
"""Frames that are put together. After each chunk the committing task gets a
turn: with larger ones PostgreSQL would wait for its next rows."""

_PAUSE_SECONDS_MIN = 0.01
"""Frames due within this time are played at once: a sleep for each of a
thousand frames a second would cost more than playing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeProgress:
    """The progress of playing a tape."""

    frame: int
    """The next frame."""

    at: datetime
    """The time on the tape."""

    bytes_read: int
    bytes_total: int
    """Bytes of the file, ``bytes_read`` being part of them."""


class SteadyClock(Protocol):
    """A clock that never jumps, for pacing."""

    def now(self) -> float:
        """Return seconds since some moment."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class _EventLoopClock:
    """The steady clock of this process."""

    def now(self) -> float:
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TapeSource:
    """A tape as a source of observations.

    ``speed`` 1 is as it happened, 100 a hundred times as fast, None as fast as
    possible.
    """

    finite = True

    def __init__(
        self,
        path: Path,
        *,
        speed: float | None = None,
        on_progress: Callable[[TapeProgress], None] | None = None,
        clock: SteadyClock | None = None,
    ) -> None:
        assert speed is None or speed > 0, "a tape plays forwards"
        self._path = path
        self._speed = speed
        self._on_progress = on_progress
        self._clock = clock or _EventLoopClock()

    async def run(self, sink: Sink, known: Known) -> None:
        """Play to the end of the tape, from where it stopped last time.

        Raises:
            TapeError: the tape cannot be read further; every frame before
                was put.
        """
        from_frame = int(known.resume_points().get(STREAM, "0"))
        with TapeReader(self._path) as reader:
            playing = _Playing(reader, sink, from_frame)
            await self._hand_over(playing)
            try:
                await self._play(playing)
            except TapeError:
                await self._hand_over(playing)
                raise
            await self._hand_over(playing)

    async def _play(self, playing: "_Playing") -> None:
        pace = _Pace(self._speed, self._clock)
        for _, observation in playing.frames():
            pause = pace.pause(observation.observed_at)
            if pause >= _PAUSE_SECONDS_MIN:
                await self._hand_over(playing)
                await self._clock.sleep(pause)
            playing.take(observation)
            if playing.is_full():
                await self._hand_over(playing)

    async def _hand_over(self, playing: "_Playing") -> None:
        await playing.put()
        # A sink with room does not wait, and other tasks must get their turn.
        await asyncio.sleep(0)
        if self._on_progress is not None:
            self._on_progress(playing.progress())


class _Playing:
    """A tape that is being played, and the current chunk."""

    def __init__(
        self, reader: TapeReader, sink: Sink, from_frame: int
    ) -> None:
        self.reader = reader
        self._sink = sink
        self._frame = from_frame
        self._at = reader.header.started_at
        self._chunk: list[Observation] = []
        self._chunk_began = 0
        """`TapeReader.bytes_played` when the chunk was empty."""

    def frames(self) -> Iterator[tuple[int, Observation]]:
        return self.reader.frames(self._frame)

    def take(self, observation: Observation) -> None:
        if self._chunk and isinstance(observation, ListPage):
            self._chunk.append(self._place())
        self._chunk.append(observation)
        self._frame += 1
        self._at = observation.observed_at

    def is_full(self) -> bool:
        return (
            len(self._chunk) >= _CHUNK_FRAMES
            or self.reader.bytes_played - self._chunk_began >= _CHUNK_BYTES
        )

    async def put(self) -> None:
        """Put the chunk and the place after it, in one call."""
        chunk, self._chunk = self._chunk, []
        self._chunk_began = self.reader.bytes_played
        await self._sink.put([*chunk, self._place()])

    def _place(self) -> PlaceReached:
        return PlaceReached(
            observed_at=self._at,
            source=TAPE,
            stream=STREAM,
            place=str(self._frame),
        )

    def progress(self) -> TapeProgress:
        return TapeProgress(
            frame=self._frame,
            at=self._at,
            bytes_read=self.reader.bytes_read,
            bytes_total=self.reader.size,
        )


class _Pace:
    """When each frame is due.

    Backward steps in the times on the tape, of a clock that was set, count as
    nothing: later frames keep their distances.
    """

    def __init__(self, speed: float | None, clock: SteadyClock) -> None:
        self._speed = speed
        self._clock = clock
        self._due = clock.now()
        self._at: datetime | None = None

    def pause(self, at: datetime) -> float:
        """Return the seconds until a frame of that time is due, at least 0."""
        if self._speed is None:
            return 0.0
        if self._at is not None and at > self._at:
            self._due += (at - self._at).total_seconds() / self._speed
        self._at = at
        return max(0.0, self._due - self._clock.now())
