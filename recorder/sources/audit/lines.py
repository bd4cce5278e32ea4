"""Reading audit log files: whole lines, from a place in a file.

A file is known by its first line, and not by its inode: rotation renames it,
compression writes it anew, and an inode is given away again. Two audit logs do
not begin with the same record.
"""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import msgspec

from recorder.errors import InputError

__all__ = [
    "DocumentError",
    "FILE_BYTES_AT_ONCE",
    "LINE_BYTES_MAX",
    "Line",
    "MovedError",
    "head_of",
    "read_document",
    "read_lines",
    "rotated",
]

LINE_BYTES_MAX = 16 << 20
"""The API server truncates records far below that where it does at all; what
is longer is described instead of kept."""

DOCUMENT_BYTES_MAX = 256 << 20
"""Of a file that is one document; it takes several times that in memory."""

FILE_BYTES_AT_ONCE = 1 << 20
"""Read from a file before others get their turn."""

ZIPPED = b"\x1f\x8b"


class DocumentError(InputError):
    """A file is one document, and too large to be read at once."""

    code = "input.document"
    exit_status = 1


class MovedError(FileNotFoundError):
    """The file that was meant has another name by now."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its newline."""

    text: bytes
    end: int
    """The offset behind its newline."""

    length: int
    """Its bytes; more than those of the text where it is too long to keep."""

    sha256: str = ""
    """Of all its bytes, where it is too long to keep."""


def head_of(path: Path) -> str:
    """Return the digest of a file's first line; empty where it has none.

    Raises:
        OSError: the file cannot be read.
    """
    with _opened(path) as file:
        return _head(file)


def read_document(path: Path) -> bytes | None:
    """Return a file that is one JSON document, else None.

    Of several lines, or of one that does not end, as exports are.

    Raises:
        OSError: the file cannot be read.
        EOFError: it is compressed, and cut off.
        DocumentError: it has more than `DOCUMENT_BYTES_MAX`.
    """
    with _opened(path) as file:
        first = file.readline(LINE_BYTES_MAX)
        if not first.startswith((b"[", b"{")) or (
            first.endswith(b"\n") and _is_json(first)
        ):
            return None
        file.seek(0)
        content = file.read(DOCUMENT_BYTES_MAX + 1)
    if len(content) > DOCUMENT_BYTES_MAX:
        msg = (
            f"{path} is one document of more than {DOCUMENT_BYTES_MAX >> 20}"
            " MiB; export it in parts, or with one record a line"
        )
        raise DocumentError(msg)
    return content if _is_json(content) else None


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def read_lines(
    path: Path, head: str, offset: int, *, is_finished: bool = False
) -> Iterator[Line]:
    """Yield the complete lines of a file from an offset on.

    A last line without a newline is not complete: it is still being written,
    unless the file is finished and the line is a document.

    Raises:
        MovedError: another file has its name by now.
        OSError: the file cannot be read.
        EOFError: it is compressed, and cut off.
    """
    with _opened(path) as file:
        if _head(file) != head:
            msg = f"{path} was rotated"
            raise MovedError(msg)
        file.seek(offset)
        for line in _lines(file, offset):
            yield line
            offset = line.end
        if is_finished:
            file.seek(offset)
            text = file.read(LINE_BYTES_MAX)
            # CloudWatch writes a time before the document.
            if _is_json(text[max(text.find(b"{"), 0) :]):
                yield Line(text, offset + len(text), len(text))


def _head(file: IO[bytes]) -> str:
    first = next(_lines(file, 0), None)
    if first is None:
        return ""
    return hashlib.sha256(first.text).hexdigest()[:32]


def _opened(path: Path) -> IO[bytes]:
    file: IO[bytes] = path.open("rb")
    magic = file.read(len(ZIPPED))
    file.seek(0)
    if magic != ZIPPED:
        return file
    file.close()
    return cast("IO[bytes]", gzip.open(path, "rb"))


def _lines(file: IO[bytes], offset: int) -> Iterator[Line]:
    while True:
        text = file.readline(LINE_BYTES_MAX)
        if text.endswith(b"\n"):
            offset += len(text)
            yield Line(text[:-1], offset, len(text) - 1)
            continue
        if len(text) < LINE_BYTES_MAX:
            return
        long = _long(file, text, offset)
        if long is None:
            return
        offset = long.end
        yield long


def _long(file: IO[bytes], begun: bytes, offset: int) -> Line | None:
    """Read a line to its end without keeping it; None if it has none yet."""
    digest, length = hashlib.sha256(begun), len(begun)
    while part := file.readline(LINE_BYTES_MAX):
        length += len(part)
        if part.endswith(b"\n"):
            digest.update(part[:-1])
            end = offset + length
            return Line(begun, end, length - 1, digest.hexdigest())
        digest.update(part)
    return None


def rotated(path: Path) -> list[Path]:
    """Return the files that a log was rotated to, oldest first.

    The API server puts a time into their names, between stem and suffix, and
    may compress them; logrotate adds a number or a date behind.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    for other in path.parent.iterdir():
        name = other.name
        if other == path or not other.is_file():
            continue
        begins = f"{path.stem}-", f"{path.name}.", f"{path.name}-"
        if name.startswith(begins):
            found.append((other.stat().st_mtime_ns, name, other))
    return [other for _, _, other in sorted(found)]
