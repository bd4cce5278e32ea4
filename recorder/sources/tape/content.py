"""The bytes of a tape: opened, identified, decompressed in bounded pieces.

Tapes are recognized by their first bytes, never by their name. A compressed
tape is a sequence of zstd frames, each with a checksum at its end. The content
of a frame is returned after its checksum was verified, because a changed
letter in an immutable log is worse than a missing line; only a frame of more
than `HELD_BYTES_MAX` is returned earlier, so that memory stays flat.
"""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import BinaryIO

from recorder.model.zstd import ZstdDecompressor, ZstdError
from recorder.sources.tape.errors import NotATapeError

HELD_BYTES_MAX = 8 * 2**20
"""How much of one zstd frame is held until its checksum is verified: twice the
size that our own writer uses, the rest is for tapes compressed by other
programs."""

_READ_BYTES = 64 * 2**10
_PIECE_BYTES = 64 * 2**10
"""Decompressed in one step. When a step fails, what it had decompressed is
lost, so this bounds what is lost before the damage."""

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""Bytes 1 to 3 of a zstd frame that holds no content."""

_OTHERS = (
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zXZ", "xz", "xz -dc"),
    (b"PK\x03\x04", "a zip archive", "unzip -p"),
)
"""Other compression formats, how they begin, and how to unpack them."""


class ContentCutError(Exception):
    """The compressed bytes end before they are complete."""


class ContentDamagedError(Exception):
    """The compressed bytes are not those that were written."""


def pieces(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the decompressed content in order.

    Raises:
        NotATapeError: the content is of another kind.
        ContentCutError: after everything that can be decompressed.
        ContentDamagedError: after everything that precedes the damage.
    """
    first = file.read(_READ_BYTES)
    if _is_zstd(first):
        yield from _decompressed(file, first)
    elif first.startswith(b"{"):
        while first:
            yield first
            first = file.read(_READ_BYTES)
    elif first:
        raise NotATapeError(path, _what_it_is(first, path), line=None)


def _is_zstd(first: bytes) -> bool:
    """Return whether it is zstd, or begins so and is cut."""
    magic = first[:4]
    return bool(magic) and (
        _MAGIC.startswith(magic) or magic[1:] == _SKIPPABLE
    )


def _what_it_is(first: bytes, path: Path) -> str:
    for magic, name, command in _OTHERS:
        if first.startswith(magic):
            return (
                f"this is {name}, a tape is zstd or plain; recompress it: "
                f"{command} {quote(path.name)} | zstd > NAME.tape.jsonl.zst"
            )
    beginning = ascii(first[:16].decode("latin-1"))
    return (
        "not a tape: a tape is JSON Lines that begin with a header, "
        f"compressed with zstd or plain, and this begins {beginning}"
    )


def _decompressed(file: BinaryIO, compressed: bytes) -> Iterator[bytes]:
    """Decompress a sequence of zstd frames."""
    frame = 0
    while compressed:
        frame += 1
        decompressor = ZstdDecompressor()
        try:
            yield from _proved(_steps(decompressor, file, compressed))
        except ZstdError as exc:
            msg = f"zstd frame {frame} of the file: {exc}"
            raise ContentDamagedError(msg) from exc
        compressed = decompressor.unused_data or file.read(_READ_BYTES)


def _proved(steps: Iterator[bytes]) -> Iterator[bytes]:
    """Hold a zstd frame until its checksum is verified, or it is too long.

    If the frame is cut, or its structure is damaged, what was decompressed
    before is returned: it precedes the damage. If only the checksum is wrong,
    the damage may be anywhere, and nothing is returned.
    """
    held: list[bytes] = []
    held_bytes = 0
    try:
        for piece in steps:
            held.append(piece)
            held_bytes += len(piece)
            if held_bytes > HELD_BYTES_MAX:
                yield from held
                held.clear()
    except ContentCutError:
        yield from held
        raise
    except ZstdError as exc:
        if not _is_of_checksum(exc):
            yield from held
        raise
    yield from held


def _is_of_checksum(error: ZstdError) -> bool:
    """Recognize a wrong checksum by its message: zstd has no type for it."""
    return "checksum" in str(error)


def _steps(
    decompressor: ZstdDecompressor, file: BinaryIO, compressed: bytes
) -> Iterator[bytes]:
    """Decompress one zstd frame, a bounded piece at a time."""
    while True:
        piece = decompressor.decompress(compressed, _PIECE_BYTES)
        if piece:
            yield piece
        if decompressor.eof:
            return
        compressed = b""
        if decompressor.needs_input:
            compressed = file.read(_READ_BYTES)
            if not compressed:
                raise ContentCutError
