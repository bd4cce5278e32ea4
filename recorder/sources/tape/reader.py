"""Reading a tape: frame after frame, in memory that does not grow.

The reader yields every complete frame and then, if the tape is cut or damaged,
raises an error with the file and the line. So a player has everything before
the damage.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

from recorder.model.observation import Observation
from recorder.sources.tape.content import (
    ContentCutError,
    ContentDamagedError,
    pieces,
)
from recorder.sources.tape.errors import (
    TapeDamagedError,
    TapeFrameError,
    TapeHeaderError,
    TapeLineTooLongError,
    TapeTruncatedError,
    UnknownFrameError,
    translate_reading,
)
from recorder.sources.tape.frames import UnknownKindError, observation_of
from recorder.sources.tape.header import TapeHeader, parse_header
from recorder.sources.tape.wire import LineError, checked_json

LINE_BYTES_MAX = 64 * 2**20
"""Bytes of the longest line that is read: 32 pages of a list as our own writer
cuts them, and more than an API server keeps of one object."""

_HEADER_LINES = 1


class TapeReader:
    """One pass over one tape; entered to open it and read its header.

    Raises:
        TapeError: one of its kinds, from entering and from `frames`.
    """

    def __init__(
        self, path: Path, *, line_bytes_max: int = LINE_BYTES_MAX
    ) -> None:
        self._path = path
        self._line_bytes_max = line_bytes_max
        self._file: BinaryIO
        self._lines: Iterator[bytes]
        self._line = 0

        self.header: TapeHeader
        self.size = 0
        """Bytes of the file on disk."""

        self.bytes_played = 0
        """Bytes of the lines of all yielded frames."""

    def __enter__(self) -> Self:
        with translate_reading(self._path):
            # Unbuffered: pieces are larger than any buffer would be.
            self._file = self._path.open("rb", buffering=0)
            self.size = self._file.seek(0, 2)
            self._file.seek(0)
        self._lines = self._read_lines()
        try:
            self.header = self._read_header()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """How far into the file reading has come, for progress."""
        return self._file.tell()

    def frames(self, from_frame: int = 0) -> Iterator[tuple[int, Observation]]:
        """Yield the frames and their numbers, from one number on.

        Frames count from 0. Those before ``from_frame`` are skipped without
        decoding.


        Raises:
            TapeTruncatedError: after the last complete frame.
            TapeDamagedError: after the last frame before the damage.
            TapeLineTooLongError: the next line does not fit.
            UnknownFrameError: the next frame is of an unknown kind.
            TapeFrameError: the next line is not a frame.
        """
        for line in self._lines:
            number = self._line - _HEADER_LINES - 1
            if number < from_frame:
                continue
            try:
                observation = observation_of(line)
            except UnknownKindError as exc:
                raise UnknownFrameError(
                    self._path, str(exc), line=self._line
                ) from exc
            except LineError as exc:
                raise TapeFrameError(
                    self._path, str(exc), line=self._line
                ) from exc
            self.bytes_played += len(line)
            yield number, observation

    def _read_header(self) -> TapeHeader:
        line = next(self._lines, None)
        if line is None:
            says = "the file is empty: the tape ends before its header"
            raise TapeTruncatedError(self._path, says, line=1)
        try:
            return parse_header(line)
        except LineError as exc:
            raise TapeHeaderError(self._path, str(exc), line=1) from exc

    def _read_lines(self) -> Iterator[bytes]:
        """Yield the lines without their newline, and count them."""
        for line in self._split():
            self._line += 1
            if len(line) > self._line_bytes_max:
                raise self._too_long()
            yield line

    def _split(self) -> Iterator[bytes]:
        """Cut the content at newlines; ends as the content ends."""
        rest: list[bytes] = []
        rest_bytes = 0
        try:
            with translate_reading(self._path):
                for piece in pieces(self._file, self._path):
                    start = 0
                    # `split` examines byte after byte, `find` many at once.
                    while (end := piece.find(b"\n", start)) >= 0:
                        line = piece[start:end]
                        if rest:
                            line = b"".join([*rest, line])
                            rest, rest_bytes = [], 0
                        yield line
                        start = end + 1
                    if start < len(piece):
                        rest.append(piece[start:])
                        rest_bytes += len(rest[-1])
                    if rest_bytes > self._line_bytes_max:
                        self._line += 1
                        raise self._too_long()
        except ContentDamagedError as exc:
            raise self._damaged(exc) from exc
        except ContentCutError as exc:
            yield from self._last(b"".join(rest))
            raise self._cut(where="its compressed bytes") from exc
        yield from self._last(b"".join(rest))

    def _last(self, line: bytes) -> Iterator[bytes]:
        """Accept a last line that lacks only its newline.

        A line is complete when its JSON is, for a tape that was written by
        hand; a line that was cut never is.
        """
        if not line:
            return
        try:
            checked_json(line)
        except (ValueError, RecursionError) as exc:
            raise self._cut(where="this line") from exc
        yield line

    def _cut(self, *, where: str) -> TapeTruncatedError:
        says = (
            f"the tape ends within {where}: the copy is incomplete, or the "
            "recorder was killed; every line before this one is complete"
        )
        return TapeTruncatedError(self._path, says, line=self._line + 1)

    def _damaged(self, exc: ContentDamagedError) -> TapeDamagedError:
        says = (
            f"damaged from here on ({exc}): the lines before are complete, "
            "look for another copy"
        )
        return TapeDamagedError(self._path, says, line=self._line + 1)

    def _too_long(self) -> TapeLineTooLongError:
        says = (
            f"longer than {self._line_bytes_max} bytes, the longest line "
            "that is read; raise that limit if the line is valid"
        )
        return TapeLineTooLongError(self._path, says, line=self._line)
