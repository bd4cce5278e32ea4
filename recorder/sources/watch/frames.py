"""Parsing one line of a watch stream, no further than needed.

A frame is decoded once, into its type and the untouched bytes of its object;
only the version and the UID of the object are read. The source does not
interpret the rest.
"""

import hashlib
from dataclasses import dataclass, replace

import msgspec

from recorder.sources.watch.splitter import Oversized

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that are not the expected JSON."""

_OBJECT_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame about an object, or a bookmark."""

    type: str
    object: bytes
    version: str
    uid: str
    namespace: str = ""
    name: str = ""
    late: bool = False
    """Whether more frames may have been written before it arrived."""

    recovered: bool = False
    """Whether it was read afterwards, at its version."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A frame of type ERROR."""

    code: int
    message: str
    line: bytes
    status: bytes
    """The Status object as received."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Input that could not be parsed."""

    reason: str
    head: bytes
    sha256: str
    length: int
    sought: Frame | None = None
    """The frame that it seems to be, if it can be requested again."""

    recalled: str | None = None
    """The version that was read in its place."""


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Metadata(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815 - the API's own name
    uid: str = ""
    namespace: str = ""
    name: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""


_LINE = msgspec.json.Decoder(_Line)
_OBJECT = msgspec.json.Decoder(_Object)
_STATUS = msgspec.json.Decoder(_Status)


def read_frame(
    line: bytes | Oversized, *, head_bytes: int
) -> Frame | Failed | Refused:
    """Parse a line; return a result for any input."""
    if isinstance(line, Oversized):
        return Refused(
            "frame exceeds its bound", line.head, line.sha256, line.length
        )
    try:
        # msgspec checks only the strings that it hands out.
        if not line.isascii():
            line.decode()
        read = _LINE.decode(line)
        if read.type in _OBJECT_TYPES:
            return _frame(read.type, bytes(read.object))
        if read.type == "ERROR":
            status = _STATUS.decode(read.object)
            return Failed(
                status.code, status.message, line, bytes(read.object)
            )
    except UNREADABLE as exc:
        reason = f"frame cannot be read: {exc}"
        refused = refuse(line, reason, head_bytes=head_bytes)
        return replace(refused, sought=_sought(line))
    reason = f'frame of unknown type "{read.type[:64]}"'
    return refuse(line, reason, head_bytes=head_bytes)


def read_object(type_: str, raw: bytes) -> Frame | None:
    """Return an object as a frame; None if it cannot be parsed."""
    try:
        raw.decode()
        return _frame(type_, raw)
    except UNREADABLE:
        return None


def _frame(type_: str, raw: bytes) -> Frame:
    metadata = _OBJECT.decode(raw).metadata
    return Frame(
        type_,
        raw,
        metadata.resourceVersion,
        metadata.uid,
        metadata.namespace,
        metadata.name,
    )


def _sought(line: bytes) -> Frame | None:
    """Return the identity of a frame whose bytes are not text, if readable."""
    try:
        read = _LINE.decode(line.decode(errors="replace"))
        if read.type in {"ADDED", "MODIFIED"}:
            found = _frame(read.type, bytes(read.object))
            return found if found.name and found.version else None
    except UNREADABLE:
        pass
    return None


def refuse(data: bytes, reason: str, *, head_bytes: int) -> Refused:
    """Describe bytes that could not be parsed."""
    return Refused(
        reason,
        data[:head_bytes],
        hashlib.sha256(data).hexdigest(),
        len(data),
    )
