"""Cutting a watch stream into frames, one line each, within a bound.

A line reader fails for good on a line beyond its buffer, and returns a
truncated last line as if it were complete. This one does neither: a line
beyond the bound is hashed, counted and dropped while the stream continues, and
a line without a line feed at the end of the stream is never returned.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Oversized:
    """A frame beyond the bound: its beginning, length and hash."""

    head: bytes
    sha256: str
    length: int


class Splitter:
    """Cuts bytes, fed in any portions, into complete lines."""

    def __init__(self, *, frame_bytes_max: int, head_bytes: int) -> None:
        self._max = frame_bytes_max
        self._head_bytes = head_bytes
        self._parts: list[bytes] = []
        self._held = 0
        # Set while a frame beyond the bound is being read.
        self._digest: hashlib._Hash | None = None
        self._head = b""

    @property
    def partial(self) -> int:
        """How many bytes of an unfinished frame were fed."""
        return self._held

    def feed(self, data: bytes) -> Iterator[bytes | Oversized]:
        """Yield every line that the data completes, without its line feed.

        Empty lines are skipped. Must be exhausted before the next call.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._hold(data[start:end])
            start = end + 1
            if (line := self._take()) is not None:
                yield line
        if start < len(data):
            self._hold(data[start:])

    def _hold(self, part: bytes) -> None:
        self._held += len(part)
        if self._digest is None and self._held <= self._max:
            self._parts.append(part)
            return
        if self._digest is None:
            kept = b"".join(self._parts)
            self._digest = hashlib.sha256(kept)
            self._head = (kept + part)[: self._head_bytes]
            self._parts.clear()
        self._digest.update(part)

    def _take(self) -> bytes | Oversized | None:
        line: bytes | Oversized | None
        if self._digest is not None:
            line = Oversized(self._head, self._digest.hexdigest(), self._held)
        else:
            line = b"".join(self._parts) or None
        self._parts.clear()
        self._held, self._digest, self._head = 0, None, b""
        return line
