"""Reading audit log files: complete lines, from an offset in a file.

A file is identified by its first line, and not by its inode: rotation renames
it, compression writes a new one, and inodes are reused. No two audit logs
begin with the same record.
"""

import bz2
import gzip
import hashlib
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from recorder.model import zstd
from recorder.model.errors import InputError
from recorder.sources.files import is_json

LINE_BYTES_MAX = 16 << 20
"""The API server truncates records far below that if it does at all; a longer
line is described instead of kept."""

FILE_BYTES_AT_ONCE = 1 << 20
"""Read from a file before other tasks get their turn."""

MAGIC_BYTES = 6
COMPRESSED: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", zstd.open),
)
"""How files begin that log rotation compresses."""

UNSUPPORTED = (b"PK\x03\x04", b"\x1f\x9d", b"\x04\x22\x4d\x18")
"""Of zip, compress and lz4."""

SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst"})
"""Of files that always have content: an empty one was cut off."""

DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError)


class MovedError(FileNotFoundError):
    """The intended file has another name by now."""


class UnreadableError(InputError):
    """A file cannot be read, or not to its end."""

    code = "input.file"
    exit_status = 1


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its newline."""

    text: bytes
    end: int
    """The offset after its newline."""

    length: int
    """Its bytes; more than those of the text if it is too long to keep."""

    sha256: str = ""
    """Of all its bytes, if it is too long to keep."""

    is_whole: bool = True
    """Whether it has a newline."""


def head_of(path: Path) -> str:
    """Return the digest of a file's first line; empty if it has none.

    Raises:
        FileNotFoundError: the file does not exist.
        UnreadableError: the file cannot be read that far.
    """
    with _opened(path) as file:
        return _head(file)


def read_lines(
    path: Path, head: str, offset: int, *, is_finished: bool = False
) -> Iterator[Line]:
    """Yield the complete lines of a file from an offset on.

    A last line without a newline is still being written, unless the file is
    finished: then it is complete if it is a document.

    Raises:
        MovedError: another file has its name by now.
        FileNotFoundError: the file does not exist.
        UnreadableError: the file cannot be read to its end.
    """
    with _opened(path) as file:
        if _head(file) != head:
            msg = f"{path} was rotated"
            raise MovedError(msg)
        file.seek(offset)
        for line in _lines(file, offset):
            if line.is_whole:
                yield line
            elif is_finished and line.text.strip():
                yield replace(line, is_whole=is_json(line.text))


def _head(file: IO[bytes]) -> str:
    first = next(_lines(file, 0), None)
    if first is None or not first.is_whole:
        return ""
    return hashlib.sha256(first.text).hexdigest()[:32]


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressed if it is compressed.

    Never blocks, as opening a pipe without a writer would.

    Raises:
        FileNotFoundError: the file does not exist.
        UnreadableError: it cannot be read, also while entered.
    """
    with _translated(path), open(path, "rb", opener=_without_wait) as file:
        unpack = _unpacking(path, file)
        if unpack is None:
            yield file
            return
        with unpack(file) as unpacked:
            yield unpacked


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except DAMAGED as exc:
        why = exc.strerror if isinstance(exc, OSError) else None
        msg = f'cannot read "{path}": {why or exc}'
        raise UnreadableError(msg) from exc


def _without_wait(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _unpacking(path: Path, file: IO[bytes]) -> Callable[[Any], Any] | None:
    """Return what decompresses a file; None if it is not compressed."""
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        msg = f'cannot read "{path}": it is not a regular file'
        raise UnreadableError(msg)
    magic = file.read(MAGIC_BYTES)
    file.seek(0)
    if magic.startswith(UNSUPPORTED):
        msg = (
            f'cannot read "{path}": compress audit logs with gzip, bzip2, xz'
            " or zstd"
        )
        raise UnreadableError(msg)
    if not magic and path.suffix in SUFFIXES:
        msg = f'cannot read "{path}": it is empty'
        raise UnreadableError(msg)
    for begins, unpack in COMPRESSED:
        if magic.startswith(begins):
            return unpack
    return None


def _lines(file: IO[bytes], offset: int) -> Iterator[Line]:
    """Yield lines; the last of them may have no newline."""
    while text := file.readline(LINE_BYTES_MAX):
        line = _line(file, text, offset)
        offset = line.end
        yield line
        if not line.is_whole:
            return


def _line(file: IO[bytes], begun: bytes, offset: int) -> Line:
    """Read a line to its end; bytes beyond the bound are not kept."""
    if begun.endswith(b"\n"):
        return Line(begun[:-1], offset + len(begun), len(begun) - 1)
    if len(begun) < LINE_BYTES_MAX:
        end = offset + len(begun)
        return Line(begun, end, len(begun), is_whole=False)
    digest, length = hashlib.sha256(begun), len(begun)
    while part := file.readline(LINE_BYTES_MAX):
        length += len(part)
        if part.endswith(b"\n"):
            digest.update(part[:-1])
            end = offset + length
            return Line(begun, end, length - 1, digest.hexdigest())
        digest.update(part)
    return Line(begun, offset + length, length, is_whole=False)


def rotated(path: Path) -> list[Path]:
    """Return the files that a log was rotated to, oldest first.

    The API server puts a time into their names, between stem and suffix, and
    may compress them; logrotate appends a number or a date.

    Raises:
        FileNotFoundError: the folder does not exist, or a file was removed
            meanwhile.
        UnreadableError: the folder cannot be read.
    """
    with _translated(path.parent):
        return _rotated(path)


def _rotated(path: Path) -> list[Path]:
    found = []
    for other in path.parent.iterdir():
        name = other.name
        if other == path or not other.is_file():
            continue
        begins = f"{path.stem}-", f"{path.name}.", f"{path.name}-"
        if name.startswith(begins):
            found.append((other.stat().st_mtime_ns, name, other))
    return [other for _, _, other in sorted(found)]
