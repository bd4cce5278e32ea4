"""Tapes as lines, to cut, join and change them.

The reader of the product gives observations, which cannot be edited without
naming every kind. Here a line stays what it is on the file: bytes where it is
kept as it was recorded, a JSON value (`Frame`) where it is changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from recorder.model.zstd import (
    CompressionParameter,
    ZstdCompressor,
    ZstdDecompressor,
)

__all__ = [
    "Frame",
    "Lines",
    "changed_objects",
    "is_bookmark",
    "objects_of",
    "raw_lines",
    "read_lines",
    "write_lines",
    "write_raw",
]

Frame = dict[str, Any]

LEVEL = 19
"""Tapes of the corpus are written once and kept for years."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A tape: its header and its frames, in order of arrival."""

    header: dict[str, Any]
    frames: list[Frame]


def raw_lines(path: Path) -> list[bytes]:
    """Read the lines of a complete tape, the header first."""
    return _content(path).splitlines()


def write_raw(path: Path, lines: Sequence[bytes]) -> None:
    """Write lines as a tape, compressed well unless it is a `.jsonl`."""
    content = b"".join(b"%b\n" % line for line in lines)
    if path.suffix == ".jsonl":
        path.write_bytes(content)
        return
    compressor = ZstdCompressor(
        options={
            CompressionParameter.compression_level: LEVEL,
            CompressionParameter.checksum_flag: 1,
        }
    )
    compressed = compressor.compress(content)
    path.write_bytes(compressed + compressor.flush(ZstdCompressor.FLUSH_FRAME))


def read_lines(path: Path) -> Lines:
    """Read a complete tape."""
    header, *frames = map(orjson.loads, raw_lines(path))
    return Lines(header, frames)


def write_lines(path: Path, tape: Lines) -> None:
    """Write a tape."""
    write_raw(path, [*map(orjson.dumps, [tape.header, *tape.frames])])


def objects_of(frame: Frame) -> list[dict[str, Any]]:
    """Return the objects in a frame, for reading or for changing them."""
    if frame["frame"] == "list":
        items: list[dict[str, Any]] = frame["items"]
        return items
    if frame["frame"] == "watch":
        return [frame["event"]["object"]]
    return []


def is_bookmark(frame: Frame) -> bool:
    """Whether a frame is a bookmark, which shows no object."""
    if frame["frame"] != "watch":
        return False
    kind: str = frame["event"]["type"]
    return kind == "BOOKMARK"


def changed_objects(
    frame: Frame, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> Frame:
    """Return a frame with its objects changed."""
    if frame["frame"] == "list":
        return frame | {"items": [change(item) for item in frame["items"]]}
    if frame["frame"] == "watch":
        changed = change(frame["event"]["object"])
        return frame | {"event": frame["event"] | {"object": changed}}
    return frame


def _content(path: Path) -> bytes:
    rest = path.read_bytes()
    if path.suffix == ".jsonl":
        return rest
    pieces = []
    while rest:
        decompressor = ZstdDecompressor()
        pieces.append(decompressor.decompress(rest))
        rest = decompressor.unused_data
    return b"".join(pieces)
