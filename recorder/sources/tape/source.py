"""Playing a tape: the source whose cluster is a file.

Observations come in the order of the tape, in chunks, as fast as the sink
takes them or paced by the times on the tape. After each chunk comes its
`TapePosition`, in the same call, so that intake commits the place with the
rows. Where the tape is cut or damaged, everything before is put first.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Protocol

from recorder.intake.ports import Known, Sink
from recorder.model.observation import Observation, TapePosition
from recorder.sources.tape.errors import TapeError
from recorder.sources.tape.reader import TapeReader

__all__ = ["SteadyClock", "TapeProgress", "TapeSource"]

_CHUNK_FRAMES = 64
_CHUNK_BYTES = 2**20
"""Of frames that are put together. Behind each chunk whoever commits gets a
turn: with larger ones PostgreSQL would wait for its next rows."""

_PAUSE_SECONDS_MIN = 0.01
"""Frames due within this time are played at once: a sleep for each of a
thousand frames a second would cost more than playing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeProgress:
    """How far a tape has been played, for a person who waits."""

    frame: int
    """The next frame."""

    at: datetime
    """The time on the tape."""

    bytes_read: int
    bytes_total: int
    """Bytes of the file, of which ``bytes_read`` is a part."""


class SteadyClock(Protocol):
    """A clock that never jumps, to pace by."""

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

    ``from_frame`` is the next frame to play, the number that the last
    committed `TapePosition` carries. ``speed`` 1 is as it happened, 100 a
    hundred times as fast, None as fast as it can be taken.
    """

    def __init__(
        self,
        path: Path,
        *,
        from_frame: int = 0,
        speed: float | None = None,
        on_progress: Callable[[TapeProgress], None] | None = None,
        clock: SteadyClock | None = None,
    ) -> None:
        assert speed is None or speed > 0, "a tape plays forwards"
        self._path = path
        self._from_frame = from_frame
        self._speed = speed
        self._on_progress = on_progress
        self._clock = clock or _EventLoopClock()

    async def run(self, sink: Sink, known: Known) -> None:
        """Play to the end of the tape.

        Raises:
            TapeError: the tape cannot be read further; every frame before
                was put.
        """
        del known  # a tape brings its own lists
        with TapeReader(self._path) as reader:
            playing = _Playing(reader, sink, self._from_frame)
            await self._hand_over(playing)
            try:
                await self._play(playing)
            except TapeError:
                await self._hand_over(playing)
                raise
            await self._hand_over(playing)

    async def _play(self, playing: "_Playing") -> None:
        pace = _Pace(self._speed, self._clock)
        for _, observation in playing.reader.frames(self._from_frame):
            pause = pace.pause(observation.observed_at)
            if pause >= _PAUSE_SECONDS_MIN:
                await self._hand_over(playing)
                await self._clock.sleep(pause)
            playing.take(observation)
            if playing.is_full():
                await self._hand_over(playing)

    async def _hand_over(self, playing: "_Playing") -> None:
        await playing.put()
        # A sink with room need not wait, and others must get their turn.
        await asyncio.sleep(0)
        if self._on_progress is not None:
            self._on_progress(playing.progress())


class _Playing:
    """A tape that is being played, and the chunk in hand."""

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

    def take(self, observation: Observation) -> None:
        self._chunk.append(observation)
        self._frame += 1
        self._at = observation.observed_at

    def is_full(self) -> bool:
        return (
            len(self._chunk) >= _CHUNK_FRAMES
            or self.reader.bytes_played - self._chunk_began >= _CHUNK_BYTES
        )

    async def put(self) -> None:
        """Put the chunk and the place behind it, in one."""
        position = TapePosition(observed_at=self._at, frame=self._frame)
        chunk, self._chunk = self._chunk, []
        self._chunk_began = self.reader.bytes_played
        await self._sink.put([*chunk, position])

    def progress(self) -> TapeProgress:
        return TapeProgress(
            frame=self._frame,
            at=self._at,
            bytes_read=self.reader.bytes_read,
            bytes_total=self.reader.size,
        )


class _Pace:
    """When each frame is due.

    Steps back in the times on the tape, of a clock that was set, count as
    nothing: what follows keeps its distances.
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
