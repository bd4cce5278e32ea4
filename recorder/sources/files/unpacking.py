"""The contents of a file: unpacked, member by member, as UTF-8.

gzip, bzip2, xz, zstd, zip and tar are recognized by their first bytes, also
inside one another; UTF-16 and byte order marks by theirs. Everything is read
as a stream, so memory does not grow with the file; only a zip inside another
file is copied to disk, because its directory is at its end.
"""

import bz2
import codecs
import io
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

from recorder.model import zstd
from recorder.model.errors import InputError

DEPTH_MAX = 4
"""A log in a zip in a tar that is compressed."""

MEMBERS_MAX = 100_000
ZIP_BYTES_MAX = 4 << 30
"""Of a zip inside another file, which is copied to disk."""

UNPACKED_BYTES_MAX = 256 << 30
"""Of all that is in one file."""

RATIO_MAX = 500
"""Of a file that holds more than `SMALL_BYTES`, to what it is packed in: logs
and lists of objects reach a tenth of that."""

SMALL_BYTES = 256 << 20

BLOCK = 1 << 18
STEP = 1 << 16
"""Bytes of compressed data read, or decompressed, at once."""

LINK, DEVICE = "link", "special file"
"""What is skipped: links, and devices, pipes and sockets."""

PEEK = 512
TAR_MAGIC = slice(257, 262)

_DAMAGE = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, ValueError)
_MEMBER_DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError
)  # fmt: skip


class UnreadableError(InputError):
    """A file, or a member of one, has a format that cannot be read."""

    code = "input.unreadable"


class _Budget:
    """How much a file may hold, before it is a bomb."""

    def __init__(self, name: str, packed: int) -> None:
        self._name = name
        ratio = max(packed * RATIO_MAX, SMALL_BYTES)
        self._left = min(ratio, UNPACKED_BYTES_MAX)

    def pay(self, size: int) -> None:
        """Count bytes that were unpacked.

        Raises:
            UnreadableError: there are too many.
        """
        self._left -= size
        if self._left < 0:
            msg = (
                f"{self._name} holds more than {RATIO_MAX} times its size, or"
                f" than {UNPACKED_BYTES_MAX >> 30} GiB: unpack it first, if"
                " you trust it"
            )
            raise UnreadableError(msg)


class CutError(EOFError):
    """The data ends too early, or is damaged from here on."""


@dataclass(frozen=True, slots=True)
class Member:
    """One text file: the file itself, or one that is packed in it."""

    name: str
    """The path; after a colon, the name within."""

    read: Callable[[int], bytes]
    """Returns up to that many bytes, none at the end. Raises `CutError`."""

    is_alone: bool
    """Whether the file holds nothing else."""

    skipped: str = ""
    """What it is if it is no file, such as a link; it has no text then."""

    is_end: bool = False
    """Whether it is the end of an archive: no text, and perhaps damage."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gzip:
    """`zlib` with the interface of the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        pending = self._zlib.unconsumed_tail
        return self._zlib.decompress(pending + data, max_length)


_PACKED: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x28\xb5\x2f\xfd": zstd.ZstdDecompressor,
}
MAGIC_BYTES_MAX = max(map(len, _PACKED))
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


class _Stream:
    """One compressed stream, which fails after its data.

    A decompressor verifies a checksum in the call that returns the data before
    it, and a call that fails returns nothing. So a second one stays a portion
    of input behind. When the first fails, the second reads that portion byte
    by byte, and `rest` holds what it returns before it fails: everything
    except, for a bzip2 block with a wrong checksum, the last byte.
    """

    def __init__(self, make: Callable[[], _Decompressor]) -> None:
        self._first = make()
        self._second = make()
        self._portion = b""
        self._ahead = 0
        """Bytes that the first returned and the second did not."""

        self.rest = b""

    @property
    def eof(self) -> bool:
        return self._first.eof

    @property
    def needs_input(self) -> bool:
        return self._first.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._first.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        if data:
            self._follow()
            self._portion = data
        try:
            found = self._first.decompress(data, max_length)
        except _DAMAGE:
            self.rest = self._rest()
            raise
        self._ahead += len(found)
        return found

    def _follow(self) -> None:
        """Bring the second to the end of the portion."""
        data = self._portion
        while data or self._ahead > 0:
            most = min(max(self._ahead, 1), STEP)
            found = self._second.decompress(data, most)
            self._ahead -= len(found)
            data = b""

    def _rest(self) -> bytes:
        """Return what precedes the damage and was not returned yet."""
        rest = bytearray()
        try:
            for byte in self._portion:
                data = bytes((byte,))
                while found := self._second.decompress(
                    data, min(max(self._ahead, 1), STEP)
                ):
                    if self._ahead <= 0:
                        rest += found
                    self._ahead -= len(found)
                    data = b""
        except _DAMAGE:
            pass
        return bytes(rest)


class _Unpacked(io.RawIOBase):
    """The contents of a compressed file, as far as it can be read.

    Several compressed streams may follow one another; padding with zeros is
    skipped. Anything else after them is not read, and reported as cut.
    """

    def __init__(
        self,
        packed: IO[bytes],
        make: Callable[[], _Decompressor],
        budget: _Budget,
    ) -> None:
        super().__init__()
        self._budget = budget
        self._packed = packed
        self._make = make
        self._decompressor = _Stream(make)
        self._is_over = False
        self._damage: CutError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._is_over:
            found = self._step(len(buffer))
            if found:
                self._budget.pay(len(found))
                buffer[: len(found)] = found
                return len(found)
        return 0

    def _following(self, data: bytes) -> bytes:
        """Return the start of the next stream, after zeros, if any."""
        while len(data := data.lstrip(b"\0")) < MAGIC_BYTES_MAX:
            more = self._packed.read(BLOCK)
            if not more:
                break
            data += more
        if data and not data.startswith(tuple(_PACKED)):
            msg = "what follows the compressed data is not compressed"
            raise CutError(msg)
        return data

    def _step(self, most: int) -> bytes:
        now = self._decompressor
        data = b""
        if self._damage is not None:
            found, now.rest = now.rest[:most], now.rest[most:]
            if not found:
                raise self._damage
            return found
        if now.eof:
            data = self._following(now.unused_data)
            if not data:
                self._is_over = True
                return b""
            now = self._decompressor = _Stream(self._make)
        elif now.needs_input:
            data = self._packed.read(STEP)
            if not data:
                msg = "the compressed data ends too early"
                raise CutError(msg)
        try:
            return now.decompress(data, min(most, STEP))
        except _DAMAGE as exc:
            self._damage = CutError(f"the compressed data is damaged: {exc}")
            return b""


def members(path: Path) -> Iterator[Member]:
    """Yield the text files in a file, in their order.

    Each must be read before the next is requested.

    Raises:
        UnreadableError: its format cannot be read.
        CutError: an archive of several files ends too early.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        budget = _Budget(str(path), path.stat().st_size)
        yield from _members(file, str(path), 0, budget, is_alone=True)


def _members(
    file: IO[bytes], name: str, depth: int, budget: _Budget, *, is_alone: bool
) -> Iterator[Member]:
    stream = io.BufferedReader(_Raw(file), BLOCK)
    begins = _peek(stream)
    make = next(
        (m for magic, m in _PACKED.items() if begins.startswith(magic)), None
    )
    is_tar = begins[TAR_MAGIC] == b"ustar"
    is_zip = begins.startswith(_ZIP)
    if not (make or is_tar or is_zip):
        yield Member(name, _as_utf8(stream, begins), is_alone)
        return
    if depth == DEPTH_MAX:
        msg = f"{name} is packed more than {DEPTH_MAX} times; unpack it first"
        raise UnreadableError(msg)
    if make:
        unpacked = io.BufferedReader(_Unpacked(stream, make, budget), BLOCK)
        yield from _members(
            unpacked, name, depth + 1, budget, is_alone=is_alone
        )
        return
    packed = _of_tar if is_tar else partial(_of_zip, budget=budget)
    for count, (inner, content) in enumerate(packed(stream, file, name)):
        if count == MEMBERS_MAX:
            msg = f"{name} holds more than {MEMBERS_MAX:,} files"
            raise UnreadableError(msg)
        if isinstance(content, str):
            nothing = io.BytesIO().read
            yield Member(f"{name}:{inner}", nothing, False, content)  # noqa: FBT003
            continue
        yield from _members(
            content, f"{name}:{inner}", depth + 1, budget, is_alone=False
        )
    if is_tar:
        yield Member(name, _end_of(stream), is_alone=False, is_end=True)


def _end_of(stream: "io.BufferedReader[Any]") -> Callable[[int], bytes]:
    """Return a reader that finds damage behind a tar archive's last file."""

    def read(_: int) -> bytes:
        while stream.read1(BLOCK):
            pass
        return b""

    return read


class _Raw(io.RawIOBase):
    """A stream below a buffer; its errors come after what was read.

    Damage of a member is reported as often as it is read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._damage: CutError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._damage is not None:
            raise self._damage
        once = getattr(self._file, "read1", self._file.read)
        try:
            found = once(len(buffer))
        except CutError:
            raise
        except (*_MEMBER_DAMAGE, OSError) as exc:
            # That of bzip2's data has no number; a disk's has one.
            if isinstance(exc, OSError) and exc.errno is not None:
                raise
            why = str(exc) or "it ends too early"
            self._damage = CutError(f"the archive is damaged: {why}")
            raise self._damage from exc
        buffer[: len(found)] = found
        return len(found)


def _peek(stream: "io.BufferedReader[Any]") -> bytes:
    try:
        return stream.peek(PEEK)
    except CutError:
        return b""


def _of_tar(
    stream: IO[bytes], _: IO[bytes], name: str
) -> Iterator[tuple[str, IO[bytes] | str]]:
    """Yield the members of an archive: the content, or what is no file."""
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for one in archive:
                content = archive.extractfile(one) if one.isfile() else None
                if content is not None:
                    yield one.name, content
                elif not one.isdir():
                    is_link = one.issym() or one.islnk()
                    yield one.name, LINK if is_link else DEVICE
    except tarfile.TarError as exc:
        msg = f"{name} is a tar archive that ends too early: {exc}"
        raise CutError(msg) from exc


def _of_zip(
    stream: IO[bytes], file: IO[bytes], name: str, *, budget: _Budget
) -> Iterator[tuple[str, IO[bytes] | str]]:
    try:
        with (
            tempfile.SpooledTemporaryFile(BLOCK) as copy,
            zipfile.ZipFile(_seekable(stream, file, copy, name)) as archive,
        ):
            for one in archive.infolist():
                if stat.S_ISLNK(one.external_attr >> 16):
                    yield one.filename, LINK
                elif not one.is_dir():
                    # It reads no more than its directory states.
                    budget.pay(one.file_size)
                    with archive.open(one) as content:
                        yield one.filename, content
    except (
        zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError,
        OSError,
    ) as exc:  # fmt: skip
        # Truncated, of another compression, encrypted, or with a directory
        # that names places outside of it.
        msg = (
            f"{name} is a zip archive that cannot be read: {exc}; copy it"
            " again, or unpack it first"
        )
        raise UnreadableError(msg) from exc


def _seekable(
    stream: IO[bytes], file: IO[bytes], copy: IO[bytes], name: str
) -> IO[bytes]:
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO):
        return file
    size = 0
    while block := stream.read(BLOCK):
        size += len(block)
        if size > ZIP_BYTES_MAX:
            msg = f"{name} holds more than {ZIP_BYTES_MAX >> 30} GiB"
            raise UnreadableError(msg)
        copy.write(block)
    copy.seek(0)
    return copy


def _as_utf8(
    stream: "io.BufferedReader[Any]", begins: bytes
) -> Callable[[int], bytes]:
    """Return a reader of a text as UTF-8, without a byte order mark."""
    encoding = _utf16(begins)
    if encoding is None:
        if begins.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        return stream.read1
    if begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        stream.read(len(codecs.BOM_UTF16_LE))
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    block = stream.read1

    def read(size: int) -> bytes:
        while raw := block(size):
            if text := decoder.decode(raw):
                return text.encode()
        return decoder.decode(b"", final=True).encode()

    return read


def _utf16(begins: bytes) -> str | None:
    if begins.startswith(codecs.BOM_UTF16_LE) or begins[:2] in {
        b"{\0",
        b"[\0",
    }:
        return "utf-16-le"
    if begins.startswith(codecs.BOM_UTF16_BE) or begins[:2] in {
        b"\0{",
        b"\0[",
    }:
        return "utf-16-be"
    return None
