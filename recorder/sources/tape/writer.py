"""Writing a tape that stays readable however the writer is killed.

Lines are compressed as they come. A second after a line came the compressed
bytes up to it are in the file, and every few megabytes a zstd frame is closed
with its checksum, so that damage to one spares the others.

An existing file is never overwritten unless requested: a tape may be the only
record of an incident.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Self

from recorder.model.observation import ListPage, Observation
from recorder.model.zstd import CompressionParameter, ZstdCompressor
from recorder.sources.tape.errors import (
    TapeExistsError,
    TapeWriteError,
    translate_writing,
)
from recorder.sources.tape.header import TapeHeader, header_line
from recorder.sources.tape.lines import line_of
from recorder.sources.tape.refusing import described
from recorder.sources.tape.wire import UnwritableError

FLUSH_SECONDS = 1.0
"""How old the newest line in memory may become before it is in the file."""

_FRAME_BYTES_MIN = 64 * 2**10
_FRAME_BYTES_MAX = 4 * 2**20
"""Content of one zstd frame: the first has the least size, each further one
twice the size before, up to the most. For Pods that change little, a quarter
of the most would take 60 % more space and four times the most 20 % less. A
damaged byte costs its zstd frame, and a short tape has several as well."""

_LEVEL = 3

PAGE_BYTES_MAX = 2 * 2**20
"""Bytes of items in one line, unless a single item is longer. Four times an
ordinary page of 500 Events, and far below what a reader takes."""


class TapeWriter:
    """A tape being written; entered to create the file, left to close it.

    Compressed, unless the name ends in ``.jsonl``. Not safe against a crash of
    the machine until it is closed: only then is the file forced to disk.

    Raises:
        TapeExistsError: from entering, if such a file exists already.
        TapeWriteError: the file cannot be written; it is left as it is.
    """

    def __init__(
        self,
        path: Path,
        header: TapeHeader,
        *,
        overwrite: bool = False,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._header = header
        self._overwrite = overwrite
        self._steady = steady
        self._file: FileIO
        self._compressor = None if path.suffix == ".jsonl" else _compressor()
        self._frame_bytes = 0
        self._frame_bytes_max = min(_FRAME_BYTES_MIN, _FRAME_BYTES_MAX)
        self._flushed_at = steady()
        self._broken = False

        self.frames = 0
        """Frames written so far."""

    def __enter__(self) -> Self:
        mode = "wb" if self._overwrite else "xb"
        try:
            with translate_writing(self._path):
                self._file = FileIO(self._path, mode)
        except TapeWriteError as exc:
            if isinstance(exc.__cause__, FileExistsError):
                msg = (
                    f'"{self._path}" exists: a tape is not overwritten; '
                    "name another file, or allow it explicitly"
                )
                raise TapeExistsError(msg) from exc
            raise
        try:
            with self._writing():
                self._put(header_line(self._header))
                self._flush()
        except TapeWriteError:
            self._file.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def write(self, observations: Iterable[Observation]) -> None:
        """Write the observations that have a frame, in their order.

        Any content is accepted: a document that no line can hold is described
        by a frame instead.
        """
        with self._writing():
            for observation in observations:
                try:
                    self._put_frames(observation)
                except UnwritableError:
                    for part in described(observation):
                        self._put_frames(part)
            if self._steady() - self._flushed_at >= FLUSH_SECONDS:
                self._flush()

    def flush(self) -> None:
        """Bring every line so far into the file, readable after a kill.

        `write` does so only when something is written; a caller that waits
        calls this for the last lines before a silence.
        """
        with self._writing():
            self._flush()

    def close(self) -> None:
        """Complete the tape and force it to disk, its name included.

        When this returns the tape survives a crash of the machine. Closing
        twice does nothing.
        """
        if self._file.closed:
            return
        try:
            if not self._broken:
                with self._writing():
                    self._end_frame()
                    os.fsync(self._file.fileno())
                    _sync_folder(self._path.parent)
        finally:
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Remember that writing failed: the file ends within a line.

        A reader would not find another line after that.
        """
        if self._broken:
            msg = f'cannot write tape "{self._path}": an earlier write failed'
            raise TapeWriteError(msg)
        try:
            with translate_writing(self._path):
                yield
        except TapeWriteError:
            self._broken = True
            raise

    def _put_frames(self, observation: Observation) -> None:
        """Put all lines of an observation, or none."""
        parts: Iterable[Observation] = (observation,)
        if isinstance(observation, ListPage):
            parts = cut_page(observation)
        lines = [line for line in map(line_of, parts) if line is not None]
        for line in lines:
            self._put(line)
        self.frames += len(lines)

    def _put(self, line: bytes) -> None:
        if self._compressor is None:
            self._write(line)
            return
        self._write(self._compressor.compress(line))
        self._frame_bytes += len(line)
        if self._frame_bytes >= self._frame_bytes_max:
            self._end_frame()

    def _end_frame(self) -> None:
        if self._compressor is not None and self._frame_bytes:
            self._write(self._compressor.flush(ZstdCompressor.FLUSH_FRAME))
            self._frame_bytes = 0
            self._frame_bytes_max = min(
                2 * self._frame_bytes_max, _FRAME_BYTES_MAX
            )

    def _flush(self) -> None:
        self._flushed_at = self._steady()
        if self._compressor is not None and self._frame_bytes:
            self._write(self._compressor.flush(ZstdCompressor.FLUSH_BLOCK))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]


def _compressor() -> ZstdCompressor:
    return ZstdCompressor(
        options={
            CompressionParameter.compression_level: _LEVEL,
            CompressionParameter.checksum_flag: 1,
        }
    )


class TapeTee:
    """Writes a tape beside a recording; satisfies the port `Tee`.

    A full disk must not end the recording: a tape that cannot be written is
    given up, and raises when it is checked.
    """

    def __init__(self, writer: TapeWriter) -> None:
        self._writer = writer
        self._error: TapeWriteError | None = None

    def write(self, observations: Sequence[Observation]) -> None:
        """Write, unless a write failed before."""
        if self._error is not None:
            return
        try:
            self._writer.write(observations)
        except TapeWriteError as exc:
            self._error = exc

    def check(self) -> None:
        """Check that everything was written.

        Raises:
            TapeWriteError: something was not; the tape ends there.
        """
        if self._error is not None:
            raise self._error


def _sync_folder(folder: Path) -> None:
    """Force the name of a new file to disk, which fsync of it does not."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cut_page(
    page: ListPage, bytes_max: int = PAGE_BYTES_MAX
) -> Iterator[ListPage]:
    """Yield pages that together are this one, all but the last with more.

    A page of 500 objects may hold hundreds of megabytes, and a reader bounds
    the line. A list is complete when its last page came, so cutting a page
    does not change its meaning.
    """
    items: list[bytes] = []
    items_bytes = 0
    for item in page.items:
        if items and items_bytes + len(item) > bytes_max:
            yield replace(page, items=items, more=True)
            items = []
            items_bytes = 0
        items.append(item)
        items_bytes += len(item)
    yield replace(page, items=items)
